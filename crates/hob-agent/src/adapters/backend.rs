//! Runs a known program on an issue.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use hob_config::{AdapterName, AgentSettings, PriceSettings};
use hob_domain::{FailureClass, RunPurpose, RunReport, RunRequest, Spend};
use hob_process::{Entry, Environment, Folder, Program};
use hob_sandbox::{Plan as HeldTo, Tier};
use tokio::{
    task::{JoinError, spawn_blocking},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentBackend, AgentError, Machine, RunContext,
    adapters::{
        adapter::{Adapter, PROMPT, Plan, Prompt, Situation},
        catalog::adapter,
        controls::hide,
        end::{End, outcome},
        installation::installation,
        parsed_output::ParsedOutput,
        version::check,
    },
    confined::{Confined, in_folder},
    egress::{EgressRules, RunEgress},
    environment::{ARGUMENT_MAX, RUN_TAG, find_program, of_child},
    home::Home,
    native::investigate,
    report::{cancelled, report},
    session::SessionEvent,
};

/// The end of every prompt: how a program that knows nothing of Hob can ask, or report that nothing is to be done.
const CLOSING: &str = "\n\nNobody can answer you while you work. When you are done, write a line \
`Title: …` with what the change does, as an imperative of at most 72 characters, and below it in a few sentences what you \
changed and why. If nothing has to be changed, or you cannot continue without an answer, change nothing and end your last \
message with one line of JSON: {\"outcome\":\"nothing_to_do\",\"reason\":\"…\"} or \
{\"outcome\":\"question\",\"question\":\"…\"}.\n";

/// The end of a planning run's prompt. The brief says what a plan looks like.
const CLOSING_OF_PLAN: &str = "\n\nNobody can answer you while you look. Your last message is the plan, and nothing else. If \
nothing has to be changed, or you cannot plan without an answer, end it with one line of JSON instead: \
{\"outcome\":\"nothing_to_do\",\"reason\":\"…\"} or {\"outcome\":\"question\",\"question\":\"…\"}.\n";

/// The end of a reporting run's prompt. The brief says what a report looks like.
const CLOSING_OF_REPORT: &str = "\n\nNobody can answer you while you look. Your last message is the report, and nothing else. If \
you cannot go on without an answer, end it with one line of JSON instead: {\"outcome\":\"question\",\"question\":\"…\"}.\n";

/// The end of a reviewing run's prompt. The brief says what findings look like.
const CLOSING_OF_REVIEW: &str =
    "\n\nNobody can answer you while you look. Your last message is your findings, and nothing else.\n";

/// The end of a prompt for a program that knows nothing of Hob.
pub(crate) fn closing(purpose: RunPurpose) -> &'static str {
    match purpose {
        RunPurpose::Work => CLOSING,
        // Its brief already says how it ends.
        RunPurpose::Investigate => "",
        RunPurpose::Plan => CLOSING_OF_PLAN,
        RunPurpose::Report => CLOSING_OF_REPORT,
        RunPurpose::Review => CLOSING_OF_REVIEW,
    }
}

/// The paths on the disk that belong to a program.
pub(crate) async fn installed_with(program: &str, environment: &Environment) -> Vec<PathBuf> {
    let value = |name: &str| environment.get(OsStr::new(name)).cloned();
    let (program, folders, home) = (program.to_owned(), value("PATH"), value("HOME"));
    let find = move || installation(&find_program(&program, folders.as_deref())?, home.as_deref().map(Path::new));
    spawn_blocking(find).await.ok().flatten().unwrap_or_default()
}

/// The inputs that an agent is made from, beside its settings.
pub(crate) struct Made<'a> {
    /// Variables of Hob's that may reach an agent.
    pub(crate) variables: &'a Environment,
    /// The hosts and models that its programs reach.
    pub(crate) egress: EgressRules,
    /// The model's price, for a program that reports tokens and no money.
    pub(crate) price: Option<PriceSettings>,
    /// The folder in which homes are made; `None` means the system's temporary folder.
    pub(crate) homes: Option<PathBuf>,
}

/// A known program, configured by the settings.
pub(crate) struct AdapterAgent {
    adapter: &'static Adapter,
    program: String,
    before: Vec<String>,
    model: Option<String>,
    egress: EgressRules,
    price: Option<PriceSettings>,
    homes: Option<PathBuf>,
    /// The limits and approvals of its investigations, and the caps on its output.
    settings: AgentSettings,
}

impl AdapterAgent {
    /// The program `name`, with the settings' own program, arguments, model and variables.
    pub(crate) fn new(name: AdapterName, settings: &AgentSettings, made: Made<'_>) -> Self {
        let adapter = adapter(name);
        let (program, before) = match settings.command.split_first() {
            Some((program, before)) => (program.clone(), before.to_vec()),
            None => (adapter.program.to_owned(), Vec::new()),
        };
        Self {
            adapter,
            program,
            before,
            model: settings.model.clone(),
            egress: made.egress.passing(adapter.variables.iter().copied(), made.variables),
            price: made.price,
            homes: made.homes,
            settings: settings.clone(),
        }
    }

    /// The prefix of the model's name in the names of prices.
    pub(crate) fn prices(name: AdapterName) -> &'static str {
        adapter(name).prices
    }

    /// Checks that a budget of money can be held with its model, and warns where only the tokens are limited.
    fn priced(&self, egress: &RunEgress, request: &RunRequest, context: &RunContext) -> Result<(), AgentError> {
        let named = self.model.as_ref().map(|model| format!("{}{model}", self.adapter.prices));
        let Some(model) = named.filter(|model| request.usd_micros.is_some() && egress.lacks_price(model)) else {
            return Ok(());
        };
        if request.tokens.is_none() {
            return Err(AgentError::unpriced(&model));
        }
        let text = format!(
            "the price of `{model}` is not known, so its cost counts as nothing (`[model.prices.\"{model}\"]`): only \
             `budget.tokens` limits it"
        );
        context.session.add(SessionEvent::Noted { text: text.clone() });
        context.show(text);
        Ok(())
    }

    fn plan(
        &self,
        request: &RunRequest,
        tier: Tier,
        home: &Home,
        egress: &RunEgress,
        prompt: &str,
    ) -> Result<Plan, AgentError> {
        let prompt_file = home.path().join("prompt.md");
        let situation = Situation {
            model: self.model.as_deref(),
            tools: egress.tools.as_deref(),
            services: &egress.services,
            variables: &egress.variables,
            tier,
            home: home.path(),
            prompt_file: &prompt_file,
            usd_micros: request.usd_micros,
            searches: self.settings.allow.iter().any(|name| name == "web_search"),
        };
        let mut plan = (self.adapter.plan)(&situation);
        match self.adapter.prompt {
            Prompt::Stdin => {}
            Prompt::File => plan.files.push(("prompt.md".into(), prompt.to_owned())),
            Prompt::Argument => {
                if prompt.len() > ARGUMENT_MAX {
                    let reason =
                        format!("the prompt has {} bytes, too many for `{}`", prompt.len(), self.adapter.program);
                    return Err(AgentError::new(FailureClass::NeedsHuman, reason));
                }
                for argument in plan.arguments.iter_mut().filter(|argument| *argument == PROMPT) {
                    prompt.clone_into(argument);
                }
            }
        }
        Ok(plan)
    }

    /// The command of the program, and the parser of its output.
    fn program(&self, request: &RunRequest, context: &RunContext, run: &Run, plan: Plan, prompt: &str) -> Program {
        let (read, parsed, end, watcher) =
            (self.adapter.read, Arc::clone(&run.parsed), run.end.clone(), context.clone());
        let (price, is_measured) = (self.price, run.egress.measures());
        let mut program = run
            .confined
            .agent(&run.program, request)
            .args(&self.before)
            .args(plan.arguments)
            .tag(RUN_TAG, &run.home.path().display().to_string())
            .deadline(request.time)
            .output_cap(self.settings.output_cap)
            .watch_data(move |line| {
                watcher.alive();
                let mut parsed = parsed.lock().unwrap_or_else(PoisonError::into_inner);
                // Output on its way out would hide why it was ended.
                if parsed.abort {
                    return;
                }
                let before = parsed.usage;
                let progress = read(line, &mut parsed);
                if parsed.usage != before && !is_measured {
                    watcher.spent(spend(&parsed, price.as_ref()));
                }
                if parsed.abort {
                    end.cancel();
                }
                let checklist = parsed.checklist.take();
                drop(parsed);
                if let Some(checklist) = checklist {
                    watcher.checklist(checklist);
                }
                if let Some(progress) = progress {
                    watcher.say(progress.replace(char::is_control, " "));
                }
            });
        for (name, value) in plan.environment {
            program = program.env(name, value);
        }
        match self.adapter.prompt {
            Prompt::Stdin => program.stdin(prompt.as_bytes()),
            Prompt::File | Prompt::Argument => program,
        }
    }
}

/// The spend of a run by its output; `price` is used if the program does not report money.
fn spend(parsed: &ParsedOutput, price: Option<&PriceSettings>) -> Spend {
    let priced = || price.map_or(0, |price| parsed.usage.cost(price));
    Spend {
        usd_micros: parsed.usd_micros.unwrap_or_else(priced),
        input_tokens: parsed.usage.input,
        output_tokens: parsed.usage.output,
        wall_seconds: 0,
    }
}

/// One run under way.
struct Run {
    program: PathBuf,
    home: Home,
    confined: Confined,
    egress: RunEgress,
    parsed: Arc<Mutex<ParsedOutput>>,
    /// Ends the program, not the worker's attempt.
    end: tokio_util::sync::CancellationToken,
}

#[async_trait::async_trait]
impl AgentBackend for AdapterAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        if let Some(case) = &request.investigation {
            return Box::pin(investigate(self, self.adapter.speaks, &self.settings, request, case, context)).await;
        }
        let egress = self.egress.open(context, request).await?;
        self.priced(&egress, request, context)?;
        let home = Home::create(self.homes.clone(), context.sandbox.template()).await.map_err(no_home)?;
        let mut environment = of_child(context, &egress);
        environment.insert("NO_COLOR".into(), "1".into());
        let plan = in_folder(context.sandbox.plan(), &request.folder, request.purpose).network(egress.network.clone());
        let plan = installed_with(&self.program, &environment).await.into_iter().fold(plan, HeldTo::reads);
        let mut confined = Confined { plan, environment }.at(&home);
        let version = check(self.adapter, &self.program, &confined, &context.cancel).await;
        if context.cancel.is_cancelled() {
            return Ok(report(cancelled(), Spend::default(), Instant::now()));
        }
        let (program, version) = version.map_err(AgentError::misconfigured)?;
        let name = self.adapter.program;
        context.say(format!("{name} {version} works on {}", request.issue.in_words()));
        // No argument can contain a zero byte.
        let prompt = format!("{}{}", request.brief, closing(request.purpose)).replace('\0', "");
        let mut plan = self.plan(request, context.sandbox.tier(), &home, &egress, &prompt)?;
        home.write(std::mem::take(&mut plan.files)).await.map_err(no_home)?;
        confined.plan = hide(self.adapter.controls, &request.folder, &home, confined.plan).map_err(no_settings)?;
        let run = Run { program, home, confined, egress, parsed: Arc::default(), end: context.cancel.child_token() };
        let (adapter, folder) = (self.adapter, request.folder.clone());
        let litter_before = spawn_blocking(move || litter(adapter, &folder)).await.map_err(broken)?;
        let program = self.program(request, context, &run, plan, &prompt);
        let started = Instant::now();
        let (finished, ended) = run.egress.beside(program.run(&run.end), &run.end, context).await;
        let measured = run.egress.close().await;
        let finished = finished.map_err(AgentError::misconfigured)?;
        let parsed = run.parsed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (folder, home) = (request.folder.clone(), run.home.path().to_owned());
        let parsed = spawn_blocking(move || after(adapter, parsed, &home, &folder, &litter_before));
        let parsed = parsed.await.map_err(broken)?;
        run.home.remove().await;
        let time = (request.time, request.time_setting);
        let end = ended.unwrap_or_else(|| outcome(&End { name, parsed: &parsed, finished: &finished, time }));
        let told = spend(&parsed, self.price.as_ref());
        Ok(report(end, measured.map_or(told, |measured| measured.spend(Some(told.usd_micros))), started))
    }

    async fn ready(&self, machine: &Machine<'_>) -> Result<(), AgentError> {
        let never = CancellationToken::new();
        let plan = self.egress.plan_of_look(machine.sandbox)?;
        let plan = installed_with(&self.program, machine.environment).await.into_iter().fold(plan, HeldTo::reads);
        let confined = Confined { plan, environment: machine.environment.clone() };
        let found = check(self.adapter, &self.program, &confined, &never).await;
        found.map(drop).map_err(AgentError::misconfigured)
    }

    fn service(&self) -> Option<String> {
        let model = self.model.as_ref().map(|model| format!(" with `{model}`")).unwrap_or_default();
        Some(format!("the service of `{}`{model}", self.adapter.program))
    }

    fn model(&self, _candidate: u32) -> Option<String> {
        self.model.clone()
    }

    fn investigates(&self) -> bool {
        true
    }
}

fn no_home(error: io::Error) -> AgentError {
    AgentError::caused_by(FailureClass::Unfinished, error).during("make a home for the agent")
}

fn no_settings(error: io::Error) -> AgentError {
    AgentError::caused_by(FailureClass::NeedsHuman, error).during("keep the repository's settings from the agent")
}

fn broken(error: JoinError) -> AgentError {
    AgentError::caused_by(FailureClass::Unfinished, error).during("work on the agent's files")
}

/// Reads what the program left in its home, and removes its own files from the folder.
fn after(
    adapter: &Adapter,
    mut parsed: ParsedOutput,
    home: &Path,
    folder: &Path,
    litter_before: &BTreeSet<OsString>,
) -> ParsedOutput {
    if let Some(after) = adapter.after {
        after(home, &mut parsed);
    }
    sweep(adapter, folder, litter_before);
    parsed
}

/// Entries at the top of the folder with names that the program uses for itself.
fn litter(adapter: &Adapter, folder: &Path) -> BTreeSet<OsString> {
    let of_program = |entry: &Entry| {
        let name = entry.name();
        adapter.litter.iter().any(|beginning| name.as_bytes().starts_with(beginning.as_bytes()))
    };
    let entries = Folder::open(folder).and_then(|folder| folder.entries()).unwrap_or_default();
    entries.iter().filter(|entry| of_program(entry)).map(Entry::name).collect()
}

/// Removes new files that the program left in the folder for its own use.
fn sweep(adapter: &Adapter, folder: &Path, before: &BTreeSet<OsString>) {
    for name in litter(adapter, folder).difference(before) {
        if let Err(error) = Folder::open(folder).and_then(|folder| folder.removes(name)) {
            let name = name.display();
            tracing::warn!(%name, %error, "what an agent left could not be removed: {error}");
        }
    }
}
