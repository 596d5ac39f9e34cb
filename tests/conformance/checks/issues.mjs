// Issues: made, listed, changed, locked, assigned; what happened to them.
import { repository } from "../lib/seed.mjs";

/** The schema of each kind of entry of a timeline; the description's own choice among them admits anything. */
export const TIMELINE = {
  labeled: "labeled-issue-event",
  unlabeled: "unlabeled-issue-event",
  assigned: "timeline-assigned-issue-event",
  unassigned: "timeline-unassigned-issue-event",
  renamed: "renamed-issue-event",
  locked: "locked-issue-event",
  commented: "timeline-comment-event",
  reviewed: "timeline-reviewed-event",
  committed: "timeline-committed-event",
  "cross-referenced": "timeline-cross-referenced-event",
  review_requested: "review-requested-issue-event",
  review_request_removed: "review-request-removed-issue-event",
  review_dismissed: "review-dismissed-issue-event",
  closed: "state-change-issue-event",
  reopened: "state-change-issue-event",
};

/** Checks each entry of a timeline as what it says it is, and answers their kinds. */
export async function timeline(session, report, path) {
  const entries = (await session.as("wil").get(`${path}?per_page=100`)).body;
  entries.forEach((entry, index) => {
    const wrong = TIMELINE[entry.event] ? session.description.wrong(TIMELINE[entry.event], entry) : [];
    report.check(`${path}: entry ${index} as ${entry.event}`, wrong.join("; "));
  });
  return entries.map((entry) => entry.event);
}

export async function issues(session, report) {
  const { at } = await repository(session, "issues");
  const [wil, rea, tom] = ["wil", "rea", "tom"].map((login) => session.as(login));
  const all = `${at}/issues`;
  const first = (await wil.post(all, { title: "The first", body: "It fails.", labels: ["code"], assignees: ["wil"] }, { anyone: true })).body;
  report.same("its labels and assignees", [first.labels[0].name, first.assignees[0].login, first.assignee.login], ["code", "wil", "wil"]);
  const second = (await rea.post(all, { title: "The second", body: "As #1 says.", labels: ["code"] })).body;
  report.same("a reader's label is dropped without a word", second.labels, []);
  await wil.post(all, { body: "x" }, { status: 422, errors: [["Issue", "title", "missing_field"]] });
  await wil.post(all, { title: "x".repeat(257) }, { status: 422, errors: [["Issue", "title", "custom"]] });
  await wil.post(all, { title: "x", body: "y".repeat(65_537) }, { status: 422, errors: [["Issue", "body", "custom"]] });
  await wil.post(all, { title: "x", assignees: ["nobody"] }, { status: 422, errors: [["Issue", "assignees", "invalid"]] });

  const numbers = async (query) => (await wil.get(`${all}${query}`)).body.map((issue) => issue.number);
  report.same("newest first", await numbers(""), [2, 1]);
  report.same("oldest first", await numbers("?direction=asc"), [1, 2]);
  report.same("by label", await numbers("?labels=code"), [1]);
  report.same("by two labels", await numbers("?labels=code,other"), []);
  report.same("by creator", await numbers("?creator=rea"), [2]);
  report.same("by assignee", await numbers("?assignee=wil"), [1]);
  report.same("by no assignee", await numbers("?assignee=none"), [2]);
  report.same("since the future", await numbers("?since=2100-01-01T00:00:00Z"), []);
  await wil.get(`${all}?state=wrong`, { status: 422 });
  await wil.get(`${all}/1`);
  await wil.get(`${all}/999`, { status: 404, message: /^Not Found$/ });

  await wil.patch(`${all}/1`, { title: "The very first", body: null });
  await wil.patch(`${all}/1`, { labels: ["bug"], assignees: ["wil", "tom"] });
  const closed = (await wil.patch(`${all}/1`, { state: "closed", state_reason: "not_planned" })).body;
  report.same("why it is closed", [closed.state, closed.state_reason, closed.closed_by.login], ["closed", "not_planned", "wil"]);
  report.same("closed ones", await numbers("?state=closed"), [1]);
  report.same("all of them", await numbers("?state=all"), [2, 1]);
  const opened = (await wil.patch(`${all}/1`, { state: "open" })).body;
  report.same("it is open again", [opened.state, opened.state_reason, opened.closed_at], ["open", "reopened", null]);
  await wil.patch(`${all}/1`, { state: "wrong" }, { status: 422, errors: [["Issue", "state", "invalid"]] });
  await wil.patch(`${all}/1`, { title: "" }, { status: 422, errors: [["Issue", "title", "missing_field"]] });
  await wil.patch(`${all}/999`, { title: "x" }, { status: 404 });
  await rea.patch(`${all}/2`, { title: "Its author may" });
  await rea.patch(`${all}/1`, { title: "Another may not" }, { status: 403 });
  await tom.patch(`${all}/2`, { state: "closed", state_reason: "completed" });

  await assignees(session, report, at);
  await wil.put(`${all}/1/lock`, { lock_reason: "too heated" }, { status: 204 });
  report.same("it is locked", (await wil.get(`${all}/1`)).body.active_lock_reason, "too heated");
  await wil.put(`${all}/1/lock`, { lock_reason: "whim" }, { status: 422, errors: [["Issue", "lock_reason", "invalid"]] });
  await rea.post(`${all}/1/comments`, { body: "x" }, { status: 403 });
  await wil.put(`${all}/999/lock`, {}, { status: 404 });
  await wil.delete(`${all}/1/lock`);
  await events(session, report, at);
  await reactions(session, report, `${all}/1/reactions`);
}

async function assignees(session, report, at) {
  const wil = session.as("wil");
  await wil.get(`${at}/assignees`);
  await wil.get(`${at}/assignees/tom`, { status: 204 });
  await wil.get(`${at}/assignees/rea`, { status: 404 });
  const logins = (answer) => answer.body.assignees.map((account) => account.login).sort();
  const own = `${at}/issues/1/assignees`;
  report.same("added assignees; who cannot be one is left out", logins(await wil.post(own, { assignees: ["max", "rea"] })), ["max", "tom", "wil"]);
  report.same("the assignees left", logins(await wil.delete(own, { assignees: ["max"] }, { status: 200 })), ["tom", "wil"]);
  await wil.post(`${at}/issues/999/assignees`, { assignees: ["max"] }, { status: 404 });
}

async function events(session, report, at) {
  const wil = session.as("wil");
  const own = (await wil.get(`${at}/issues/1/events`)).body;
  const kinds = new Set(own.map((event) => event.event));
  const expected = ["labeled", "unlabeled", "assigned", "unassigned", "renamed", "closed", "reopened", "locked", "unlocked"];
  report.same("what happened", expected.filter((kind) => !kinds.has(kind)), []);
  await wil.get(`${at}/issues/events`);
  await wil.get(`${at}/issues/events/${own[0].id}`);
  await wil.get(`${at}/issues/events/1`, { status: 404 });
  await wil.get(`${at}/issues/999/events`, { status: 404 });
  await wil.post(`${at}/issues/1/comments`, { body: "A word." }, { anyone: true });
  await wil.get(`${at}/issues/1/timeline`);
  const entries = await timeline(session, report, `${at}/issues/1/timeline`);
  report.same("the timeline has more", ["commented", "cross-referenced"].filter((kind) => !entries.includes(kind)), []);
  await wil.get(`${at}/issues/999/timeline`, { status: 404 });
}

/** Reactions to what has them at `path`. */
export async function reactions(session, report, path) {
  const [wil, rea] = [session.as("wil"), session.as("rea")];
  const mine = (await wil.post(path, { content: "+1" }, { anyone: true })).body;
  report.same("the same reaction again", (await wil.post(path, { content: "+1" }, { status: 200 })).body.id, mine.id);
  await rea.post(path, { content: "rocket" });
  await wil.post(path, { content: "shrug" }, { status: 422 });
  await wil.get(path);
  report.same("reactions of one kind", (await wil.get(`${path}?content=rocket`)).body.length, 1);
  await wil.delete(`${path}/${mine.id}`, undefined, { anyone: true });
  await wil.delete(`${path}/${mine.id}`, undefined, { status: 404 });
}
