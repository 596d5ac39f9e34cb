//! The egress of a run: routes to models instead of their keys, and listed hosts.
//!
//! - Flow: settings and variables make [`EgressRules`]; a run opens its [`RunEgress`], gives its programs the
//!   variables, addresses and network of it, and works beside it.
//! - Guarantees: a program never gets a key that has a route, but a placeholder and the route's address. The most that a
//!   request can cost is taken out of the budget, and noted in session and ledger, before it is sent; the run ends with its budget,
//!   and with the proxy.
//! - Caveats: a key without a route reaches the program if the program could use it: with an open network or listed
//!   hosts.

use std::{collections::BTreeSet, ffi::OsStr, future::Future, sync::Arc};

use hob_config::{AgentSettings, ModelSettings, may_pass};
use hob_domain::{FailureClass, Outcome, RunRequest};
use hob_egress::{Api, Asked, Auth, Budget, Egress, EgressConfig, Host, InvalidHost, Listen, OnLine, Route};
use hob_process::Environment;
use hob_sandbox::{Network, Plan, Sandbox, Tier, probe};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    AgentError, RunContext,
    measured::{Measured, Prices, measured},
    noted::Noted,
    report::{needs_human, unfinished},
};

/// The placeholder that a program gets instead of a key.
const PLACEHOLDER: &str = "hob-adds-the-key";
/// The port of a box's loopback that leads to the proxy.
const PORT: u16 = 8118;
/// Keys that no route adds: their services have interfaces of their own.
const WITHOUT_ROUTE: [&str; 2] = ["COPILOT_GITHUB_TOKEN", "OPENCODE_API_KEY"];
/// Variables of the machine's own proxies, which may contain passwords.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/// A service that Hob has a route to.
struct Service {
    name: &'static str,
    api: Api,
    /// Its address if none is set.
    upstream: &'static str,
    /// The variable that leads programs to it.
    address: &'static str,
    /// The variables of its keys, the first that is set counts, and how each signs in.
    keys: &'static [(&'static str, SignsIn)],
}

/// How a key signs in.
type SignsIn = fn(SecretString) -> Auth;

const SERVICES: [Service; 3] = [
    Service {
        name: "anthropic",
        api: Api::Anthropic,
        upstream: "https://api.anthropic.com",
        address: "ANTHROPIC_BASE_URL",
        keys: &[
            ("ANTHROPIC_API_KEY", Auth::XApiKey),
            ("ANTHROPIC_AUTH_TOKEN", Auth::Bearer),
            ("CLAUDE_CODE_OAUTH_TOKEN", Auth::Bearer),
        ],
    },
    Service {
        name: "openai",
        api: Api::OpenAi,
        upstream: "https://api.openai.com/v1",
        address: "OPENAI_BASE_URL",
        keys: &[("OPENAI_API_KEY", Auth::Bearer)],
    },
    Service {
        name: "gemini",
        api: Api::Gemini,
        upstream: "https://generativelanguage.googleapis.com",
        address: "GOOGLE_GEMINI_BASE_URL",
        keys: &[("GEMINI_API_KEY", Auth::XGoogApiKey)],
    },
];

/// Before a host that the operator knows to be on a private network, such as a company's registry. A name alone is not enough: who
/// decides what it resolves to could lead an agent to any server inside.
const PRIVATE: &str = "private:";

/// A proxy on this machine that reaches `hosts` alone, until `cancel`.
///
/// # Errors
/// [`AgentError`] when a host is none, or it cannot listen.
pub(crate) async fn proxy_to(hosts: &[String], cancel: &CancellationToken) -> Result<Egress, AgentError> {
    let EgressRules { hosts, private_hosts, .. } = EgressRules::to_hosts(hosts)?;
    let config = EgressConfig { hosts, private_hosts, ..EgressConfig::default() };
    Egress::start(config, Listen::Loopback, cancel.clone()).await.map_err(broken)
}

/// The addresses of models' services, as far as the settings name them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Services {
    /// OpenAI's interface, with its version.
    pub(crate) openai: Option<String>,
    /// Anthropic's interface, without its version.
    pub(crate) anthropic: Option<String>,
    /// Gemini's interface, without its version.
    pub(crate) gemini: Option<String>,
}

impl Services {
    fn of(&self, service: &Service) -> Option<&String> {
        match service.api {
            Api::Anthropic => self.anthropic.as_ref(),
            Api::OpenAi => self.openai.as_ref(),
            Api::Gemini => self.gemini.as_ref(),
        }
    }

    fn set(&mut self, service: &Service, address: String) {
        match service.api {
            Api::Anthropic => self.anthropic = Some(address),
            Api::OpenAi => self.openai = Some(address),
            Api::Gemini => self.gemini = Some(address),
        }
    }
}

/// The hosts and models that the programs of an agent may reach, by its settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct EgressRules {
    /// Hosts of the internet.
    hosts: Vec<Host>,
    /// Addresses of this machine or its network.
    private_hosts: Vec<Host>,
    /// The variables that they get, by the names that the settings have, and those that are set.
    names: BTreeSet<String>,
    variables: Environment,
    /// What passes to models' services beside the usual.
    allow: BTreeSet<String>,
    /// The services that they ask themselves; `None` if Hob asks models for them, so that they get no key.
    models: Option<(Services, Arc<ModelSettings>)>,
}

/// What of a run hears of its programs' requests.
#[derive(Default)]
struct Answering {
    /// The run's own tools.
    tools: Option<mpsc::Sender<Asked>>,
    /// The callback for each connection.
    on_line: Option<OnLine>,
}

impl EgressRules {
    /// The rules of `settings`, with the `variables` that they name and that may be passed on.
    ///
    /// # Errors
    /// Why a host is invalid.
    pub(crate) fn new(settings: &AgentSettings, variables: &Environment) -> Result<Self, AgentError> {
        let names = settings.env.iter().filter(|name| may_pass(name));
        let mut rules = Self::default().passing(names.map(String::as_str), variables);
        rules.list(&settings.hosts)?;
        rules.allow = settings.allow.iter().cloned().collect();
        Ok(rules)
    }

    /// Rules that allow only `hosts`.
    ///
    /// # Errors
    /// Why a host is invalid.
    pub(crate) fn to_hosts(hosts: &[String]) -> Result<Self, AgentError> {
        let mut rules = Self::default();
        rules.list(hosts)?;
        Ok(rules)
    }

    fn list(&mut self, hosts: &[String]) -> Result<(), AgentError> {
        for text in hosts {
            let bad = |error: InvalidHost| AgentError::misconfigured(error).during(format_args!("`{text}` in `hosts`"));
            if let Some(named) = text.strip_prefix(PRIVATE) {
                self.private_hosts.push(Host::private(named).map_err(bad)?);
                continue;
            }
            match text.parse() {
                Ok(host) => self.hosts.push(host),
                // An address that is named explicitly is meant, even a private one.
                Err(InvalidHost::Literal) => self.private_hosts.push(Host::private(text).map_err(bad)?),
                Err(error) => return Err(bad(error)),
            }
        }
        Ok(())
    }

    /// Passes those of `variables` on that `names` names.
    #[must_use]
    pub(crate) fn passing<'a>(mut self, names: impl Iterator<Item = &'a str>, variables: &Environment) -> Self {
        for name in names {
            if let Some((name, value)) = variables.get_key_value(OsStr::new(name)) {
                self.variables.insert(name.clone(), value.clone());
            }
            self.names.insert(name.to_owned());
        }
        self
    }

    /// Lets the programs ask models themselves, at `services`.
    #[must_use]
    pub(crate) fn asking(self, services: Services, settings: Arc<ModelSettings>) -> Self {
        Self { models: Some((services, settings)), ..self }
    }

    /// Whether its programs can only be run in a box, as they reach a proxy.
    fn needs_box(&self, sandbox: &Sandbox) -> bool {
        is_closed(sandbox) && (self.lists_hosts() || !self.routes().is_empty())
    }

    /// The plan for checking one of its programs, without network, but in the same sandbox as a run.
    ///
    /// # Errors
    /// What the machine lacks, and what to do.
    pub(crate) fn plan_of_look(&self, sandbox: &Sandbox) -> Result<Plan, AgentError> {
        if self.needs_box(sandbox) { Ok(boxed(sandbox)?.in_a_box()) } else { Ok(sandbox.plan()) }
    }

    fn lists_hosts(&self) -> bool {
        !self.hosts.is_empty() || !self.private_hosts.is_empty()
    }

    /// A route for each service that its programs may use, if a key or an address of it is set.
    fn routes(&self) -> Vec<(&'static Service, Route)> {
        let Some((services, _)) = &self.models else { return Vec::new() };
        let route = |service: &'static Service| {
            if !service.keys.iter().any(|(name, _)| self.names.contains(*name)) {
                return None;
            }
            let key = service.keys.iter().find_map(|(name, auth)| {
                let key = self.variables.get(OsStr::new(name))?.to_str().filter(|key| !key.trim().is_empty())?;
                Some(auth(key.to_owned().into()))
            });
            let address = services.of(service);
            let upstream: Url = address.map_or(service.upstream, String::as_str).parse().ok()?;
            let auth = match (key, address) {
                (Some(auth), _) => auth,
                (None, Some(_)) => Auth::None,
                (None, None) => return None,
            };
            Some((service, Route { name: service.name.to_owned(), api: service.api, upstream, auth }))
        };
        SERVICES.iter().filter_map(route).collect()
    }

    /// Opens the egress of one run, within the limits of `request`.
    ///
    /// # Errors
    /// [`AgentError`] when the machine lacks what it needs.
    pub(crate) async fn open(&self, context: &RunContext, request: &RunRequest) -> Result<RunEgress, AgentError> {
        let limits = Limits { usd_micros: request.usd_micros, tokens: request.tokens };
        let answering = Answering { tools: context.tools.clone(), on_line: Some(context.reached.counting()) };
        let place = Place { sandbox: &context.sandbox, cancel: &context.cancel, noted: context.noted() };
        self.open_answering(answering, place, limits).await
    }

    /// Opens it for programs in `sandbox`, until `cancel`.
    ///
    /// # Errors
    /// [`AgentError`] when the machine lacks what it needs.
    pub(crate) async fn open_in(
        &self,
        sandbox: &Sandbox,
        cancel: &CancellationToken,
        limits: Limits,
    ) -> Result<RunEgress, AgentError> {
        let place = Place { sandbox, cancel, noted: Noted::default() };
        self.open_answering(Answering::default(), place, limits).await
    }

    /// The same with Hob's own tools behind the same server: a program reaches them in any sandbox in which it reaches
    /// its model. A program of Hob's inside the sandbox, with a socket back to the run, would be one more thing to bind
    /// into each tier.
    async fn open_answering(
        &self,
        Answering { tools, on_line }: Answering,
        Place { sandbox, cancel, noted }: Place<'_>,
        Limits { usd_micros, tokens }: Limits,
    ) -> Result<RunEgress, AgentError> {
        let (is_closed, routes) = (is_closed(sandbox), self.routes());
        let mut variables = self.variables.clone();
        let reaches = !is_closed || self.lists_hosts();
        variables.retain(|name, _| !has_route(name) && (reaches || !WITHOUT_ROUTE.iter().any(|key| name == *key)));
        if routes.is_empty() && tools.is_none() && (!is_closed || !self.lists_hosts()) {
            let network = sandbox.network().clone();
            return Ok(RunEgress {
                open: None,
                variables,
                services: Services::default(),
                tools: None,
                network,
                tokens,
            });
        }
        let settings = self.models.as_ref().map(|(_, settings)| Arc::clone(settings)).unwrap_or_default();
        let prices = Prices::new(settings, routes.iter().map(|(_, route)| route));
        let known = prices.clone();
        let budget = Some(noted.in_budget(Budget::new(usd_micros, move |model| known.in_budget(model, tokens))));
        let (socket, listen) = if is_closed {
            boxed(sandbox)?;
            let folder = tempfile::Builder::new().prefix("hob-").tempdir().map_err(broken)?;
            let path = folder.path().join("egress");
            (Some((folder, path.clone())), Listen::Unix(path))
        } else {
            (None, Listen::Loopback)
        };
        let config = EgressConfig {
            hosts: self.hosts.clone(),
            private_hosts: self.private_hosts.clone(),
            routes: routes.iter().map(|(_, route)| route.clone()).collect(),
            budget,
            allow: self.allow.clone(),
            asked: tools,
            on_line,
            ..EgressConfig::default()
        };
        let egress = Egress::start(config, listen, cancel.clone()).await.map_err(broken)?;
        let (network, base) = match (&socket, egress.proxy_url()) {
            (Some((_, path)), _) => {
                (Network::Proxy { socket: path.clone(), port: PORT }, format!("http://127.0.0.1:{PORT}"))
            }
            (None, base) => (sandbox.network().clone(), base.unwrap_or_default()),
        };
        if is_closed && self.lists_hosts() {
            let ways = [("HTTP_PROXY", base.as_str()), ("HTTPS_PROXY", &base), ("NO_PROXY", "127.0.0.1,localhost")];
            for (name, value) in ways {
                variables.insert(name.into(), value.into());
                variables.insert(name.to_ascii_lowercase().into(), value.into());
            }
        }
        let mut services = Services::default();
        for (service, route) in &routes {
            let address = format!("{base}{}", egress.route_path(&route.name).unwrap_or_default());
            variables.insert(service.address.into(), address.clone().into());
            let key = service.keys.iter().find(|(name, _)| self.variables.contains_key(OsStr::new(name)));
            let key = key.or(service.keys.first()).map_or("", |(name, _)| name);
            variables.insert(key.into(), PLACEHOLDER.into());
            services.set(service, address);
        }
        let tools = egress.own_path().map(|path| format!("{base}{path}"));
        let open = Some(Open { egress, prices, _socket: socket.map(|(folder, _)| folder) });
        Ok(RunEgress { open, variables, services, tools, network, tokens })
    }
}

/// Whether programs reach nothing by themselves.
pub(crate) fn is_closed(sandbox: &Sandbox) -> bool {
    sandbox.tier() != Tier::None && *sandbox.network() != Network::Open
}

/// A plan, on a machine that has the tier `box`.
fn boxed(sandbox: &Sandbox) -> Result<Plan, AgentError> {
    match probe(Tier::Box).missing {
        None => Ok(sandbox.plan()),
        Some(missing) => Err(AgentError::setup(format!(
            "its programs need a way to their models or hosts, which only the tier `box` gives: {missing}; or let them \
             reach the whole network by `sandbox.network = \"open\"`"
        ))),
    }
}

/// Whether the variable holds a key that a route adds.
fn has_route(name: &OsStr) -> bool {
    SERVICES.iter().any(|service| name == service.address || service.keys.iter().any(|(key, _)| name == *key))
}

fn broken(error: std::io::Error) -> AgentError {
    AgentError::caused_by(FailureClass::Unfinished, error).during("open the egress of the run")
}

/// Where a run works.
struct Place<'a> {
    sandbox: &'a Sandbox,
    cancel: &'a CancellationToken,
    noted: Noted,
}

/// The limits on a run's use of models; `None` means no limit.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Limits {
    usd_micros: Option<u64>,
    tokens: Option<u64>,
}

/// The egress of one run. Dropping it closes it.
#[derive(Debug)]
pub struct RunEgress {
    open: Option<Open>,
    /// The variables that the settings name, with placeholders and addresses.
    pub(crate) variables: Environment,
    /// The addresses of models for the programs.
    pub(crate) services: Services,
    /// The address of Hob's own tools for them, as an MCP server; `None` if they have none.
    pub(crate) tools: Option<String>,
    /// The network of the programs.
    pub(crate) network: Network,
    /// Tokens that the run may use; `None` means no limit.
    tokens: Option<u64>,
}

#[derive(Debug)]
struct Open {
    egress: Egress,
    prices: Prices,
    _socket: Option<TempDir>,
}

impl RunEgress {
    /// `environment` with the variables of this egress, and without those of the machine's that lead elsewhere.
    pub(crate) fn environment(&self, mut environment: Environment) -> Environment {
        if !matches!(self.network, Network::Open) {
            environment.retain(|name, _| !PROXIES.iter().any(|proxy| name == *proxy));
        }
        environment.extend(self.variables.clone());
        environment
    }

    /// What was refused so far, as `HOST: REASON`.
    pub fn refused(&self) -> impl Iterator<Item = String> {
        let denied = self.open.as_ref().map(|open| open.egress.denied()).unwrap_or_default();
        denied.into_iter().map(|(host, reason)| format!("{host}: {reason}"))
    }

    /// Whether a way to the model `name`, as in the names of prices, is open, and its price is not known.
    pub(crate) fn lacks_price(&self, name: &str) -> bool {
        self.measures() && self.open.as_ref().is_some_and(|open| open.prices.get(name).is_none())
    }

    /// Whether what models cost is measured.
    pub(crate) fn measures(&self) -> bool {
        self.services.openai.is_some() || self.services.anthropic.is_some() || self.services.gemini.is_some()
    }

    /// The cost of models so far; `None` if no route was used.
    pub(crate) fn measured(&self) -> Option<Measured> {
        let open = self.open.as_ref()?;
        measured(&open.egress.meter().read(), &open.prices)
    }

    /// Works beside the proxy. `cancel` ends the work once a limit is reached, or when the proxy breaks; then the
    /// outcome is returned, too.
    pub(crate) async fn beside<T>(
        &self,
        work: impl Future<Output = T>,
        cancel: &CancellationToken,
        context: &RunContext,
    ) -> (T, Option<Outcome>) {
        let mut work = std::pin::pin!(work);
        let Some(Open { egress, prices, .. }) = &self.open else { return (work.await, None) };
        let (mut counts, exhausted, ended) = (egress.meter().watch(), egress.meter().exhausted(), egress.ended());
        let mut end = None;
        loop {
            let why = tokio::select! {
                done = &mut work => return (done, end),
                () = exhausted.cancelled(), if end.is_none() => needs_human(self.out_of_money()),
                () = ended.cancelled(), if end.is_none() && !context.cancel.is_cancelled() => {
                    unfinished("the proxy of the agent broke")
                }
                changed = counts.changed(), if end.is_none() => {
                    let now = changed.ok().and_then(|()| measured(&counts.borrow_and_update(), prices));
                    let Some(now) = now else { continue };
                    context.spent(now.spend(None));
                    if self.tokens.is_none_or(|limit| now.spend(None).tokens() < limit) {
                        continue;
                    }
                    needs_human(self.spent("the tokens of the attempt are used up"))
                }
            };
            end = Some(why);
            cancel.cancel();
        }
    }

    /// Why the budget ended the run.
    fn out_of_money(&self) -> String {
        let spent = self.spent("the budget of the run is spent");
        let refused = self.open.as_ref().and_then(|open| open.egress.meter().read().refused);
        refused.map_or(spent.clone(), |too_much| format!("{spent}: {too_much}"))
    }

    fn spent(&self, what: &str) -> String {
        let spent = self.measured().map(|measured| measured.spend(None)).unwrap_or_default();
        format!("{what} ({spent}) and the agent was not done")
    }

    /// Closes it, and waits until nothing listens any more and each request has its cost; returns the cost of models,
    /// `None` if no route was used.
    pub(crate) async fn close(self) -> Option<Measured> {
        let Open { egress, prices, .. } = self.open?;
        let meter = egress.meter().clone();
        egress.end().await;
        measured(&meter.read(), &prices)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Attack corpus F74: the proxy alone ends, as after a failure. The work would go on for ever.
    #[tokio::test]
    async fn work_ends_with_its_proxy() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let (progress, _lines) = mpsc::channel(1);
        let context = RunContext::new(CancellationToken::new(), progress, Environment::new(), Sandbox::none());
        let egress = Egress::start(EgressConfig::default(), Listen::Loopback, context.cancel.clone()).await.unwrap();
        let proxy = egress.ended();
        let open = Some(Open { egress, prices: Prices::new(Arc::default(), [].iter()), _socket: None });
        let (variables, services) = (Environment::new(), Services::default());
        let run = RunEgress { open, variables, services, tools: None, network: Network::None, tokens: None };
        let end = context.cancel.child_token();
        let work = async {
            proxy.cancel();
            end.cancelled().await;
        };
        let (_, outcome) = tokio::time::timeout(PATIENCE, run.beside(work, &end, &context)).await.unwrap();
        assert_eq!(outcome, Some(unfinished("the proxy of the agent broke")));
        assert!(!context.cancel.is_cancelled(), "of this run alone");
    }
}
