// Comments on issues.
import { repository } from "../lib/seed.mjs";
import { reactions } from "./issues.mjs";

export async function comments(session, report) {
  const { at } = await repository(session, "comments");
  const [wil, rea] = [session.as("wil"), session.as("rea")];
  await wil.post(`${at}/issues`, { title: "Talk" }, { anyone: true });
  const own = `${at}/issues/1/comments`;
  const first = (await wil.post(own, { body: "The first." }, { anyone: true })).body;
  const second = (await rea.post(own, { body: "The second: <script> & ümlaut 🧹" })).body;
  report.same("text stays as it was sent", second.body, "The second: <script> & ümlaut 🧹");
  await wil.post(own, {}, { status: 422, errors: [["IssueComment", "body", "missing_field"]] });
  await wil.post(own, { body: "x".repeat(65_537) }, { status: 422, errors: [["IssueComment", "body", "custom"]] });
  await wil.post(`${at}/issues/999/comments`, { body: "x" }, { status: 404 });
  await wil.get(own);
  await wil.get(`${own}?since=2100-01-01T00:00:00Z`);
  await wil.get(`${at}/issues/999/comments`, { status: 404 });
  await wil.get(`${at}/issues/comments`);
  const newest = (await wil.get(`${at}/issues/comments?sort=created&direction=desc`)).body;
  report.same("newest first", newest.map((comment) => comment.id), [second.id, first.id]);
  const one = `${at}/issues/comments/${first.id}`;
  await wil.get(one);
  await wil.get(`${at}/issues/comments/1`, { status: 404 });
  await wil.patch(one, { body: "The first, again." });
  await wil.patch(one, { body: "" }, { status: 422, errors: [["IssueComment", "body", "missing_field"]] });
  await rea.patch(`${at}/issues/comments/${second.id}`, { body: "One's own." });
  await wil.patch(`${at}/issues/comments/1`, { body: "x" }, { status: 404 });
  await reactions(session, report, `${one}/reactions`);
  report.same("a comment counts its reactions", (await wil.get(one)).body.reactions.rocket, 1);
  await wil.delete(one);
  await wil.delete(one, undefined, { status: 404 });
  report.same("an issue counts its comments", (await wil.get(`${at}/issues/1`)).body.comments, 1);
}
