// What branches require, and what a pull request lacks of it.
import { branch, pull, repository } from "../lib/seed.mjs";

export async function protection(session, report) {
  const { at, head } = await repository(session, "protection");
  const [ada, wil] = ["ada", "wil"].map((login) => session.as(login));
  const main = `${at}/branches/main/protection`;
  const made = await pull(session, at, "one", head);
  const stands = async () => (await wil.get(`${at}/pulls/${made.number}`)).body.mergeable_state;
  report.same("nothing is required", await stands(), "clean");
  await ada.get(main, { status: 404, message: /^Branch not protected$/ });
  const required_status_checks = { strict: true, contexts: ["test"] };
  const required_pull_request_reviews = { required_approving_review_count: 1 };
  const rules = { required_status_checks, enforce_admins: null, required_pull_request_reviews, restrictions: null, required_linear_history: true };
  await ada.put(main, rules);
  report.same("protected", (await ada.get(main)).body.required_status_checks.contexts, ["test"]);
  await ada.post(`${main}/required_signatures`, undefined, { status: 200 });
  report.same("signatures", (await ada.get(`${main}/required_signatures`)).body.enabled, true);
  await ada.delete(`${main}/required_signatures`);
  const short = (await wil.get(`${at}/branches/main`)).body;
  report.same("who may write sees what is required", [short.protected, short.protection.required_status_checks.contexts], [true, ["test"]]);
  const merge = `${at}/pulls/${made.number}/merge`;
  report.same("checks and reviews are missing", await stands(), "blocked");
  await wil.put(merge, { merge_method: "merge" }, { status: 405, message: /^Required status check "test" is expected\. At least 1 approving review is required by reviewers with write access\. This branch must not contain merge commits\.$/ });
  await session.as("max").post(`${at}/pulls/${made.number}/reviews`, { event: "APPROVE" }, { status: 200, anyone: true });
  await wil.post(`${at}/statuses/${made.head.sha}`, { state: "success", context: "test" });
  report.same("all is there", await stands(), "clean");
  await branch(session, at, "base", head);
  const base = (await wil.get(`${at}/git/ref/heads/base`)).body.object.sha;
  await ada.patch(`${at}/git/refs/heads/main`, { sha: base });
  report.same("the base has moved", await stands(), "behind");
  await wil.put(`${at}/pulls/${made.number}/update-branch`, { expected_head_sha: made.head.sha }, { status: 202 });
  await wil.put(`${at}/pulls/${made.number}/update-branch`, {}, { status: 422, message: /^There are no new commits on the base branch\.$/ });
  report.same("the new head has no checks", await stands(), "blocked");
  await ada.delete(main);

  const set = { repository: "ada/protection", branch: "main", rules: { required_status_checks, required_pull_request_reviews, required_linear_history: true, required_signatures: true } };
  const ruleset = await session.send("ada", "PUT", `${session.forge.serverUrl}/_forge/rulesets`, set);
  report.same("a ruleset", ruleset.status, 204);
  const listed = (await wil.get(`${at}/rules/branches/main`)).body;
  report.same("its rules", listed.map((rule) => rule.type), ["required_status_checks", "pull_request", "required_linear_history", "required_signatures"]);
  await wil.put(merge, { merge_method: "squash" }, { status: 405, message: /^Repository rule violations found\n\n/ });
  const proof = { checks: [{ context: "hob/proof", app_id: 7 }] };
  await session.send("ada", "PUT", `${session.forge.serverUrl}/_forge/rulesets`, { ...set, rules: { required_status_checks: proof } });
  const named = (await wil.get(`${at}/rules/branches/main`)).body[0].parameters.required_status_checks;
  report.same("a check that an App has to set", named, [{ context: "hob/proof", integration_id: 7 }]);
  const now = (await wil.get(`${at}/pulls/${made.number}`)).body.head.sha;
  await wil.post(`${at}/statuses/${now}`, { state: "success", context: "hob/proof" });
  await wil.put(merge, { merge_method: "squash" }, { status: 405, message: /^Repository rule violations found\n\nRequired status check "hob\/proof" is expected\.\n\n$/ });
  for (const body of [{ action: "add" }, { action: "remove", reason: "CI_FAILURE" }]) {
    const answer = await session.send("ada", "POST", `${session.forge.serverUrl}/_forge/merge-queue`, { repository: "ada/protection", number: made.number, ...body });
    report.same("the merge queue", answer.status, 204);
  }
  await wil.get(`${at}/issues/${made.number}/timeline`);
  await wil.get(`${at}/issues/${made.number}/events`);
}
