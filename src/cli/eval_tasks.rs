//! `hob eval run PATH`: an agent on many tasks with hidden tests.

use std::path::{Component, Path, PathBuf};

use futures_util::{StreamExt, stream};
use hob_config::BackendKind;
use hob_eval::{Found, Heading, Results, Score, Trial, Unusable};
use hob_sandbox::{Tier, probe};
use hob_text::{clip, count, terminal};
use serde::Serialize;

use crate::cli::{
    args::Shared,
    eval_args::TasksArgs,
    eval_check::{self, Often},
    eval_compare::table,
    eval_find::{Wanted, found, usage},
    eval_trial::{By, Entry, Evaluation, Tried, WHY_MAX},
    exit::{Exit, fatal},
    json, output,
    progress::Verbosity,
    screen::Screen,
    setup::Setup,
};

/// The agent of `--recorded`.
const NATIVE: &str = "native";

/// The report of an evaluation, for programs.
#[derive(Debug, Serialize)]
struct Report<'a> {
    agent: &'a str,
    model: Option<&'a str>,
    results: PathBuf,
    #[serde(flatten)]
    score: Score,
    unusable: Vec<Unusable>,
    /// Tasks that could not be tried to their end, which the next run tries again.
    failed: Vec<Unusable>,
    trials: &'a [Trial],
}

/// What is left to do, and what is known of the rest.
struct Run<'a> {
    jobs: usize,
    attempts: u32,
    entries: &'a [Entry],
}

pub(super) async fn run(mut setup: Setup, shared: Shared, mut args: TasksArgs, screen: Screen) -> anyhow::Result<()> {
    setup.record = std::mem::take(&mut args.record).folder()?;
    let path = args.path.clone().unwrap_or_default();
    let agent = agent(&setup, &args)?;
    let Wanted { found, engine } = found(&path, &args, &setup, outsider(&setup, &args, &agent)).await?;
    if let Some(missing) = probe(Tier::Box).missing {
        return Err(fatal(
            Exit::Unhealthy,
            format!("the tests of tasks run in a box, which this machine cannot make: {missing}"),
        ));
    }
    let jobs = args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    if args.check {
        return eval_check::check(
            &setup,
            &shared,
            Wanted { found, engine },
            Often { jobs, attempts: args.attempts },
            screen,
        )
        .await;
    }
    let Found { tasks, mut unusable } = found;
    let model = match (args.baseline, args.recorded) {
        (Some(_), _) => None,
        (None, true) => Some("recorded".to_owned()),
        (None, false) => model(&setup, &agent),
    };
    let heading = Heading {
        agent: agent.clone(),
        model: model.clone(),
        // `./tasks` are `tasks`.
        tasks: path
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect::<PathBuf>()
            .to_string_lossy()
            .into_owned(),
        hob: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let folder = args.results.clone().unwrap_or_else(|| default_results(&path, &agent));
    let mut results = Results::open(&folder, heading).map_err(usage)?;
    if !results.trials().is_empty() {
        output::note(format!("{} already in `{}`", count(results.trials().len(), "trial"), folder.display()));
    }
    let evaluation = Evaluation::new(setup, &shared, &args, By { agent, engine }, screen)?;
    let entries: Vec<Entry> = tasks.into_iter().map(Entry::new).collect();
    let run = Run { jobs, attempts: args.attempts, entries: &entries };
    let mut failed = Vec::new();
    run.go(&evaluation, &shared, &mut results, &mut Left { unusable: &mut unusable, failed: &mut failed }).await?;
    evaluation.screen.close();
    let trials = results.trials();
    // An attempt that was solved before the tests turned out to be unsound is not part of any rate either.
    let is_usable = |trial: &&Trial| !unusable.iter().any(|task| task.task == trial.task);
    let score = Score::new(&trials.iter().filter(is_usable).cloned().collect::<Vec<_>>());
    let end = end(&unusable, &failed);
    if shared.json {
        let (agent, model) = (evaluation.agent.as_str(), model.as_deref());
        json::result(&Report { agent, model, results: folder, score, unusable, failed, trials })?;
    } else {
        let row = (evaluation.agent.clone(), model.unwrap_or_default(), score);
        table(&[row])?;
        output::line(format!("results in `{}`", folder.display()))?;
    }
    end
}

/// Success if each task was judged.
fn end(unusable: &[Unusable], failed: &[Unusable]) -> anyhow::Result<()> {
    let (what, those, hint) = match (failed.first(), unusable.first()) {
        (Some(_), _) => ("did not finish", failed, "run the same command again to continue"),
        (None, Some(_)) => {
            ("not tried", unusable, "leave such tasks out with `--only`, or try them with their own harness")
        }
        (None, None) => return Ok(()),
    };
    let first = those.first().map(|Unusable { task, why }| format!("`{}`: {}", terminal(task), terminal(why)));
    let number = count(those.len(), "task");
    let message = format!("{number} {what}, the first is {}\nhint: {hint}", first.unwrap_or_default());
    Err(fatal(Exit::Unfinished, message))
}

/// Tasks that were not judged.
struct Left<'a> {
    unusable: &'a mut Vec<Unusable>,
    failed: &'a mut Vec<Unusable>,
}

impl Left<'_> {
    /// Adds a task once, however many attempts there were.
    fn add(list: &mut Vec<Unusable>, task: &str, why: String) {
        if !list.iter().any(|known| known.task == task) {
            list.push(Unusable { task: task.to_owned(), why });
        }
    }
}

impl Run<'_> {
    /// Makes all attempts that the results lack, with limited concurrency.
    async fn go(
        &self,
        evaluation: &Evaluation,
        shared: &Shared,
        results: &mut Results,
        left: &mut Left<'_>,
    ) -> anyhow::Result<()> {
        // Attempts of one number first: a run that is cut short has tried as many tasks as it could.
        let all = (1..=self.attempts).flat_map(|attempt| self.entries.iter().map(move |entry| (entry, attempt)));
        let wanted: Vec<(&Entry, u32)> =
            all.filter(|(entry, attempt)| !results.has(&entry.task.name, *attempt)).collect();
        let of = wanted.len();
        let tried = stream::iter(wanted)
            .map(|(entry, attempt)| async move { (entry, attempt, evaluation.attempt(entry, attempt).await) });
        let mut trials = std::pin::pin!(tried.buffer_unordered(self.jobs));
        let mut number = 0;
        while let Some((entry, attempt, tried)) = trials.next().await {
            number += 1;
            let name = &entry.task.name;
            let which =
                if self.attempts == 1 { name.clone() } else { format!("{name} ({attempt} of {})", self.attempts) };
            let says = |text: String| evaluation.screen.line(format!("[{number}/{of}] {which}: {text}"));
            match tried {
                Ok(Tried::Ended(ended)) => {
                    if shared.json {
                        json::event(trial_event(&ended.trial)?)?;
                    } else if evaluation.verbosity != Verbosity::Quiet {
                        says(told(&ended.trial));
                    }
                    results.add(&entry.task, ended.trial, &ended.patch, &ended.output)?;
                }
                Ok(Tried::Unusable(why)) => {
                    says(format!("not tried: {}", terminal(&why)));
                    Left::add(left.unusable, name, why);
                }
                Err(error) => {
                    let why = clip(&error.to_string(), WHY_MAX);
                    if !evaluation.cancel.is_cancelled() {
                        says(format!("did not finish: {}", terminal(&why)));
                    }
                    Left::add(left.failed, name, why);
                }
            }
        }
        Ok(())
    }
}

fn agent(setup: &Setup, args: &TasksArgs) -> anyhow::Result<String> {
    match (&args.agent, args.recorded, args.baseline) {
        (_, _, Some(baseline)) => Ok(baseline.name().to_owned()),
        (Some(name), true, None) if name != NATIVE => {
            Err(fatal(Exit::Usage, format!("recordings are played by the agent `{NATIVE}`, not by `{name}`")))
        }
        (_, true, None) => Ok(NATIVE.to_owned()),
        (Some(name), false, None) => Ok(name.clone()),
        (None, false, None) => Ok(setup.settings.local_agent().to_owned()),
    }
}

/// The agent, if it cannot work in the files of an image: its program is not there. The loop of Hob's own is in Hob's process, and only its
/// commands run there.
fn outsider<'a>(setup: &Setup, args: &TasksArgs, agent: &'a str) -> Option<&'a str> {
    let is_one = match setup.settings.agents.get(agent).map(|own| own.backend) {
        Some(BackendKind::Native | BackendKind::Recipe) => false,
        Some(BackendKind::Command | BackendKind::Acp | BackendKind::Adapter(_)) => true,
        None => agent != NATIVE,
    };
    (is_one && !args.check && args.baseline.is_none()).then_some(agent)
}

/// The model of an agent, as far as the settings say it.
fn model(setup: &Setup, agent: &str) -> Option<String> {
    let own = setup.settings.agents.get(agent);
    let is_native = own.map_or(agent == NATIVE, |own| own.backend == BackendKind::Native);
    let default = setup.settings.model.default.clone().filter(|_| is_native);
    own.and_then(|own| own.model.clone()).or(default)
}

/// Beside the working folder, by the names of tasks and agent.
fn default_results(path: &Path, agent: &str) -> PathBuf {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Path::new("eval-results").join(format!("{name}-{agent}"))
}

fn trial_event(trial: &Trial) -> serde_json::Result<serde_json::Value> {
    let mut event = serde_json::to_value(trial)?;
    event["event"] = "trial".into();
    Ok(event)
}

fn told(trial: &Trial) -> String {
    let verdict = match (trial.solved, trial.limit) {
        (true, _) => output::styled(output::GOOD, "solved"),
        (false, None) => output::styled(output::BAD, "not solved"),
        (false, Some(_)) => output::styled(output::BAD, "not solved, ended by a limit"),
    };
    let turns = if trial.turns == 0 { String::new() } else { format!(", {}", count(trial.turns, "turn")) };
    format!("{verdict}; ${:.4}{turns}, {:.1} s", trial.usd, trial.seconds)
}
