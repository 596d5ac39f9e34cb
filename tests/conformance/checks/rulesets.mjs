// The rulesets of a repository: made and changed by GitHub's own client, and what they let through.
import { Octokit } from "@octokit/rest";
import { USERS } from "../lib/forge.mjs";
import { pull, repository } from "../lib/seed.mjs";

export async function rulesets(session, report) {
  const { at, head } = await repository(session, "rulesets");
  const [ada, wil] = ["ada", "wil"].map((login) => session.as(login));
  await wil.get(`${at}/rulesets`);
  const required = (integration_id) => ({
    type: "required_status_checks",
    parameters: {
      strict_required_status_checks_policy: false,
      required_status_checks: [{ context: "hob/proof", ...(integration_id && { integration_id }) }],
    },
  });
  const conditions = { ref_name: { include: ["~DEFAULT_BRANCH"], exclude: [] } };
  const body = { name: "Proven", target: "branch", enforcement: "active", conditions, rules: [required()] };
  const made = (await ada.post(`${at}/rulesets`, body)).body;
  const own = `${at}/rulesets/${made.id}`;
  report.same("a ruleset", [made.name, made.enforcement, made.conditions, made.rules[0].type], ["Proven", "active", conditions, "required_status_checks"]);
  report.same("who may bypass it is for admins", [(await wil.get(own)).body.bypass_actors, (await ada.get(own)).body.bypass_actors], [undefined, []]);
  report.same("it is listed", (await wil.get(`${at}/rulesets?targets=branch`)).body.map((one) => one.name), ["Proven"]);
  await ada.put(own, body);
  await wil.put(own, body, { status: 403 });
  await ada.get(`${at}/rulesets/99`, { status: 404 });
  await ada.put(`${at}/rulesets/99`, body, { status: 404 });
  await ada.delete(`${at}/rulesets/99`, undefined, { status: 404 });
  for (const wrong of [
    body, { ...body, name: "" }, { name: "Other" }, { ...body, name: "Other", enforcement: "often" },
    { ...body, name: "Other", conditions: { ref_name: { include: ["main"], exclude: [] } } },
    { ...body, name: "Other", rules: [{ type: "required_status_checks", parameters: { required_status_checks: [{}] } }] },
    { ...body, name: "Other", rules: [{ type: "pull_request", parameters: {} }] },
  ]) {
    const { status } = await session.send("ada", "POST", `${at}/rulesets`, wrong);
    report.same(`refused: ${JSON.stringify(wrong).slice(0, 60)}`, status, 422);
  }

  const one = await pull(session, at, "one", head);
  const merge = `${at}/pulls/${one.number}/merge`;
  const expected = /^Repository rule violations found\n\nRequired status check "hob\/proof" is expected\.\n\n$/;
  await wil.put(merge, {}, { status: 405, message: expected });
  await ada.put(merge, {}, { status: 405, message: expected });
  const status = `${at}/statuses/${one.head.sha}`;
  await wil.post(status, { state: "pending", context: "hob/proof" });
  await wil.put(merge, {}, { status: 405, message: /"hob\/proof" is pending\./ });
  report.same("a pull request that lacks it", (await wil.get(`${at}/pulls/${one.number}`)).body.mergeable_state, "blocked");

  // The rest by GitHub's own client.
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const client = (login) => new Octokit({ auth: USERS[login].token, baseUrl: session.forge.apiUrl, log: quiet }).rest;
  const [owner, writer] = [client("ada"), client("wil")];
  const repo = { owner: "ada", repo: "rulesets" };
  const set = { ...repo, ruleset_id: made.id };
  const answer = (promise) => promise.then((found) => found.status, (error) => `${error.status} ${error.message.split("\n")[2] ?? ""}`.trim());
  const put = (change) => owner.repos.updateRepoRuleset({ ...set, ...change });
  const merges = () => answer(writer.pulls.merge({ ...repo, pull_number: one.number }));
  await put({ rules: [required(7)] });
  const rules = (await writer.repos.getBranchRules({ ...repo, branch: "main" })).data;
  report.same("the rules of the branch", rules[0].parameters.required_status_checks, [{ context: "hob/proof", integration_id: 7 }]);
  report.same("nothing is required elsewhere", (await writer.repos.getBranchRules({ ...repo, branch: "other" })).data, []);
  await writer.repos.createCommitStatus({ ...repo, sha: one.head.sha, state: "success", context: "hob/proof" });
  report.same("a status of another account changes nothing", await merges(), '405 Required status check "hob/proof" is expected.');
  for (const enforcement of ["disabled", "evaluate"]) {
    await put({ enforcement });
    report.same(`${enforcement}: it requires nothing`, (await owner.pulls.get({ ...repo, pull_number: one.number })).data.mergeable_state, "clean");
  }
  const bypass_actors = [{ actor_type: "RepositoryRole", actor_id: 5, bypass_mode: "pull_request" }];
  const bypassed = (await put({ enforcement: "active", bypass_actors })).data;
  report.same("an admin may bypass it", [bypassed.current_user_can_bypass, (await writer.repos.getRepoRuleset(set)).data.current_user_can_bypass], ["pull_requests_only", "never"]);
  report.same("who writes may not", await merges(), '405 Required status check "hob/proof" is expected.');
  await put({ bypass_actors: [], rules: [required()] });
  report.same("without an App in it, any status counts", await merges(), 200);

  const git = (name, sha, force = false) => answer(writer.git.updateRef({ ...repo, ref: `heads/${name}`, sha, force }));
  const all = { ref_name: { include: ["~ALL"], exclude: ["refs/heads/free/*"] } };
  await put({ conditions: all, rules: ["creation", "deletion", "non_fast_forward"].map((type) => ({ type })) });
  const created = (name) => answer(writer.git.createRef({ ...repo, ref: `refs/heads/${name}`, sha: head }));
  report.same("no branch is created", String(await created("new")).slice(0, 3), "422");
  report.same("but where it is not bound", await created("free/new"), 201);
  report.same("none is moved back", String(await git("one", head, true)).slice(0, 3), "422");
  report.same("none is deleted", String(await answer(writer.git.deleteRef({ ...repo, ref: "heads/one" }))).slice(0, 3), "422");
  await put({ rules: [{ type: "update" }] });
  report.same("none is moved", String(await git("one", head, true)).slice(0, 3), "422");
  await ada.delete(own);
  report.same("deleted", (await owner.repos.getRepoRulesets(repo)).data, []);
}
