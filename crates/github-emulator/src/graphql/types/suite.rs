//! The context of a check run: its suite, its App and, for a job, its workflow run and its steps; and annotations.

use super::super::{
    super::{
        state::{CheckApp, CheckRun, CheckSuite, Repository, WorkflowRun, together},
        wire::{node_id, time},
    },
    object::{Args, At, Out, made},
    page::connection,
};

pub(super) const DESCRIPTION: &str = r"
type CheckSuite {
    app: App
    conclusion: CheckConclusionState
    databaseId: Int
    repository: Repository!
    status: CheckStatusState!
    workflowRun: WorkflowRun
}
type App { databaseId: Int name: String! slug: String! }
type WorkflowRun {
    createdAt: DateTime!
    databaseId: Int
    event: String!
    runNumber: Int!
    updatedAt: DateTime!
    url: URI!
    workflow: Workflow!
}
type Workflow { databaseId: Int name: String! }
type CheckStep {
    completedAt: DateTime
    conclusion: CheckConclusionState
    name: String!
    number: Int!
    startedAt: DateTime
    status: CheckStatusState!
}
type CheckAnnotation {
    annotationLevel: CheckAnnotationLevel
    blobUrl: URI!
    location: CheckAnnotationSpan!
    message: String!
    path: String!
    rawDetails: String
    title: String
}
type CheckAnnotationSpan { end: CheckAnnotationPosition! start: CheckAnnotationPosition! }
type CheckAnnotationPosition { column: Int line: Int! }
enum CheckAnnotationLevel { FAILURE NOTICE WARNING }
";

/// A check suite.
pub(super) fn suite<'s>(at: &At<'s>, repo: &'s Repository, of: &CheckSuite<'s>) -> Out<'s> {
    let (status, conclusion) = together(&of.checks);
    made(
        "CheckSuite",
        [
            ("app", of.app.as_ref().map_or(Out::Null, app)),
            ("conclusion", Out::leaf(conclusion.map(str::to_uppercase))),
            ("databaseId", Out::leaf(of.id)),
            ("repository", Out::Node(node_id("Repository", repo.id))),
            ("status", Out::leaf(status.to_uppercase())),
            ("workflowRun", of.run.map_or(Out::Null, |run| workflow_run(at, repo, run))),
        ],
    )
}

/// A page of the suites of a commit.
pub(super) fn suites<'s>(at: &At<'s>, args: &Args, repo: &'s Repository, sha: &str) -> Out<'s> {
    let shown = repo.suites(sha).into_iter().map(|of| (of.id, suite(at, repo, &of)));
    connection("CheckSuiteConnection", args, shown)
}

fn app<'s>(app: &CheckApp) -> Out<'s> {
    let fields = [("databaseId", Out::leaf(app.id)), ("name", Out::leaf(app.name.clone()))];
    made("App", fields.into_iter().chain([("slug", Out::leaf(app.slug.clone()))]))
}

fn workflow_run<'s>(at: &At<'s>, repo: &'s Repository, run: &'s WorkflowRun) -> Out<'s> {
    let workflow = [("databaseId", Out::leaf(run.workflow_id)), ("name", Out::leaf(run.workflow.as_str()))];
    made(
        "WorkflowRun",
        [
            ("createdAt", Out::leaf(time(run.created_at))),
            ("databaseId", Out::leaf(run.id)),
            ("event", Out::leaf(run.event.as_str())),
            ("runNumber", Out::leaf(run.number)),
            ("updatedAt", Out::leaf(time(run.updated_at))),
            ("url", Out::leaf(at.page(repo, &format!("/actions/runs/{}", run.id)))),
            ("workflow", made("Workflow", workflow)),
        ],
    )
}

/// A page of the steps of a job; a check run that is not a job has none.
pub(super) fn steps<'s>(args: &Args, run: &'s CheckRun) -> Out<'s> {
    let wanted = args.int("number").and_then(|number| u64::try_from(number).ok());
    let all = run.job.iter().flat_map(|job| &job.steps).zip(1..);
    let shown = all.filter(|(_, number)| wanted.is_none_or(|wanted| wanted == *number)).map(|(step, number)| {
        let (begun, ended) = (step.status != "queued", step.conclusion.is_some());
        let fields = [
            ("completedAt", Out::leaf(run.completed_at.as_deref().filter(|_| ended))),
            ("conclusion", Out::leaf(step.conclusion.as_ref().map(|word| word.to_uppercase()))),
            ("name", Out::leaf(step.name.as_str())),
            ("number", Out::leaf(number)),
            ("startedAt", Out::leaf(run.started_at.as_deref().filter(|_| begun))),
            ("status", Out::leaf(step.status.to_uppercase())),
        ];
        (number, made("CheckStep", fields))
    });
    connection("CheckStepConnection", args, shown)
}

/// A page of a check run's annotations.
pub(super) fn annotations<'s>(at: &At<'s>, args: &Args, repo: &'s Repository, run: &'s CheckRun) -> Out<'s> {
    let place = |column: Option<u64>, line: u64| {
        made("CheckAnnotationPosition", [("column", Out::leaf(column)), ("line", Out::leaf(line))])
    };
    let shown = run.annotations.iter().zip(0..).map(|(one, index)| {
        let span = [("end", place(one.end_column, one.end_line)), ("start", place(one.start_column, one.start_line))];
        let fields = [
            ("annotationLevel", Out::leaf(one.annotation_level.name().to_uppercase())),
            ("blobUrl", Out::leaf(at.page(repo, &format!("/blob/{}/{}", run.sha, one.path)))),
            ("location", made("CheckAnnotationSpan", span)),
            ("message", Out::leaf(one.message.as_str())),
            ("path", Out::leaf(one.path.as_str())),
            ("rawDetails", Out::leaf(one.raw_details.as_deref())),
            ("title", Out::leaf(one.title.as_deref())),
        ];
        (index, made("CheckAnnotation", fields))
    });
    connection("CheckAnnotationConnection", args, shown)
}
