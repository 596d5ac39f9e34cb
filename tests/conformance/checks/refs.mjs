// Refs: made where there is none, moved forwards only, as leases need it.
import { repository } from "../lib/seed.mjs";

export async function refs(session, report) {
  const { at, head } = await repository(session, "refs");
  const wil = session.as("wil");
  const all = `${at}/git/refs`;
  const tree = (await wil.get(`${at}/git/commits/${head}`)).body.tree.sha;
  const commit = async (message, ...parents) => (await wil.post(`${at}/git/commits`, { message, tree, parents })).body.sha;
  const [next, aside] = [await commit("next", head), await commit("aside")];

  const ref = (await wil.post(all, { ref: "refs/hob/issues/1", sha: head })).body;
  report.same("the ref made", [ref.ref, ref.object.sha, ref.object.type], ["refs/hob/issues/1", head, "commit"]);
  await wil.post(all, { ref: "refs/hob/issues/1", sha: next }, { status: 422, message: /^Reference already exists$/ });
  await wil.post(all, { ref: "hob/x", sha: head }, { status: 422 });
  await wil.post(all, { ref: "refs/heads/a..b", sha: head }, { status: 422 });
  await wil.post(all, { ref: "refs/heads/x", sha: "0".repeat(40) }, { status: 422, message: /^Object does not exist$/ });
  await wil.post(all, { ref: "refs/heads/x", sha: "main" }, { status: 422 });
  await wil.post(all, { ref: "refs/heads/x", sha: tree }, { status: 422 });
  await wil.post(all, { sha: head }, { status: 422 });
  await wil.get(`${at}/git/ref/hob/issues/1`);
  await wil.get(`${at}/git/ref/heads/none`, { status: 404, message: /^Not Found$/ });
  await wil.post(all, { ref: "refs/hob/issues/12", sha: head });
  const found = (await wil.get(`${at}/git/matching-refs/hob/issues/1`)).body;
  report.same("refs that begin so", found.map((each) => each.ref), ["refs/hob/issues/1", "refs/hob/issues/12"]);
  await wil.get(`${at}/git/matching-refs/`);
  report.same("no ref begins so", (await wil.get(`${at}/git/matching-refs/none`)).body, []);

  const one = `${all}/hob/issues/1`;
  report.same("it went forwards", (await wil.patch(one, { sha: next, force: false })).body.object.sha, next);
  await wil.patch(one, { sha: aside, force: false }, { status: 422, message: /^Update is not a fast forward$/ });
  await wil.patch(one, { sha: head }, { status: 422, message: /^Update is not a fast forward$/ });
  report.same("force moves it anywhere", (await wil.patch(one, { sha: aside, force: true })).body.object.sha, aside);
  await wil.patch(`${all}/heads/none`, { sha: head }, { status: 422, message: /^Reference does not exist$/ });
  await wil.patch(one, { sha: "0".repeat(40) }, { status: 422, message: /^Object does not exist$/ });
  await wil.delete(one);
  await wil.delete(one, undefined, { status: 422, message: /^Reference does not exist$/ });
  await wil.get(`${at}/git/ref/hob/issues/1`, { status: 404 });
  await wil.delete(`${all}/heads/main`, undefined, { status: 422 });

  const racers = Array.from({ length: 12 }, () => session.send("wil", "POST", all, { ref: "refs/hob/race", sha: head }));
  const statuses = (await Promise.all(racers)).map((answer) => answer.status).sort();
  report.same("of twelve that make one ref one does", statuses, [201, ...Array(11).fill(422)]);
}
