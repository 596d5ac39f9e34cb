//! Reactions to issues and comments.

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, post},
        state::{Reaction, Repository},
        users::Role,
        wire::{self, CONTENTS},
    },
    comments::{find, find_mut},
    review_comments::{self, comments_beside},
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues/{number}/reactions", list).query(&["content"]),
    post("/repos/{owner}/{repo}/issues/{number}/reactions", create).body(&["content"]),
    delete("/repos/{owner}/{repo}/issues/{number}/reactions/{reaction}", remove),
    get("/repos/{owner}/{repo}/issues/comments/{id}/reactions", list).query(&["content"]),
    post("/repos/{owner}/{repo}/issues/comments/{id}/reactions", create).body(&["content"]),
    delete("/repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction}", remove),
    get("/repos/{owner}/{repo}/pulls/comments/{remark}/reactions", list).query(&["content"]),
    post("/repos/{owner}/{repo}/pulls/comments/{remark}/reactions", create).body(&["content"]),
    delete("/repos/{owner}/{repo}/pulls/comments/{remark}/reactions/{reaction}", remove),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let all = reactions(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let wanted = all.iter().filter(|reaction| call.query("content").is_none_or(|content| reaction.content == content));
    Ok(paged(call, wanted.collect(), |reaction| wire::reaction(view, reaction)))
}

/// Reacting twice with the same is answered 200 with the first.
fn create(call: &Call) -> Answer {
    let fields = call.fields("Reaction")?;
    let content = fields.required("content")?;
    if !CONTENTS.contains(&content.as_str()) {
        return Err(fields.invalid("content"));
    }
    let (actor, mut state) = (call.actor()?, call.state());
    let (reaction, new) = {
        let all = reactions_mut(call, call.repository_mut(&mut state, Role::Read)?)?;
        match all.iter().find(|reaction| reaction.author.is(actor) && reaction.content == content) {
            Some(known) => (known.clone(), false),
            None => {
                let made = Reaction { id: call.forge.next_id(), author: actor.clone(), content, at: call.now };
                all.push(made.clone());
                (made, true)
            }
        }
    };
    let shown = wire::reaction(call.view(&state)?, &reaction);
    Ok(if new { Reply::created(shown) } else { Reply::ok(shown) })
}

fn remove(call: &Call) -> Answer {
    let (actor, id, mut state) = (call.actor()?, call.number("reaction")?, call.state());
    let all = reactions_mut(call, call.repository_mut(&mut state, Role::Read)?)?;
    let at = all.iter().position(|reaction| reaction.id == id && reaction.author.is(actor));
    all.remove(at.ok_or_else(Refusal::not_found)?);
    Ok(Reply::empty())
}

/// The reactions to the object in the path: a comment by its id, one on a line of a diff, or an issue.
fn reactions<'s>(call: &Call, repo: &'s Repository) -> Result<&'s Vec<Reaction>, Refusal> {
    if !call.part("remark").is_empty() {
        let id = call.number("remark")?;
        return review_comments::find(repo, id).map(|(_, comment)| &comment.reactions);
    }
    if call.part("id").is_empty() {
        return call.issue(repo).map(|issue| &issue.reactions);
    }
    find(repo, call.number("id")?).map(|(_, comment)| &comment.reactions)
}

fn reactions_mut<'s>(call: &Call, repo: &'s mut Repository) -> Result<&'s mut Vec<Reaction>, Refusal> {
    if !call.part("remark").is_empty() {
        let id = call.number("remark")?;
        let found = comments_beside(repo, id)?.iter_mut().find(|comment| comment.id == id);
        return found.map(|comment| &mut comment.reactions).ok_or_else(Refusal::not_found);
    }
    if call.part("id").is_empty() {
        return call.issue_mut(repo).map(|issue| &mut issue.reactions);
    }
    find_mut(repo, call.number("id")?).map(|comment| &mut comment.reactions)
}
