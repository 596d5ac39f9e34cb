// GitHub Actions: runs, jobs and logs. Nothing runs workflows here: an admin says what a job did.
import { pull, repository } from "../lib/seed.mjs";

/** A job that an admin makes; answers it. */
async function job(session, name, head_sha, more) {
  const made = await session.send("ada", "POST", `${session.forge.serverUrl}/_forge/jobs`, { repository: `ada/${name}`, head_sha, ...more });
  if (made.status !== 201) throw new Error(`no job was made: ${made.text}`);
  return made.body;
}

export async function actions(session, report) {
  const { at, head } = await repository(session, "actions");
  const wil = session.as("wil");
  const made = await pull(session, at, "one", head);
  const steps = [{ name: "Set up job", conclusion: "success" }, { name: "Test", conclusion: "failure" }];
  const annotations = [1, 2].map((line) => ({ path: "one.txt", start_line: line, end_line: line, annotation_level: "failure", message: "No." }));
  const test = await job(session, "actions", "one", { name: "test", conclusion: "failure", steps, log: "It failed.\n", annotations });
  const lint = await job(session, "actions", "one", { name: "lint", conclusion: "success" });
  report.same("one workflow on one commit is one run", lint.run_id, test.run_id);
  await job(session, "actions", "main", { name: "test", status: "in_progress", workflow: "Nightly" });
  const runs = `${at}/actions/runs`;
  const listed = (await wil.get(runs)).body;
  report.same("the runs", listed.workflow_runs.map((run) => [run.name, run.status, run.conclusion]), [["Nightly", "in_progress", null], ["CI", "completed", "failure"]]);
  const of = (await wil.get(`${runs}?head_sha=${made.head.sha}&status=failure&branch=one&event=push&actor=wil`)).body;
  report.same("the runs of a commit", of.workflow_runs.map((run) => run.id), [test.run_id]);
  const since = async (query) => (await wil.get(`${runs}?${query}`)).body.workflow_runs.map((one) => one.pull_requests.length);
  report.same("the runs of a time", [await since("created=>%3D2020-01-01"), await since("created=*..2020-01-01T00:00:00Z")], [[0, 1], []]);
  report.same("without their pull requests", await since("exclude_pull_requests=true"), [0, 0]);
  const alone = (await wil.get(`${runs}/${test.run_id}?exclude_pull_requests=true`)).body;
  report.same("a run without its pull requests", [alone.id, alone.pull_requests], [test.run_id, []]);
  report.same("what it left", (await wil.get(`${runs}/${test.run_id}/artifacts`)).body, { total_count: 0, artifacts: [] });
  const workflows = (await wil.get(`${at}/actions/workflows`)).body.workflows;
  report.same("the workflows", workflows.map((one) => [one.name, one.path]), [["CI", ".github/workflows/ci.yml"], ["Nightly", ".github/workflows/nightly.yml"]]);
  const [ci] = workflows;
  report.same("a workflow by its file", (await wil.get(`${at}/actions/workflows/ci.yml`)).body, ci);
  await wil.get(`${at}/actions/workflows/none.yml`, { status: 404 });
  report.same("its runs", (await wil.get(`${at}/actions/workflows/${ci.id}/runs?branch=one`)).body.workflow_runs.map((one) => one.id), [test.run_id]);
  const run = (await wil.get(`${runs}/${test.run_id}`)).body;
  report.same("a run is about a pull request", run.pull_requests.map((one) => one.number), [made.number]);
  const jobs = async (query = "") => (await wil.get(`${runs}/${test.run_id}/jobs${query}`)).body.jobs;
  report.same("its jobs", (await jobs()).map((one) => one.name), ["test", "lint"]);
  const shown = (await wil.get(`${at}/actions/jobs/${test.id}`)).body;
  report.same("its steps", shown.steps.map((step) => step.conclusion), ["success", "failure"]);
  const check = (await wil.get(`${at}/check-runs/${test.id}`)).body;
  report.same("a job is a check run", [check.app.slug, check.details_url], ["github-actions", shown.html_url]);
  await wil.get(`${at}/check-runs/${test.id}/annotations`);
  const suites = (await wil.get(`${at}/commits/main/check-suites`)).body.check_suites;
  report.same("a run is a suite", suites.map((suite) => suite.status), ["in_progress"]);
  await job(session, "actions", "main", { name: "docs", conclusion: "skipped", workflow: "Docs" });
  const both = (await wil.get(`${at}/commits/main/check-suites`)).body.check_suites;
  report.same("two runs are two suites", both.map((suite) => suite.conclusion), [null, "skipped"]);
  await job(session, "actions", "main", { name: "test" });
  await wil.get(`${at}/actions/workflows/ci.yml/runs`);

  const found = await wil.get(`${at}/actions/jobs/${test.id}/logs`, { status: 302 });
  const log = await fetch(found.headers.get("location"));
  report.same("a log, without a token", [log.status, log.headers.get("content-type"), await log.text()], [200, "text/plain; charset=utf-8", "It failed.\n"]);
  await wil.get(`${at}/actions/jobs/${lint.id}/logs`, { status: 404 });

  await wil.post(`${at}/actions/jobs/${test.id}/rerun`, undefined, { status: 201 });
  const again = (await jobs()).find((one) => one.name === "test");
  report.same("it runs again", [again.status, again.run_attempt, again.id > test.id], ["queued", 2, true]);
  await wil.post(`${runs}/${test.run_id}/rerun-failed-jobs`, undefined, { status: 403, message: /^This workflow is already running$/ });
  const end = (id) => session.send("ada", "PATCH", `${session.forge.serverUrl}/_forge/jobs/${id}`, { repository: "ada/actions", conclusion: "failure" });
  await end(again.id);
  await wil.post(`${runs}/${test.run_id}/rerun-failed-jobs`);
  for (const one of await jobs("?filter=latest")) if (one.status === "queued") await end(one.id);
  await wil.post(`${runs}/${test.run_id}/rerun`);
}
