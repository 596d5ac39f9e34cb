// Pull requests: opened, listed, changed, merged.
import { branch, pull, repository } from "../lib/seed.mjs";
import { timeline } from "./issues.mjs";

export async function pulls(session, report) {
  const { at, head } = await repository(session, "pulls");
  const wil = session.as("wil");
  const all = `${at}/pulls`;
  await wil.post(`${at}/issues`, { title: "Fix me" }, { anyone: true });
  const first = await pull(session, at, "one", head, { body: "Fixes #1" });
  report.same("how it stands", [first.state, first.merged, first.head.ref, first.base.ref], ["open", false, "one", "main"]);
  const another = (status, errors, body) => wil.post(all, { title: "x", head: "one", base: "main", ...body }, { status, errors });
  await another(422, [["PullRequest", "head", "custom"]], {});
  await another(422, [["PullRequest", "head", "invalid"]], { head: "none" });
  await another(422, [["PullRequest", "base", "invalid"]], { base: "none" });
  await another(422, [["PullRequest", "head", "custom"]], { head: "main" });
  await another(422, [["PullRequest", "title", "missing_field"]], { title: undefined });
  const second = await pull(session, at, "two", head, { draft: true });
  const numbers = async (query) => (await wil.get(`${all}${query}`)).body.map((each) => each.number);
  report.same("open ones, newest first", await numbers(""), [second.number, first.number]);
  report.same("by head", await numbers("?head=ada:one"), [first.number]);
  report.same("by base", await numbers("?base=other"), []);
  report.same("oldest first", await numbers("?sort=created&direction=asc&state=all"), [first.number, second.number]);
  const one = `${all}/${first.number}`;
  report.same("it can be merged", (await wil.get(one)).body.mergeable, true);
  await wil.get(`${all}/1`, { status: 404, message: /^Not Found$/ });
  const diff = await wil.get(one, { headers: { accept: "application/vnd.github.diff" } });
  report.check("its diff", /^\+one/m.test(diff.text) ? "" : `is ${diff.text}`);
  report.same("it is an issue too", (await wil.get(`${at}/issues/${first.number}`)).body.pull_request.url, first.url);
  report.same("its files", (await wil.get(`${one}/files`)).body.map((file) => file.filename), ["one.txt"]);
  report.same("its commits", (await wil.get(`${one}/commits`)).body.map((commit) => commit.commit.message), ["Add one.txt"]);

  await wil.patch(one, { title: "Add one, really", body: "Fixes #1." });
  await wil.patch(one, { base: "none" }, { status: 422, errors: [["PullRequest", "base", "invalid"]] });
  report.same("closed", (await wil.patch(one, { state: "closed" })).body.state, "closed");
  report.same("open again", (await wil.patch(one, { state: "open" })).body.state, "open");
  await merges(session, report, at, first, second);
  await bigger(session, report, at);
}

async function merges(session, report, at, first, second) {
  const wil = session.as("wil");
  const at1 = `${at}/pulls/${first.number}/merge`;
  await wil.get(at1, { status: 404 });
  await wil.put(at1, { sha: "0".repeat(40) }, { status: 409, message: /^Head branch was modified/ });
  await wil.put(`${at}/pulls/${second.number}/merge`, {}, { status: 405, message: /draft/ });
  await wil.put(at1, { merge_method: "octopus" }, { status: 422 });
  const merged = (await wil.put(at1, { sha: first.head.sha, merge_method: "squash", commit_title: "Add one" })).body;
  report.same("merged", merged.merged, true);
  await wil.get(at1, { status: 204 });
  await wil.put(at1, {}, { status: 405, message: /^Pull Request is not mergeable$/ });
  const of = async (sha) => (await wil.get(`${at}/commits/${sha}/pulls`)).body.map((each) => each.number);
  report.same("whose commit it is", [await of(merged.sha), await of("main"), await of(second.head.sha)], [[first.number], [first.number], [second.number]]);
  report.same("a commit of no pull request", await of(first.base.sha), []);
  report.same("no commit has no pull requests", (await session.send("wil", "GET", `${at}/commits/${"0".repeat(40)}/pulls`)).status, 422);
  const seen = (await wil.get(`${at}/pulls/${first.number}`)).body;
  report.same("how it is now", [seen.state, seen.merged, seen.merged_by.login, seen.merge_commit_sha], ["closed", true, "wil", merged.sha]);
  report.same("the issue it fixes is closed", (await wil.get(`${at}/issues/1`)).body.state, "closed");
  await timeline(session, report, `${at}/issues/${first.number}/timeline`);
  await wil.patch(`${at}/pulls/${first.number}`, { state: "open" }, { status: 422 });
  const conflict = await pull(session, at, "clash", first.base.sha, { path: "one.txt", content: "Other\n" });
  report.same("a conflict", (await wil.get(`${at}/pulls/${conflict.number}`)).body.mergeable_state, "dirty");
  await wil.put(`${at}/pulls/${conflict.number}/merge`, {}, { status: 405 });
}

/** One with two commits and two files, whose lists have pages. */
async function bigger(session, report, at) {
  const wil = session.as("wil");
  const main = (await wil.get(`${at}/git/ref/heads/main`)).body.object.sha;
  const tip = await branch(session, at, "big", main, "a.txt");
  await branch(session, at, "bigger", tip, "b.txt");
  const made = (await wil.post(`${at}/pulls`, { title: "Both", head: "bigger", base: "main" })).body;
  await wil.get(`${at}/pulls/${made.number}/files`);
  await wil.get(`${at}/pulls/${made.number}/commits`);
  const also = (await wil.post(`${at}/pulls`, { title: "Both again", head: "bigger", base: "big" })).body;
  const tops = (await wil.get(`${at}/commits/bigger/pulls`)).body.map((each) => each.number);
  report.same("two that have a commit", tops, [made.number, also.number]);
  for (const method of ["rebase", "merge"]) {
    const other = method === "rebase" ? made : await pull(session, at, "last", main);
    const merged = (await wil.put(`${at}/pulls/${other.number}/merge`, { merge_method: method })).body;
    report.same(`merged by ${method}`, merged.merged, true);
  }
}
