// Reviews, comments on a diff, and who is asked for a review.
import { pull, repository } from "../lib/seed.mjs";
import { reactions, timeline } from "./issues.mjs";

export async function reviews(session, report) {
  const { at, head } = await repository(session, "reviews");
  const [wil, max, rea] = ["wil", "max", "rea"].map((login) => session.as(login));
  const made = await pull(session, at, "one", head);
  const one = `${at}/pulls/${made.number}`;

  const logins = (list) => list.map((account) => account.login).sort();
  const asked = (await wil.post(`${one}/requested_reviewers`, { reviewers: ["max", "tom"] })).body;
  report.same("who is asked", logins(asked.requested_reviewers), ["max", "tom"]);
  report.same("who is asked, by itself", logins((await wil.get(`${one}/requested_reviewers`)).body.users), ["max", "tom"]);
  const left = (await wil.delete(`${one}/requested_reviewers`, { reviewers: ["tom"] }, { status: 200 })).body;
  report.same("who is left", logins(left.requested_reviewers), ["max"]);
  await wil.post(`${one}/requested_reviewers`, { reviewers: ["nobody"] }, { status: 422 });
  await wil.post(`${one}/requested_reviewers`, { reviewers: ["wil"] }, { status: 422 });

  const all = `${one}/reviews`;
  const review = (await max.post(all, { event: "REQUEST_CHANGES", body: "Not yet.", comments: [{ path: "one.txt", position: 1, body: "Why?" }] }, { status: 200, anyone: true })).body;
  report.same("a review", [review.state, review.user.login, review.body], ["CHANGES_REQUESTED", "max", "Not yet."]);
  await rea.post(all, { event: "COMMENT", body: "Nice." }, { status: 200 });
  await wil.post(all, { event: "APPROVE" }, { status: 422, message: /^Unprocessable Entity$/ });
  await max.post(all, { event: "COMMENT" }, { status: 422 });
  await max.post(all, { event: "SHRUG", body: "x" }, { status: 422 });
  await wil.get(all);
  await wil.get(`${all}/${review.id}`);
  await wil.get(`${all}/1`, { status: 404 });
  await wil.put(`${all}/${review.id}/dismissals`, {}, { status: 422 });
  report.same("dismissed", (await wil.put(`${all}/${review.id}/dismissals`, { message: "Done.", event: "DISMISS" })).body.state, "DISMISSED");
  await wil.put(`${all}/1/dismissals`, { message: "x" }, { status: 404 });
  await max.post(all, { event: "APPROVE" }, { status: 200 });
  await pending(session, report, one);
  await lines(session, report, at, made);
  const kinds = await timeline(session, report, `${at}/issues/${made.number}/timeline`);
  report.same("the timeline has reviews", ["reviewed", "review_requested", "review_request_removed", "review_dismissed"].filter((kind) => !kinds.includes(kind)), []);
  await wil.get(`${at}/issues/${made.number}/events`);
}

/** A review that only its author sees, until it is submitted. */
async function pending(session, report, one) {
  const [wil, tom] = ["wil", "tom"].map((login) => session.as(login));
  const all = `${one}/reviews`;
  const made = (await tom.post(all, { body: "Hm.", comments: ["Why?", "How?"].map((body) => ({ path: "one.txt", line: 1, body })) }, { status: 200, anyone: true })).body;
  report.same("it waits", [made.state, made.submitted_at], ["PENDING", undefined]);
  const own = `${all}/${made.id}`;
  await wil.get(own, { status: 404 });
  await tom.post(all, {}, { status: 422 });
  report.same("its text", (await tom.put(own, { body: "Hm, hm." }, { anyone: true })).body.body, "Hm, hm.");
  report.same("its comments", (await tom.get(`${own}/comments`)).body.map((each) => each.position), [1, 1]);
  await tom.post(`${own}/events`, { body: "x" }, { status: 422 });
  report.same("submitted", (await tom.post(`${own}/events`, { event: "COMMENT", body: "So." }, { status: 200, anyone: true })).body.state, "COMMENTED");
  await tom.post(`${own}/events`, { event: "COMMENT", body: "x" }, { status: 422 });
  await tom.delete(own, undefined, { status: 422 });
  const other = (await tom.post(all, { body: "No.", comments: [{ path: "one.txt", line: 1, body: "a" }] }, { status: 200 })).body;
  await tom.delete(`${all}/${other.id}`, undefined, { status: 200, anyone: true });
  await tom.get(`${all}/${other.id}`, { status: 404 });
}

async function lines(session, report, at, made) {
  const wil = session.as("wil");
  const one = `${at}/pulls/${made.number}/comments`;
  const comment = (await wil.post(one, { body: "Here.", path: "one.txt", line: 1, side: "RIGHT", commit_id: made.head.sha }, { anyone: true })).body;
  report.same("where it stands", [comment.path, comment.line, comment.side], ["one.txt", 1, "RIGHT"]);
  report.same("where it stands in the diff", [comment.position, comment.original_position, comment.start_line], [1, 1, null]);
  await wil.post(one, { body: "x", path: "none.txt", line: 1, commit_id: made.head.sha }, { status: 422, errors: [["PullRequestReviewComment", "path", "invalid"]] });
  await wil.post(one, { path: "one.txt", line: 1, commit_id: made.head.sha }, { status: 422 });
  await wil.post(one, { body: "x", path: "one.txt", line: 999, commit_id: made.head.sha }, { status: 422 });
  const reply = (await wil.post(`${one}/${comment.id}/replies`, { body: "Yes." }, { anyone: true })).body;
  report.same("what it answers", reply.in_reply_to_id, comment.id);
  await wil.post(`${one}/1/replies`, { body: "Yes." }, { status: 404 });
  await wil.get(one);
  await wil.get(`${at}/pulls/comments?sort=updated&direction=desc`);
  await wil.get(`${at}/pulls/comments`);
  const own = `${at}/pulls/comments/${comment.id}`;
  await wil.get(own);
  await wil.get(`${at}/pulls/comments/1`, { status: 404 });
  await wil.patch(own, { body: "Here, I mean." });
  await wil.patch(own, {}, { status: 422 });
  await reactions(session, report, `${own}/reactions`);
  await wil.delete(`${at}/pulls/comments/${reply.id}`);
  await wil.delete(`${at}/pulls/comments/${reply.id}`, undefined, { status: 404 });
  await wil.put(`${at}/contents/two.txt`, { message: "Add two.txt", content: "Mgo=", branch: "one" }, { status: 201 });
  const outdated = (await wil.get(one)).body.find((each) => each.id === comment.id);
  report.same("after a push", [outdated.position, outdated.original_position, outdated.line], [null, 1, 1]);
}
