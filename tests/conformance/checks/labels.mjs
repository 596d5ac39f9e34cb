// Labels of a repository and of an issue.
import { repository } from "../lib/seed.mjs";

export async function labels(session, report) {
  const { at } = await repository(session, "labels");
  const wil = session.as("wil");
  const all = `${at}/labels`;
  await wil.post(all, { name: "code", color: "f29513", description: "Work for Hob" });
  await wil.post(all, { name: "needs a person", color: "ededed" });
  await wil.post(all, { name: "Code" }, { status: 422, errors: [["Label", "name", "already_exists"]] });
  await wil.post(all, { color: "ffffff" }, { status: 422, errors: [["Label", "name", "missing_field"]] });
  await wil.post(all, { name: "x", color: "#ffffff" }, { status: 422, errors: [["Label", "color", "invalid"]] });
  await wil.post(all, { name: "x".repeat(51) }, { status: 422, errors: [["Label", "name", "custom"]] });
  await wil.get(all);
  await wil.get(`${all}/needs%20a%20person`);
  await wil.get(`${all}/CODE`);
  await wil.get(`${all}/none`, { status: 404 });
  const renamed = await wil.patch(`${all}/needs%20a%20person`, { new_name: "blocked", color: "b60205", description: "A person is needed" });
  report.same("the renamed label", [renamed.body.name, renamed.body.color], ["blocked", "b60205"]);
  await wil.patch(`${all}/blocked`, { new_name: "code" }, { status: 422, errors: [["Label", "name", "already_exists"]] });
  await wil.patch(`${all}/none`, { color: "ffffff" }, { status: 404 });

  const issue = (await wil.post(`${at}/issues`, { title: "Label me" }, { anyone: true })).body;
  const own = `${at}/issues/${issue.number}/labels`;
  const named = (answer) => answer.body.map((label) => label.name).sort();
  report.same("added labels", named(await wil.post(own, { labels: ["code", "blocked"] }, { status: 200 })), ["blocked", "code"]);
  // The documentation allows a bare list, the description does not have it.
  report.same("a bare list is taken too", named(await session.send("wil", "POST", own, ["fresh"])), ["blocked", "code", "fresh"]);
  await wil.get(own);
  report.same("a new name became a label", (await wil.get(`${all}/fresh`)).body.color, "ededed");
  report.same("the labels left", named(await wil.delete(`${own}/fresh`, undefined, { status: 200 })), ["blocked", "code"]);
  await wil.delete(`${own}/fresh`, undefined, { status: 404, message: /^Label does not exist$/ });
  report.same("set labels", named(await wil.put(own, { labels: ["code"] })), ["code"]);
  report.same("a triager may label", named(await session.as("tom").post(own, { labels: ["blocked"] }, { status: 200 })), ["blocked", "code"]);
  await wil.delete(own);
  report.same("no labels are left", (await wil.get(own)).body, []);
  for (const method of ["post", "put"]) await wil[method](`${at}/issues/999/labels`, { labels: ["code"] }, { status: 404 });
  await wil.delete(`${all}/blocked`);
  await wil.delete(`${all}/blocked`, undefined, { status: 404 });
}
