// GitHub's own client for JavaScript, which knows nothing of Hob, through a whole piece of work.
import { Octokit } from "@octokit/rest";
import { USERS } from "../lib/forge.mjs";
import { repository } from "../lib/seed.mjs";

export async function octokit(session, report) {
  await repository(session, "work");
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const { rest, paginate } = new Octokit({ auth: USERS.wil.token, baseUrl: session.forge.apiUrl, log: quiet });
  const repo = { owner: "ada", repo: "work" };
  const status = (promise) => promise.then((answer) => answer.status, (error) => error.status);

  const issue = (await rest.issues.create({ ...repo, title: "Greet", body: "Say hello.", labels: ["code"] })).data;
  report.same("octokit: an issue", [issue.number, issue.labels[0].name], [1, "code"]);
  const own = { ...repo, issue_number: issue.number };
  await rest.issues.addLabels({ ...own, labels: ["assigned"] });
  await rest.issues.removeLabel({ ...own, name: "assigned" });
  report.same("octokit: its labels", (await rest.issues.listLabelsOnIssue(own)).data.map((label) => label.name), ["code"]);
  await rest.issues.createComment({ ...own, body: "On it." });
  report.same("octokit: no such issue", await status(rest.issues.get({ ...repo, issue_number: 99 })), 404);

  const main = (await rest.git.getRef({ ...repo, ref: "heads/main" })).data.object.sha;
  const lock = { ...repo, ref: "hob/issues/1" };
  await rest.git.createRef({ ...repo, ref: "refs/hob/issues/1", sha: main });
  report.same("octokit: a second claim", await status(rest.git.createRef({ ...repo, ref: "refs/hob/issues/1", sha: main })), 422);
  const tree = (await rest.git.createTree({
    ...repo, base_tree: main, tree: [{ path: "hello.txt", mode: "100644", type: "blob", content: "Hello\n" }],
  })).data.sha;
  const commit = (await rest.git.createCommit({ ...repo, message: "Say hello", tree, parents: [main] })).data.sha;
  const aside = (await rest.git.createCommit({ ...repo, message: "Aside", tree, parents: [] })).data.sha;
  report.same("octokit: forwards", (await rest.git.updateRef({ ...lock, sha: commit, force: false })).data.object.sha, commit);
  report.same("octokit: aside", await status(rest.git.updateRef({ ...lock, sha: aside, force: false })), 422);
  report.same("octokit: refs that begin so", (await rest.git.listMatchingRefs({ ...repo, ref: "hob/" })).data.length, 1);
  await rest.git.createRef({ ...repo, ref: "refs/heads/hob/1-greet", sha: commit });

  const pull = (await rest.pulls.create({ ...repo, title: "Say hello", head: "hob/1-greet", base: "main", body: "Fixes #1" })).data;
  const one = { ...repo, pull_number: pull.number };
  const reviewer = new Octokit({ auth: USERS.max.token, baseUrl: session.forge.apiUrl, log: quiet });
  await reviewer.rest.pulls.createReview({ ...one, event: "APPROVE", body: "Good." });
  await rest.repos.createCommitStatus({ ...repo, sha: commit, state: "success", context: "test" });
  report.same("octokit: its diff", (await rest.pulls.get({ ...one, mediaType: { format: "diff" } })).data.includes("+Hello"), true);
  report.same("octokit: its files", (await rest.pulls.listFiles(one)).data.map((file) => file.filename), ["hello.txt"]);
  const compared = (await rest.repos.compareCommitsWithBasehead({ ...repo, basehead: "main...hob/1-greet" })).data;
  report.same("octokit: how far ahead", compared.ahead_by, 1);
  report.same("octokit: not merged yet", await status(rest.pulls.checkIfMerged(one)), 404);
  report.same("octokit: merged", (await rest.pulls.merge({ ...one, merge_method: "squash" })).data.merged, true);
  report.same("octokit: merged already", await status(rest.pulls.checkIfMerged(one)), 204);
  report.same("octokit: the issue is closed", (await rest.issues.get(own)).data.state, "closed");
  const file = (await rest.repos.getContent({ ...repo, path: "hello.txt" })).data;
  report.same("octokit: the file is there", Buffer.from(file.content, "base64").toString(), "Hello\n");

  for (let number = 0; number < 7; number += 1) await rest.issues.createComment({ ...own, body: `Word ${number}` });
  const all = await paginate(rest.issues.listComments, { ...own, per_page: 3 });
  report.same("octokit: all pages", all.map((comment) => comment.body), ["On it.", ...Array.from({ length: 7 }, (_, number) => `Word ${number}`)]);
  let pages = 0;
  for await (const page of paginate.iterator(rest.issues.listComments, { ...own, per_page: 3 })) pages += page.data.length > 0;
  report.same("octokit: page by page", pages, 3);
  const etag = (await rest.issues.get(own)).headers.etag;
  report.same("octokit: nothing new", await status(rest.issues.get({ ...own, headers: { "if-none-match": etag } })), 304);
}
