//! The requirements of branches: their protection, which admins set and see, and the rules of rulesets, which everyone
//! sees.

use serde_json::Value;

use super::{
    super::{
        branch_rules::{BranchRules, RequiredCheck, RequiredChecks, RequiredReviews},
        call::{Answer, Call, Reply},
        fields::Fields,
        page::paged,
        permission::Needed,
        refusal::Refusal,
        route::{Handler, Route, delete, get, post, put},
        users::{AccountKind, Role},
        wire,
    },
    branches,
};

/// The most approvals that protection can require.
const REVIEWS_MAX: u64 = 6;
const PROTECTED: &[&str] = &[
    "required_status_checks",
    "required_status_checks.strict",
    "required_status_checks.contexts",
    "required_status_checks.checks",
    "required_status_checks.checks.context",
    "required_status_checks.checks.app_id",
    "enforce_admins",
    "required_pull_request_reviews",
    "required_pull_request_reviews.required_approving_review_count",
    "required_pull_request_reviews.dismiss_stale_reviews",
    "required_pull_request_reviews.require_code_owner_reviews",
    "required_pull_request_reviews.require_last_push_approval",
    "required_linear_history",
    "required_conversation_resolution",
    "allow_force_pushes",
    "allow_deletions",
    "block_creations",
    "lock_branch",
    "allow_fork_syncing",
];
/// Settings that are accepted if `false`, and refused by name if `true`.
const NEVER: [&str; 5] =
    ["allow_force_pushes", "allow_deletions", "block_creations", "lock_branch", "allow_fork_syncing"];
const NEVER_OF_REVIEWS: [&str; 3] =
    ["dismiss_stale_reviews", "require_code_owner_reviews", "require_last_push_approval"];
const PUT: &str = "PUT /repos/{owner}/{repo}/branches/{branch}/protection";

/// The name of a branch may have slashes in it, so one pattern also matches its sub-resources.
pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/branches/{*branch}", |call| below(call, get)),
    put("/repos/{owner}/{repo}/branches/{*branch}", |call| below(call, put)).body(PROTECTED),
    post("/repos/{owner}/{repo}/branches/{*branch}", |call| below(call, post)),
    delete("/repos/{owner}/{repo}/branches/{*branch}", |call| below(call, delete)),
    get("/repos/{owner}/{repo}/rules/branches/{*branch}", rules),
];

/// Serves a branch or a sub-resource of it, by its own endpoint.
fn below(call: &Call, verb: fn(&'static str, Handler) -> Route) -> Answer {
    const PROTECTION: &str = "/repos/{owner}/{repo}/branches/{branch}/protection";
    const SIGNATURES: &str = "/repos/{owner}/{repo}/branches/{branch}/protection/required_signatures";
    let all: [Route; 7] = [
        get("/repos/{owner}/{repo}/branches/{branch}", branches::show),
        get(PROTECTION, show),
        put(PROTECTION, protect).body(PROTECTED),
        delete(PROTECTION, unprotect),
        get(SIGNATURES, signatures),
        post(SIGNATURES, require_signatures),
        delete(SIGNATURES, allow_unsigned),
    ];
    let named = call.part("branch");
    let (branch, pattern) = match named.split_once("/protection") {
        None => (named, "/repos/{owner}/{repo}/branches/{branch}"),
        Some((branch, "")) => (branch, PROTECTION),
        Some((branch, "/required_signatures")) => (branch, SIGNATURES),
        Some(_) => ("", ""),
    };
    let wanted = verb(pattern, show).name();
    let route = all.iter().find(|route| route.name() == wanted);
    let verb = wanted.split(' ').next().unwrap_or_default();
    let route = route.ok_or_else(|| Refusal::not_here(&format!("{verb} {}", call.location)))?;
    route.serve(&call.with_part("branch", branch))
}

fn show(call: &Call) -> Answer {
    branch_is_there(call, Role::Read)?;
    readable(call)?;
    let state = call.state();
    Ok(Reply::ok(wire::protection(call.view(&state)?, call.part("branch"))))
}

fn signatures(call: &Call) -> Answer {
    branch_is_there(call, Role::Read)?;
    readable(call)?;
    let state = call.state();
    Ok(Reply::ok(wire::signatures(call.view(&state)?, call.part("branch"))))
}

/// Refuses to show protection to a caller who is not an admin, and protection that does not exist.
fn readable(call: &Call) -> Result<(), Refusal> {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let needed = Needed::for_call("GET", "/repos/{owner}/{repo}/branches/{branch}/protection");
    if let (Some(grant), Some(needed)) = (&call.grant, needed)
        && !needed.is_met(grant, false)
    {
        return Err(Refusal::integration().accepting(needed.header()));
    }
    if call.role(&state, repo) < Role::Admin {
        let kind = call.caller.as_ref().and_then(|login| state.accounts.get(login.as_str())).map(|known| known.kind);
        let is_bot = kind == Some(AccountKind::Bot);
        return Err(if is_bot { Refusal::integration() } else { Refusal::not_found() });
    }
    if repo.is_protected(call.part("branch")) { Ok(()) } else { Err(unprotected()) }
}

fn unprotected() -> Refusal {
    Refusal::new(http::StatusCode::NOT_FOUND, "Branch not protected")
}

fn protect(call: &Call) -> Answer {
    let fields = call.fields("ProtectedBranch")?;
    let mut rules = read(&fields)?;
    branch_is_there(call, Role::Admin)?;
    let branch = call.part("branch");
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    // Signatures have an endpoint of their own.
    rules.required_signatures = repo.rules.get(branch).is_some_and(|known| known.required_signatures);
    repo.rules.insert(branch.to_owned(), rules);
    Ok(Reply::ok(wire::protection(call.view(&state)?, branch)))
}

fn unprotect(call: &Call) -> Answer {
    branch_is_there(call, Role::Admin)?;
    let branch = call.part("branch");
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    if !repo.is_protected(branch) {
        return Err(unprotected());
    }
    repo.rules.remove(branch);
    repo.protected.retain(|known| known != branch);
    Ok(Reply::empty())
}

fn require_signatures(call: &Call) -> Answer {
    set_signatures(call, true)?;
    signatures(call)
}

fn allow_unsigned(call: &Call) -> Answer {
    set_signatures(call, false)?;
    Ok(Reply::empty())
}

fn set_signatures(call: &Call, required: bool) -> Result<(), Refusal> {
    branch_is_there(call, Role::Admin)?;
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    let rules = repo.rules.get_mut(call.part("branch")).ok_or_else(unprotected)?;
    rules.required_signatures = required;
    Ok(())
}

fn branch_is_there(call: &Call, need: Role) -> Result<(), Refusal> {
    call.repository(&call.state(), need)?;
    let found = call.read_git()?.refname_to_id(&format!("refs/heads/{}", call.part("branch")));
    found.map(|_| ()).map_err(|_| Refusal::new(http::StatusCode::NOT_FOUND, "Branch not found"))
}

/// The requirements of rulesets for a branch, which need not exist.
fn rules(call: &Call) -> Answer {
    let state = call.state();
    let rulesets = call.repository(&state, Role::Read)?.rulesets_of(call.part("branch"));
    let view = call.view(&state)?;
    Ok(paged(call, rulesets.flat_map(|ruleset| wire::rules(view, ruleset)).collect(), Value::clone))
}

/// Reads the body of a request that protects a branch.
fn read(fields: &Fields) -> Result<BranchRules, Refusal> {
    for name in ["required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions"] {
        if !fields.has(name) {
            return Err(Refusal::unprocessable(format!("Invalid request.\n\n\"{name}\" wasn't supplied.")));
        }
    }
    let flag = |name: &str| Ok::<_, Refusal>(fields.flag(name)?.unwrap_or(false));
    for name in NEVER {
        if flag(name)? {
            return Err(Refusal::unobeyed("field", name, PUT));
        }
    }
    Ok(BranchRules {
        required_status_checks: fields
            .raw("required_status_checks")
            .and_then(Value::as_object)
            .map(checks)
            .transpose()?,
        required_pull_request_reviews: match fields.raw("required_pull_request_reviews") {
            Some(sent @ Value::Object(_)) => Some(reviews(sent)?),
            Some(_) | None => None,
        },
        required_linear_history: flag("required_linear_history")?,
        required_signatures: false,
        required_conversation_resolution: flag("required_conversation_resolution")?,
        enforce_admins: flag("enforce_admins")?,
    })
}

fn checks(sent: &serde_json::Map<String, Value>) -> Result<RequiredChecks, Refusal> {
    let invalid = |_| Refusal::invalid("ProtectedBranch", "required_status_checks");
    let list =
        |name: &str| sent.get(name).cloned().filter(|value| !value.is_null()).unwrap_or(Value::Array(Vec::new()));
    let mut checks: Vec<Value> = serde_json::from_value(list("checks")).map_err(invalid)?;
    for check in &mut checks {
        // Any App may set it.
        if check["app_id"] == -1 {
            check["app_id"] = Value::Null;
        }
    }
    let checks = checks.into_iter().map(serde_json::from_value::<RequiredCheck>).collect::<Result<_, _>>();
    Ok(RequiredChecks {
        strict: sent.get("strict").and_then(Value::as_bool).unwrap_or(false),
        contexts: serde_json::from_value(list("contexts")).map_err(invalid)?,
        checks: checks.map_err(invalid)?,
    })
}

fn reviews(sent: &Value) -> Result<RequiredReviews, Refusal> {
    for name in NEVER_OF_REVIEWS {
        if sent[name] == true {
            return Err(Refusal::unobeyed("field", &format!("required_pull_request_reviews.{name}"), PUT));
        }
    }
    match &sent["required_approving_review_count"] {
        Value::Null => Ok(RequiredReviews::default()),
        count => match count.as_u64().filter(|count| *count <= REVIEWS_MAX) {
            Some(required_approving_review_count) => Ok(RequiredReviews { required_approving_review_count }),
            None => Err(Refusal::invalid("ProtectedBranch", "required_approving_review_count")),
        },
    }
}
