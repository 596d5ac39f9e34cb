// Octokit takes an issue to a merged pull request: `node octokit.mjs API-URL TOKEN REVIEWERS-TOKEN`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Octokit } from "@octokit/rest";

const OPERATIONS = 40;
const [baseUrl, token, reviewers] = process.argv.slice(2);
const entry = createRequire(import.meta.url).resolve("@octokit/rest").split("/dist")[0].split("/lib")[0];
const client = `octokit ${JSON.parse(readFileSync(`${entry}/package.json`)).version}`;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const sign = (auth) => new Octokit({ auth, baseUrl, log: quiet });
const octokit = sign(token);
const { rest, paginate } = octokit;
const repo = { owner: "ada", repo: "octokit" };
const one = { ...repo, issue_number: 1 };
const names = new Set();
const made = {};
let failed = 0;

/** An operation; what goes wrong in it fails it alone. */
async function op(name, action) {
  names.add(name);
  try {
    await action();
  } catch (error) {
    failed += 1;
    console.log(`failed: ${client}: ${name}: ${`${error}`.replace(/\s+/g, " ").slice(0, 300)}`);
  }
}

const same = assert.deepEqual;

await op("the account that is signed in", async () => same((await rest.users.getAuthenticated()).data.login, "ada"));
await op("create a repository", async () => {
  const body = { name: "octokit", description: "A site", auto_init: true };
  same((await rest.repos.createForAuthenticatedUser(body)).data.full_name, "ada/octokit");
});
await op("read a repository", async () => same((await rest.repos.get(repo)).data.default_branch, "main"));
await op("the rate limit", async () => same((await rest.rateLimit.get()).data.resources.core.limit, 5000));
await op("create a label", async () => {
  same((await rest.issues.createLabel({ ...repo, name: "code", color: "00ff00" })).data.color, "00ff00");
});
await op("change a label", async () => {
  same((await rest.issues.updateLabel({ ...repo, name: "code", color: "0000ff" })).data.color, "0000ff");
});
await op("list the labels", async () => {
  same((await rest.issues.listLabelsForRepo(repo)).data.map((label) => label.name), ["code"]);
});
await op("create an issue", async () => {
  const body = { title: "Greet", body: "Say hello.", labels: ["code"] };
  same((await rest.issues.create({ ...repo, ...body })).data.number, 1);
});
await op("read an issue", async () => same((await rest.issues.get(one)).data.user.login, "ada"));
await op("change an issue", async () => {
  same((await rest.issues.update({ ...one, title: "Greet all" })).data.title, "Greet all");
});
await op("list the issues with a label", async () => {
  same((await rest.issues.listForRepo({ ...repo, labels: "code" })).data.map((issue) => issue.number), [1]);
});
await op("put a label on", async () => same((await rest.issues.addLabels({ ...one, labels: ["soon"] })).data.length, 2));
await op("take a label off", async () => same((await rest.issues.removeLabel({ ...one, name: "soon" })).data.length, 1));
await op("list the labels of an issue", async () => {
  same((await rest.issues.listLabelsOnIssue(one)).data.map((label) => label.name), ["code"]);
});
await op("assign", async () => {
  same((await rest.issues.addAssignees({ ...one, assignees: ["wil"] })).data.assignees[0].login, "wil");
});
await op("unassign", async () => {
  same((await rest.issues.removeAssignees({ ...one, assignees: ["wil"] })).data.assignees, []);
});
await op("comment", async () => {
  made.comment = (await rest.issues.createComment({ ...one, body: "On it." })).data.id;
});
await op("change a comment", async () => {
  same((await rest.issues.updateComment({ ...repo, comment_id: made.comment, body: "Done." })).data.body, "Done.");
});
await op("all pages of a list", async () => {
  for (let number = 0; number < 5; number += 1) await rest.issues.createComment({ ...one, body: `Word ${number}` });
  same((await paginate(rest.issues.listComments, { ...one, per_page: 2 })).length, 6);
});
await op("react to an issue", async () => {
  same((await rest.reactions.createForIssue({ ...one, content: "heart" })).status, 201);
});
await op("react to a comment", async () => {
  const body = { ...repo, comment_id: made.comment, content: "rocket" };
  same((await rest.reactions.createForIssueComment(body)).data.content, "rocket");
});
await op("the events of an issue", async () => {
  same((await rest.issues.listEvents(one)).data.slice(0, 2).map((event) => event.event), ["labeled", "renamed"]);
});
await op("the timeline of an issue", async () => {
  assert((await rest.issues.listEventsForTimeline(one)).data.some((event) => event.event === "commented"));
});
await op("lock and unlock an issue", async () => {
  same((await rest.issues.lock({ ...one, lock_reason: "resolved" })).status, 204);
  same((await rest.issues.unlock(one)).status, 204);
});
await op("close an issue for a reason", async () => {
  const closed = await rest.issues.update({ ...one, state: "closed", state_reason: "not_planned" });
  same(closed.data.state_reason, "not_planned");
});
await op("reopen an issue", async () => same((await rest.issues.update({ ...one, state: "open" })).data.state, "open"));
await op("read a file", async () => {
  const file = (await rest.repos.getContent({ ...repo, path: "README.md" })).data;
  same(Buffer.from(file.content, "base64").toString(), "# octokit\n");
});
await op("create a tree", async () => {
  made.head = (await rest.git.getRef({ ...repo, ref: "heads/main" })).data.object.sha;
  const tree = [{ path: "hello.txt", mode: "100644", type: "blob", content: "Hello\n" }];
  made.tree = (await rest.git.createTree({ ...repo, base_tree: made.head, tree })).data.sha;
});
await op("create a commit", async () => {
  const body = { message: "Say hello", tree: made.tree, parents: [made.head] };
  made.commit = (await rest.git.createCommit({ ...repo, ...body })).data.sha;
});
await op("create a branch", async () => {
  await rest.git.createRef({ ...repo, ref: "refs/heads/work", sha: made.commit });
  same((await rest.repos.listBranches(repo)).data.map((branch) => branch.name).sort(), ["main", "work"]);
});
await op("compare two branches", async () => {
  same((await rest.repos.compareCommitsWithBasehead({ ...repo, basehead: "main...work" })).data.ahead_by, 1);
});
await op("set a commit's status", async () => {
  await rest.repos.createCommitStatus({ ...repo, sha: made.commit, state: "success", context: "test" });
  same((await rest.repos.getCombinedStatusForRef({ ...repo, ref: made.commit })).data.state, "success");
});
const pull = { ...repo, pull_number: 2 };
await op("create a pull request", async () => {
  const body = { title: "Say hello", head: "work", base: "main", body: "Fixes #1" };
  same((await rest.pulls.create({ ...repo, ...body })).data.number, 2);
});
await op("the files of a pull request", async () => {
  same((await rest.pulls.listFiles(pull)).data.map((file) => file.filename), ["hello.txt"]);
});
await op("the diff of a pull request", async () => {
  assert((await rest.pulls.get({ ...pull, mediaType: { format: "diff" } })).data.includes("+Hello"));
});
await op("approve a pull request", async () => {
  same((await sign(reviewers).rest.pulls.createReview({ ...pull, event: "APPROVE" })).data.state, "APPROVED");
});
await op("several mutations of GraphQL in one request", async () => {
  const { repository } = await octokit.graphql('{ repository(owner: "ada", name: "octokit") { issue(number: 1) { id } } }');
  const query = `mutation($id: ID!) {
    say: addComment(input: {subjectId: $id, body: "Both."}) { commentEdge { node { body } } }
    close: closeIssue(input: {issueId: $id}) { issue { state } }
    open: reopenIssue(input: {issueId: $id}) { issue { state } } }`;
  const answer = await octokit.graphql(query, { id: repository.issue.id });
  same([answer.say.commentEdge.node.body, answer.close.issue.state, answer.open.issue.state], ["Both.", "CLOSED", "OPEN"]);
});
await op("a query of GraphQL that is refused by name", async () => {
  await assert.rejects(octokit.graphql("{ viewer { gists(first: 1) { totalCount } } }"), /Field 'gists' doesn't exist on type 'User'/);
});
await op("merge a pull request", async () => {
  same((await rest.pulls.merge({ ...pull, merge_method: "squash" })).data.merged, true);
  same((await rest.issues.get(one)).data.state, "closed");
});
await op("delete a branch", async () => {
  same((await rest.git.deleteRef({ ...repo, ref: "heads/work" })).status, 204);
});

if (names.size !== OPERATIONS) throw new Error(`${client}: ${names.size} operations, not ${OPERATIONS}`);
console.log(`${client}: ${OPERATIONS - failed} of ${OPERATIONS} operations passed`);
console.log(JSON.stringify({ passed: OPERATIONS - failed, failed }));
