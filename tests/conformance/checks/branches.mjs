// Branches, commits, and two of them against each other.
import { branch, repository } from "../lib/seed.mjs";

export async function branches(session, report) {
  const { at, head } = await repository(session, "branches");
  const wil = session.as("wil");
  const tip = await branch(session, at, "topic/one", head, "one.txt");
  await branch(session, at, "two", head, "two.txt");
  const named = (answer) => answer.body.map((each) => each.name);
  report.same("the branches", named(await wil.get(`${at}/branches`)), ["main", "topic/one", "two"]);
  report.same("none is protected", named(await wil.get(`${at}/branches?protected=true`)), []);
  report.same("a branch with a slash", (await wil.get(`${at}/branches/topic/one`)).body.commit.sha, tip);
  await wil.get(`${at}/branches/none`, { status: 404, message: /^Branch not found$/ });

  const shas = async (query) => (await wil.get(`${at}/commits${query}`)).body.map((commit) => commit.sha);
  report.same("the default branch's commits", await shas(""), [head]);
  report.same("a branch's commits", await shas("?sha=topic/one"), [tip, head]);
  await branch(session, at, "three", tip, "three.txt");
  await wil.get(`${at}/commits?sha=three`);
  await wil.get(`${at}/commits?sha=none`, { status: 404 });
  const commit = (await wil.get(`${at}/commits/${tip}`)).body;
  report.same("what it changed", [commit.stats, commit.files[0].filename, commit.files[0].status], [
    { additions: 1, deletions: 0, total: 1 }, "one.txt", "added",
  ]);
  report.same("a name for a commit", (await wil.get(`${at}/commits/two`)).body.parents[0].sha, head);
  await wil.get(`${at}/commits/none`, { status: 422, message: /^No commit found for SHA: none$/ });

  const ahead = (await wil.get(`${at}/compare/main...topic/one`)).body;
  report.same("ahead", [ahead.status, ahead.ahead_by, ahead.behind_by, ahead.total_commits], ["ahead", 1, 0, 1]);
  report.same("diverged", (await wil.get(`${at}/compare/two...topic/one`)).body.status, "diverged");
  report.same("identical", (await wil.get(`${at}/compare/main...main`)).body.status, "identical");
  report.same("behind", (await wil.get(`${at}/compare/two...main`)).body.status, "behind");
  report.same("by path", await shas("?path=one.txt&sha=topic/one"), [tip]);
  report.same("by author", await shas("?author=wil&sha=topic/one"), [tip]);
  await wil.get(`${at}/commits?since=yesterday`, { status: 422 });
  await wil.get(`${at}/compare/main...none`, { status: 404 });
  const diff = await wil.get(`${at}/compare/main...two`, { headers: { accept: "application/vnd.github.diff" } });
  const lock = (version) => JSON.stringify({ packages: { "node_modules/left": { version } } });
  const before = await branch(session, at, "lock", head, "package-lock.json", lock("1.0.0"));
  await branch(session, at, "newer", before, "package-lock.json", lock("1.1.0"));
  const packages = (await wil.get(`${at}/dependency-graph/compare/lock...newer`)).body;
  report.same("packages", packages.map((one) => [one.change_type, one.name, one.version]), [["removed", "left", "1.0.0"], ["added", "left", "1.1.0"]]);
  report.same("no packages", (await wil.get(`${at}/dependency-graph/compare/main...two`)).body, []);
  await wil.get(`${at}/dependency-graph/compare/main...none`, { status: 404 });
  report.check("the diff", /^\+two/m.test(diff.text) ? "" : `is ${diff.text}`);
}
