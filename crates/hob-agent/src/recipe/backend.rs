//! Runs the steps of a recipe.

use hob_config::{AgentSettings, RecipeSettings, Step};
use hob_domain::{FailureClass, Outcome, RunPurpose, RunReport, RunRequest, Spend};
use hob_process::{Environment, Exit, ProcessError};
use tokio::{
    task::{JoinError, spawn_blocking},
    time::Instant,
};

use crate::{
    AgentBackend, AgentError, Machine, RunContext,
    confined::Confined,
    egress::EgressRules,
    environment::RUN_TAG,
    folder::Folder,
    recipe::{
        diff::{self, DiffError},
        replace::{self, ReplaceError},
    },
    report::{cancelled, first_line, permanent, report, tail, unfinished},
};

/// Bytes of output quoted as the reason of a failure.
const QUOTED: usize = 2_000;
/// Steps that its plan names.
const PLANNED_STEPS: usize = 12;

/// Fixed steps.
#[derive(Debug)]
pub struct RecipeAgent {
    name: String,
    recipe: RecipeSettings,
    egress: EgressRules,
    output_cap: usize,
}

impl RecipeAgent {
    /// Takes the steps of `recipe`, and from `variables` those that `settings.env` names and that may be passed.
    ///
    /// # Errors
    /// When the recipe has no steps.
    pub fn new(
        name: &str,
        recipe: RecipeSettings,
        settings: &AgentSettings,
        variables: &Environment,
    ) -> Result<Self, AgentError> {
        if recipe.steps.is_empty() {
            return Err(AgentError::setup(format!("recipe `{name}` has no steps")));
        }
        let egress = EgressRules::new(settings, variables)?;
        Ok(Self { name: name.to_owned(), recipe, egress, output_cap: settings.output_cap })
    }

    /// Its plan, which needs no look at the folder.
    fn plan(&self) -> Outcome {
        let what = self.recipe.description.clone().unwrap_or_else(|| format!("Run the recipe `{}`.", self.name));
        let named = self.recipe.steps.iter().take(PLANNED_STEPS).map(|step| format!("\n- {}", name_of(step)));
        let mut plan = format!("Summary: {what}\nSteps:{}", named.collect::<String>());
        if let Some(more) = self.recipe.steps.len().checked_sub(PLANNED_STEPS).filter(|more| *more > 0) {
            plan.push_str(&format!("\n- and {more} more"));
        }
        Outcome::done(plan)
    }

    async fn steps(&self, folder: &Folder, request: &RunRequest, context: &RunContext, deadline: Instant) -> Outcome {
        // Each of its waits ends with the run's time.
        context.alive_until(deadline);
        let mut done = Vec::new();
        let count = self.recipe.steps.len();
        for (index, step) in self.recipe.steps.iter().enumerate() {
            let place = format!("step {} of {count} ({})", index + 1, name_of(step));
            if context.cancel.is_cancelled() {
                return cancelled();
            }
            if Instant::now() >= deadline {
                return unfinished(format!("the recipe ran out of time before {place} (`{}`)", request.time_setting));
            }
            context.say(&place);
            let result = match step {
                Step::Run(command) => self.command(command, request, context, deadline).await,
                Step::Replace(replace) => {
                    let (folder, replace) = (folder.clone(), replace.clone());
                    blocking(move || replace::replace(&folder, &replace)).await
                }
                Step::ApplyIssueDiff => {
                    let (folder, body) = (folder.clone(), request.body.clone());
                    blocking(move || diff::apply(&folder, &body)).await
                }
            };
            match result {
                Ok(said) => done.push(format!("- {said}")),
                Err(StepError::Ended(outcome)) => return outcome,
                Err(why) => return permanent(format!("{place} of recipe `{}` failed: {why}", self.name)),
            }
        }
        let what = self.recipe.description.clone().unwrap_or_else(|| format!("Ran the recipe `{}`.", self.name));
        Outcome::done(format!("{what}\n\n{}", done.join("\n")))
    }

    async fn command(
        &self,
        command: &str,
        request: &RunRequest,
        context: &RunContext,
        deadline: Instant,
    ) -> Result<String, StepError> {
        let egress = self.egress.open(context, request).await?;
        let (confined, _home) = Confined::of_run(context, request, &egress).await?;
        let finished = confined
            .program("sh")
            .args(["-c", command])
            .dir(&request.folder)
            .tag_uniquely(RUN_TAG)
            .deadline(deadline.saturating_duration_since(Instant::now()))
            .output_cap(self.output_cap)
            .run(&context.cancel)
            .await?;
        let texts = [finished.stderr.text(), finished.stdout.text()];
        let said = texts.iter().map(|text| tail(text, QUOTED)).find(|text| !text.is_empty());
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        match finished.exit {
            Exit::Code(0) => Ok(format!("ran `{}`", first_line(command, 100))),
            Exit::Code(_) => Err(StepError::Exit(finished.exit, said)),
            Exit::Signal(_) => Err(StepError::Ended(unfinished(format!("{} ended `{command}`{said}", finished.exit)))),
            Exit::Deadline => {
                Err(StepError::Ended(unfinished(format!("`{command}` ran out of time (`{}`)", request.time_setting))))
            }
            Exit::Cancelled => Err(StepError::Ended(cancelled())),
        }
    }
}

/// A step that failed, and ends the recipe.
#[derive(Debug, thiserror::Error)]
enum StepError {
    /// The command's program lacks something.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The command could not be run.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The command failed; the text is what it said last.
    #[error("{0}{1}")]
    Exit(Exit, String),
    #[error(transparent)]
    Replace(#[from] ReplaceError),
    #[error(transparent)]
    Diff(#[from] DiffError),
    #[error("the step broke: {0}")]
    Broke(#[from] JoinError),
    /// The run is over for a reason that is not the step's.
    #[error("the run is over")]
    Ended(Outcome),
}

#[async_trait::async_trait]
impl AgentBackend for RecipeAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        let started = Instant::now();
        match request.purpose {
            RunPurpose::Work => {}
            RunPurpose::Plan => return Ok(report(self.plan(), Spend::default(), started)),
            RunPurpose::Report | RunPurpose::Review | RunPurpose::Investigate => {
                let outcome = permanent(format!("the recipe `{}` has fixed steps: it judges nothing", self.name));
                return Ok(report(outcome, Spend::default(), started));
            }
        }
        let folder = Folder::open_async(&request.folder)
            .await
            .map_err(|error| AgentError::caused_by(FailureClass::Unfinished, error).during("open the folder"))?;
        let outcome = self.steps(&folder, request, context, started + request.time).await;
        Ok(report(outcome, Spend::default(), started))
    }

    /// Its steps are the repository's, and so are their needs.
    async fn ready(&self, _machine: &Machine<'_>) -> Result<(), AgentError> {
        Ok(())
    }
}

fn name_of(step: &Step) -> String {
    match step {
        Step::Run(command) => format!("run `{}`", first_line(command, 60)),
        Step::Replace(replace) => format!("replace `{}` in `{}`", first_line(&replace.find, 40), replace.files),
        Step::ApplyIssueDiff => "apply the issue's diff".to_owned(),
    }
}

async fn blocking<E: Into<StepError> + Send + 'static>(
    work: impl FnOnce() -> Result<String, E> + Send + 'static,
) -> Result<String, StepError> {
    spawn_blocking(work).await?.map_err(Into::into)
}
