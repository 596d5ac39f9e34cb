//! Searches: issues with pull requests, and the labels of a repository.

use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    page::Page,
    permission::Needed,
    refusal::Refusal,
    route::{Route, get},
    search::{Unknown, Wanted},
    state::{Issue, Label, Repository, State, Visibility},
    users::Role,
    wire::{self, View},
};

pub(super) const ROUTES: &[Route] = &[
    get("/search/issues", issues).query(&["q", "sort", "order"]),
    get("/search/labels", labels).query(&["q", "repository_id", "sort", "order"]),
];

/// The most results of a search. <https://docs.github.com/rest/search/search>
const RESULTS_MAX: usize = 1_000;
/// GitHub's name of the resource in the refusals of searches.
const RESOURCE: &str = "Search";

fn issues(call: &Call) -> Answer {
    let wanted = Wanted::read(text(call)?);
    // Orders by reactions are refused.
    let sort = call.choice(RESOURCE, "sort", &["", "created", "updated", "comments"])?;
    let order = call.choice(RESOURCE, "order", &["desc", "asc"])?;
    let state = call.state();
    let seen = |name: &str| visible(call, &state).any(|repo| repo.name.to_string().eq_ignore_ascii_case(name));
    let named: Vec<&str> = wanted.repositories().collect();
    if !named.is_empty() && !named.into_iter().any(seen) {
        let message = "The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.";
        return Err(Refusal::custom(RESOURCE, "q", message));
    }
    let mut found: Vec<(&Repository, &Issue)> = Vec::new();
    for repo in visible(call, &state) {
        for issue in repo.issues.values() {
            if wanted.fits(call.caller.as_ref(), repo, issue)? {
                found.push((repo, issue));
            }
        }
    }
    let asked = format!("{sort}-{order}");
    wanted.order(&mut found, (!sort.is_empty()).then_some(asked.as_str()))?;
    let (server, accounts) = (call.forge.server(), &state.accounts);
    let mut shown = results(call, found, |(repo, issue)| {
        let mut shown = wire::issue(View { server, accounts, repo }, issue);
        if let Value::Object(fields) = &mut shown {
            fields.remove("closed_by");
        }
        shown
    })?;
    shown.0["search_type"] = json!("lexical");
    Ok(Reply::ok(shown.0).with_link(shown.1))
}

fn labels(call: &Call) -> Answer {
    let words: Vec<String> = text(call)?.split_whitespace().map(str::to_lowercase).collect();
    let id = call.query("repository_id").ok_or_else(|| Refusal::missing(RESOURCE, "repository_id"))?;
    let id: u64 = id.parse().map_err(|_| Refusal::invalid(RESOURCE, "repository_id"))?;
    call.choice(RESOURCE, "sort", &["", "created"])?;
    let order = call.choice(RESOURCE, "order", &["desc", "asc"])?;
    let state = call.state();
    let repo = visible(call, &state).find(|repo| repo.id == id).ok_or_else(Refusal::not_found)?;
    let has = |label: &&Label| {
        let text = format!("{}\n{}", label.name, label.description.as_deref().unwrap_or_default()).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut found: Vec<&Label> = repo.labels.iter().filter(has).collect();
    found.sort_by_key(|label| label.id);
    if order == "desc" {
        found.reverse();
    }
    let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
    let (shown, link) = results(call, found, |label| wire::label(view, label))?;
    Ok(Reply::ok(shown).with_link(link))
}

/// The search text.
fn text(call: &Call) -> Result<&str, Refusal> {
    call.query("q").ok_or_else(|| Refusal::missing(RESOURCE, "q"))
}

/// The repositories whose issues the caller may read.
fn visible<'s>(call: &'s Call, state: &'s State) -> impl Iterator<Item = &'s Repository> {
    let needed = Needed::for_call("GET", "/repos/{owner}/{repo}/issues");
    let permitted = move |repo: &Repository| match (&call.grant, needed) {
        (Some(grant), Some(needed)) => needed.is_met(grant, repo.visibility == Visibility::Public),
        (Some(_) | None, _) => true,
    };
    state.repositories.all().filter(move |repo| call.role(state, repo) >= Role::Read && permitted(repo))
}

/// A page of the results, with links to the others. All have the same score.
fn results<T>(call: &Call, found: Vec<T>, show: impl Fn(T) -> Value) -> Result<(Value, Option<String>), Refusal> {
    let (page, total) = (Page::asked_for(call), found.len());
    if page.start() >= RESULTS_MAX {
        return Err(Refusal::unprocessable("Only the first 1000 search results are available"));
    }
    let link = page.link(call, total.min(RESULTS_MAX));
    let items = page.of_list(found).into_iter().map(|one| {
        let mut shown = show(one);
        shown["score"] = json!(1.0);
        shown
    });
    let items: Value = items.collect();
    Ok((json!({"total_count": total, "incomplete_results": false, "items": items}), link))
}

impl From<Unknown> for Refusal {
    fn from(unknown: Unknown) -> Self {
        Self::custom(RESOURCE, "q", unknown.to_string())
    }
}
