// Issues that wait for others, and issues that are part of others.
import { repository } from "../lib/seed.mjs";

export async function relations(session, report) {
  const { at } = await repository(session, "relations");
  const wil = session.as("wil");
  const made = [];
  for (const title of ["Whole", "Part", "Other part"]) {
    made.push((await wil.post(`${at}/issues`, { title }, { anyone: true })).body);
  }
  const [whole, part, other] = made;
  const own = `${at}/issues/${whole.number}`;
  const titles = async (path) => (await wil.get(path)).body.map((issue) => issue.title);

  await wil.post(`${own}/dependencies/blocked_by`, { issue_id: part.id });
  await wil.post(`${own}/dependencies/blocked_by`, { issue_id: other.id });
  await wil.post(`${own}/dependencies/blocked_by`, { issue_id: part.id }, { status: 422 });
  await wil.post(`${own}/dependencies/blocked_by`, { issue_id: whole.id }, { status: 422 });
  await wil.post(`${own}/dependencies/blocked_by`, { issue_id: 1 }, { status: 404 });
  report.same("what blocks it", await titles(`${own}/dependencies/blocked_by`), ["Part", "Other part"]);
  await wil.post(`${at}/issues/${other.number}/dependencies/blocked_by`, { issue_id: part.id });
  await wil.get(`${at}/issues/${part.number}/dependencies/blocking`);
  report.same("its summary", (await wil.get(own)).body.issue_dependencies_summary, {
    blocked_by: 2, total_blocked_by: 2, blocking: 0, total_blocking: 0,
  });
  await wil.delete(`${own}/dependencies/blocked_by/${part.id}`, undefined, { status: 200 });
  await wil.delete(`${own}/dependencies/blocked_by/${part.id}`, undefined, { status: 404 });
  await wil.get(`${at}/issues/999/dependencies/blocked_by`, { status: 404 });
  await wil.get(`${at}/issues/999/dependencies/blocking`, { status: 404 });

  await wil.post(`${own}/sub_issues`, { sub_issue_id: part.id });
  await wil.post(`${own}/sub_issues`, { sub_issue_id: other.id });
  await wil.post(`${at}/issues/${other.number}/sub_issues`, { sub_issue_id: part.id }, { status: 422 });
  await wil.post(`${own}/sub_issues`, { sub_issue_id: 1 }, { status: 404 });
  report.same("its parts", await titles(`${own}/sub_issues`), ["Part", "Other part"]);
  report.same("what it is part of", (await wil.get(`${at}/issues/${part.number}/parent`)).body.number, whole.number);
  await wil.get(`${own}/parent`, { status: 404 });
  await wil.delete(`${own}/sub_issue`, { sub_issue_id: part.id }, { status: 200 });
  await wil.delete(`${own}/sub_issue`, { sub_issue_id: part.id }, { status: 404 });
}
