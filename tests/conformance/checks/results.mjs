// What was found out about a commit: statuses and check runs.
import { pull, repository } from "../lib/seed.mjs";

export async function results(session, report) {
  const { at, head } = await repository(session, "results");
  const wil = session.as("wil");
  const set = (state, context, more) => wil.post(`${at}/statuses/${head}`, { state, context, ...more });
  const combined = async () => (await wil.get(`${at}/commits/main/status`)).body.state;
  report.same("nothing known", await combined(), "pending");
  await set("pending", "build", { description: "Wait.", target_url: "https://ci.example.com/1" });
  report.same("one to wait for", await combined(), "pending");
  await set("success", "build");
  report.same("all well", await combined(), "success");
  await set("failure", "test");
  report.same("one failed", await combined(), "failure");
  await wil.get(`${at}/commits/${head}/statuses`);
  await wil.post(`${at}/statuses/${head}`, { state: "fine" }, { status: 422, errors: [["Status", "state", "invalid"]] });
  await wil.post(`${at}/statuses/${"0".repeat(40)}`, { state: "success" }, { status: 422 });

  const made = await pull(session, at, "one", head);
  const runs = `${at}/check-runs`;
  // People cannot write them; the account of an App can.
  const ci = session.as("hob[bot]");
  await wil.post(runs, { name: "lint", head_sha: made.head.sha }, { status: 403, message: /^You must authenticate via a GitHub App\.$/ });
  const unlisted = { refused: { rea: /^You must authenticate via a GitHub App\.$/ } };
  const run = (await ci.post(runs, { name: "lint", head_sha: made.head.sha }, unlisted)).body;
  report.same("a run waits", [run.status, run.conclusion, run.pull_requests[0].number], ["queued", null, made.number]);
  const output = { title: "Fine", summary: "Nothing found.", text: "At all." };
  const done = (await ci.patch(`${runs}/${run.id}`, { conclusion: "success", completed_at: "2026-01-02T03:04:05Z", output }, unlisted)).body;
  report.same("a run is done", [done.status, done.conclusion, done.output.title], ["completed", "success", "Fine"]);
  await wil.get(`${runs}/${run.id}`);
  await wil.get(`${runs}/1`, { status: 404 });
  const annotations = [1, 2].map((line) => ({ path: "one.txt", start_line: line, end_line: line, annotation_level: "warning", message: "Hm." }));
  await ci.patch(`${runs}/${run.id}`, { output: { ...output, annotations } }, unlisted);
  report.same("annotations", (await wil.get(`${runs}/${run.id}/annotations`)).body.map((one) => one.start_line), [1, 2]);
  await ci.post(`${runs}/${run.id}/rerequest`, undefined, unlisted);
  report.same("its suite waits", (await wil.get(`${at}/commits/one/check-suites?check_name=lint`)).body.check_suites[0].status, "queued");
  await ci.patch(`${runs}/${run.id}`, { conclusion: "success" }, unlisted);
  await ci.post(runs, { name: "test", head_sha: made.head.sha, status: "in_progress", details_url: "https://ci.example.com/2" });
  await ci.post(runs, { name: "x", head_sha: made.head.sha, status: "completed" }, { status: 422 });
  await ci.post(runs, { name: "x", head_sha: "0".repeat(40) }, { status: 422 });
  const listed = (await wil.get(`${at}/commits/one/check-runs`)).body;
  report.same("the runs of a commit", [listed.total_count, listed.check_runs.length], [2, 2]);
  const named = (await wil.get(`${at}/commits/one/check-runs?check_name=lint&status=completed&filter=all`)).body;
  report.same("the runs of a name", named.check_runs.map((each) => each.id), [run.id]);
}
