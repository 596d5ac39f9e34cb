//! The rulesets of a repository: everyone who may read it sees them, admins change them.

use serde_json::{Map, Value};

use super::super::{
    branch_guard::mover,
    branch_rules::{BranchRules, RequiredCheck, RequiredChecks, RequiredReviews},
    call::{Answer, Call, Reply},
    fields::Fields,
    page::paged,
    refusal::Refusal,
    route::{Route, delete, get, post, put},
    rulesets::{BypassActor, Enforcement, Rules, Ruleset, is_pattern},
    users::Role,
    wire,
};

/// The most approvals that a rule can require.
const REVIEWS_MAX: u64 = 10;
const BODY: &[&str] = &[
    "name",
    "target",
    "enforcement",
    "bypass_actors",
    "conditions",
    "conditions.ref_name",
    "conditions.ref_name.include",
    "conditions.ref_name.exclude",
    "rules",
    "rules.type",
    "rules.parameters",
];
const RESOURCE: &str = "RepositoryRuleset";

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/rulesets", list).query(&["includes_parents", "targets"]),
    post("/repos/{owner}/{repo}/rulesets", create).body(BODY),
    get("/repos/{owner}/{repo}/rulesets/{id}", show).query(&["includes_parents"]),
    put("/repos/{owner}/{repo}/rulesets/{id}", update).body(BODY),
    delete("/repos/{owner}/{repo}/rulesets/{id}", remove),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let of_branches = call.query("targets").is_none_or(|targets| targets.split(',').any(|target| target == "branch"));
    let view = call.view(&state)?;
    let all: Vec<_> = repo.rulesets.iter().filter(|_| of_branches).collect();
    Ok(paged(call, all, |ruleset| wire::ruleset(view, ruleset)))
}

fn show(call: &Call) -> Answer {
    let id = call.number("id")?;
    whole(call, id).map(Reply::ok)
}

/// A ruleset with its rules, as the caller sees it.
fn whole(call: &Call, id: u64) -> Result<Value, Refusal> {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let ruleset = repo.rulesets.iter().find(|ruleset| ruleset.id == id).ok_or_else(Refusal::not_found)?;
    let mover = mover(&call.forge, &state.accounts, call.caller.as_ref(), call.role(&state, repo));
    Ok(wire::whole_ruleset(call.view(&state)?, ruleset, mover))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields(RESOURCE)?;
    let id = call.forge.next_id();
    let mut ruleset = Ruleset::of_branch(id, &fields.required("name")?, BranchRules::default(), call.now);
    ruleset.include.clear();
    if !fields.has("enforcement") {
        return Err(fields.missing("enforcement"));
    }
    keep(call, &fields, ruleset)?;
    Ok(Reply::created(whole(call, id)?))
}

fn update(call: &Call) -> Answer {
    let (fields, id) = (call.fields(RESOURCE)?, call.number("id")?);
    let ruleset = {
        let state = call.state();
        let repo = call.repository(&state, Role::Admin)?;
        repo.rulesets.iter().find(|ruleset| ruleset.id == id).ok_or_else(Refusal::not_found)?.clone()
    };
    keep(call, &fields, Ruleset { updated_at: call.now, ..ruleset })?;
    whole(call, id).map(Reply::ok)
}

fn remove(call: &Call) -> Answer {
    let id = call.number("id")?;
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    let before = repo.rulesets.len();
    repo.rulesets.retain(|ruleset| ruleset.id != id);
    if repo.rulesets.len() == before { Err(Refusal::not_found()) } else { Ok(Reply::empty()) }
}

/// Keeps a ruleset with what was sent of it, in place of the one with its id.
fn keep(call: &Call, fields: &Fields, mut ruleset: Ruleset) -> Result<(), Refusal> {
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    read(fields, &mut ruleset)?;
    if repo.rulesets.iter().any(|other| other.id != ruleset.id && other.name == ruleset.name) {
        return Err(Refusal::invalid_because("Name must be unique"));
    }
    match repo.rulesets.iter_mut().find(|known| known.id == ruleset.id) {
        Some(known) => *known = ruleset,
        None => repo.rulesets.push(ruleset),
    }
    Ok(())
}

fn read(fields: &Fields, ruleset: &mut Ruleset) -> Result<(), Refusal> {
    if fields.has("name") {
        ruleset.name = fields.required("name")?;
    }
    if let Some(target) = fields.text("target")?.filter(|target| target != "branch") {
        return Err(unobeyed("target", &target));
    }
    if let Some(sent) = fields.raw("enforcement") {
        ruleset.enforcement = value::<Enforcement>(fields, "enforcement", sent)?;
    }
    if let Some(sent) = fields.raw("bypass_actors").filter(|sent| !sent.is_null()) {
        ruleset.bypass_actors = actors(fields, sent)?;
    }
    if let Some(sent) = fields.raw("conditions").filter(|sent| !sent.is_null()) {
        let names = |list: &str| {
            let sent = &sent["ref_name"][list];
            let names: Vec<String> = if sent.is_null() { Vec::new() } else { value(fields, "conditions", sent)? };
            match names.iter().find(|name| !is_pattern(name)) {
                Some(name) => Err(Refusal::invalid_because(&format!("Invalid target patterns: '{name}'"))),
                None => Ok(names),
            }
        };
        (ruleset.include, ruleset.exclude) = (names("include")?, names("exclude")?);
    }
    if let Some(sent) = fields.raw("rules").filter(|sent| !sent.is_null()) {
        ruleset.rules = rules(fields, sent)?;
    }
    Ok(())
}

fn actors(fields: &Fields, sent: &Value) -> Result<Vec<BypassActor>, Refusal> {
    let list = sent.as_array().ok_or_else(|| fields.invalid("bypass_actors"))?;
    let one = |sent: &Value| {
        let kind = sent["actor_type"].as_str().unwrap_or_default();
        match kind {
            "Integration" | "RepositoryRole" => {}
            "OrganizationAdmin" | "Team" | "DeployKey" | "User" => return Err(unobeyed("actor", kind)),
            _ => return Err(fields.invalid("bypass_actors")),
        }
        let actor: BypassActor = value(fields, "bypass_actors", sent)?;
        if kind == "RepositoryRole" && actor.role().is_none() {
            return Err(fields.invalid("bypass_actors"));
        }
        Ok(actor)
    };
    list.iter().map(one).collect()
}

fn rules(fields: &Fields, sent: &Value) -> Result<Rules, Refusal> {
    let mut rules = Rules::default();
    let none = Map::new();
    for rule in sent.as_array().ok_or_else(|| fields.invalid("rules"))? {
        let kind = rule["type"].as_str().ok_or_else(|| fields.invalid("rules"))?;
        let parameters = Parameters { kind, sent: rule["parameters"].as_object().unwrap_or(&none) };
        match kind {
            "creation" => rules.creation = true,
            "update" if parameters.flag("update_allows_fetch_and_merge") => {
                return Err(unobeyed("parameter", "update_allows_fetch_and_merge"));
            }
            "update" => rules.update = true,
            "deletion" => rules.deletion = true,
            "non_fast_forward" => rules.non_fast_forward = true,
            "required_linear_history" => rules.merging.required_linear_history = true,
            "required_signatures" => rules.merging.required_signatures = true,
            "required_status_checks" => {
                rules.do_not_enforce_on_create = parameters.flag("do_not_enforce_on_create");
                rules.merging.required_status_checks = Some(parameters.checks()?);
            }
            "pull_request" => {
                rules.merging.required_pull_request_reviews = Some(parameters.reviews()?);
                rules.merging.required_conversation_resolution = parameters.flag("required_review_thread_resolution");
            }
            other => return Err(unobeyed("rule", other)),
        }
    }
    Ok(rules)
}

/// The parameters of one rule.
struct Parameters<'a> {
    kind: &'a str,
    sent: &'a Map<String, Value>,
}

impl Parameters<'_> {
    fn flag(&self, name: &str) -> bool {
        self.sent.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn checks(&self) -> Result<RequiredChecks, Refusal> {
        let list = self.sent.get("required_status_checks").and_then(Value::as_array);
        let strict = self.sent.get("strict_required_status_checks_policy").and_then(Value::as_bool);
        let (Some(list), Some(strict)) = (list, strict) else { return Err(self.invalid()) };
        let one = |sent: &Value| {
            let context = sent["context"].as_str().filter(|context| !context.is_empty());
            let context = context.ok_or_else(|| self.invalid())?.to_owned();
            Ok(RequiredCheck { context, app_id: sent["integration_id"].as_u64() })
        };
        let checks = list.iter().map(one).collect::<Result<_, Refusal>>()?;
        Ok(RequiredChecks { strict, checks, contexts: Vec::new() })
    }

    fn reviews(&self) -> Result<RequiredReviews, Refusal> {
        const NEVER: [&str; 3] =
            ["dismiss_stale_reviews_on_push", "require_code_owner_review", "require_last_push_approval"];
        for name in NEVER.into_iter().chain(["required_review_thread_resolution"]) {
            if self.sent.get(name).and_then(Value::as_bool).is_none() {
                return Err(self.invalid());
            }
        }
        if let Some(name) = NEVER.into_iter().find(|name| self.flag(name)) {
            return Err(unobeyed("parameter", name));
        }
        let methods = self.sent.get("allowed_merge_methods").and_then(Value::as_array);
        if methods.is_some_and(|methods| methods.len() < 3) {
            return Err(unobeyed("parameter", "allowed_merge_methods"));
        }
        let count = self.sent.get("required_approving_review_count").and_then(Value::as_u64);
        let count = count.filter(|count| *count <= REVIEWS_MAX).ok_or_else(|| self.invalid())?;
        Ok(RequiredReviews { required_approving_review_count: count })
    }

    fn invalid(&self) -> Refusal {
        Refusal::invalid_because(&format!("Invalid rule '{}': Invalid parameters", self.kind))
    }
}

fn value<T: serde::de::DeserializeOwned>(fields: &Fields, name: &str, sent: &Value) -> Result<T, Refusal> {
    serde_json::from_value(sent.clone()).map_err(|_| fields.invalid(name))
}

fn unobeyed(what: &str, name: &str) -> Refusal {
    Refusal::unobeyed(what, name, "a ruleset")
}
