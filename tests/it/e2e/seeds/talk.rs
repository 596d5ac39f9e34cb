//! What people say in a seed, at any moment, and the receipts that each message must have at the end.

use hob_domain::{Record, ReviewEvent, SaidId, SaidIn, State};
use hob_words::{answered_events, reply_mark};
use http::Method;
use serde_json::{Value, json};

use super::{draw::Draw, lives::Life};
use crate::harness::World;

/// What a person says at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Explain,
    Typo,
    Budget,
    Retry,
    Plan,
    Plain,
    ByName,
    Pause,
    /// A pause, and then not.
    PauseAndResume,
    /// A yes, and then a no.
    YesAndNo,
    /// A comment in the pull request's conversation that asks for more.
    Ask,
    /// Plain words there.
    PlainOnPull,
    ExplainOnPull,
    /// A review with words and a comment on a line.
    Review,
    /// A comment on a line, and no more.
    Line,
}

/// What can be said about an issue that a recipe works on: it reads nothing.
const TO_RECIPES: [Words; 6] =
    [Words::Explain, Words::Typo, Words::Budget, Words::Retry, Words::Pause, Words::PauseAndResume];

/// What can be said about any other.
const TO_AGENTS: [Words; 15] = [
    Words::Explain,
    Words::Typo,
    Words::Budget,
    Words::Retry,
    Words::Plan,
    Words::Plain,
    Words::ByName,
    Words::Pause,
    Words::PauseAndResume,
    Words::YesAndNo,
    Words::Ask,
    Words::PlainOnPull,
    Words::ExplainOnPull,
    Words::Review,
    Words::Line,
];

/// A message of ann's, as it is at the end.
#[derive(Debug)]
struct Heard {
    said: SaidId,
    on_pull: bool,
    /// Whether it is on a pull request that is open.
    is_open: bool,
    text: String,
    /// When she wrote it.
    at: String,
    /// Hob's reactions.
    reactions: Vec<String>,
    /// Hob's replies to it.
    replies: usize,
    /// Hob's answers that name it.
    answers: usize,
}

/// Ann says something about the issue, with this number in it.
pub(super) async fn says(world: &World, draw: Draw, life: &Life, number: u64) {
    let issue = life.issue;
    let choices: &[Words] = if life.is_by_recipe { &TO_RECIPES } else { &TO_AGENTS };
    let words = draw.one(choices, &format!("words {number}"));
    let pull = life.open_pulls(world).await.first().copied();
    let plain = format!("In capitals, please ({number}).");
    match (words, pull) {
        (Words::Explain, _) | (Words::ExplainOnPull, None) => world.comments("ann", issue, "/hob explain").await,
        (Words::Typo, _) => world.comments("ann", issue, "/hob retyr").await,
        (Words::Budget, _) => world.comments("ann", issue, &format!("/hob budget {}", 5 + number)).await,
        (Words::Retry, _) => world.comments("ann", issue, "/hob retry").await,
        (Words::Plan, _) => world.comments("ann", issue, "/hob plan").await,
        (Words::ByName, _) => world.comments("ann", issue, &format!("@hob, {plain}")).await,
        (Words::Pause, _) => world.comments("ann", issue, "/hob pause").await,
        (Words::PauseAndResume, _) => {
            world.comments("ann", issue, "/hob pause").await;
            world.comments("ann", issue, "/hob resume").await;
        }
        (Words::YesAndNo, _) => {
            world.comments("ann", issue, "yes").await;
            world.comments("ann", issue, &format!("No, wait: in green ({number}).")).await;
        }
        (Words::Ask, Some(pull)) => world.comments("ann", pull, &format!("/hob {plain}")).await,
        (Words::PlainOnPull, Some(pull)) => world.comments("ann", pull, &plain).await,
        (Words::ExplainOnPull, Some(pull)) => world.comments("ann", pull, "/hob explain").await,
        (Words::Review, Some(pull)) => reviews(world, pull, "COMMENT", &plain).await,
        (Words::Line, Some(pull)) => reviews(world, pull, "COMMENT", "").await,
        (Words::Plain | Words::Ask | Words::PlainOnPull | Words::Review | Words::Line, _) => {
            world.comments("ann", issue, &plain).await;
        }
    }
}

/// Ann comments on a line of the first file, in a review with these words.
pub(super) async fn reviews(world: &World, pull: u64, event: &str, words: &str) {
    world.forge.advance(std::time::Duration::from_secs(2));
    let files = list(world, &format!("/pulls/{pull}/files")).await;
    let on_line = json!({"path": files[0]["filename"], "line": 1, "side": "RIGHT", "body": "Another."});
    let review = json!({"event": event, "body": words, "comments": [on_line]});
    let (status, said) = world.try_call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    assert!(status == 200, "{said} {files:?}");
}

/// The first message on the issue or on its pull requests that was not heard exactly once, as far as it was for Hob.
pub(super) async fn unheard(world: &World, life: &Life, record: &Record) -> Option<String> {
    let (heard, briefs) = (heard(world, life).await, world.briefs(life.issue));
    let wrong = heard.iter().find_map(|heard| {
        let wrong = wrong(life, record, heard, &briefs)?;
        Some(format!("{wrong}: {heard:?}"))
    });
    if wrong.is_some() {
        return wrong;
    }
    let due = &record.commands.receipts;
    (!due.is_empty()).then(|| format!("receipts are due: {due:?}"))
}

/// What is wrong with what became of a message.
fn wrong(life: &Life, record: &Record, heard: &Heard, briefs: &[String]) -> Option<&'static str> {
    let (reactions, replies) = (heard.reactions.len(), heard.replies);
    if reactions > 1 || replies > 1 {
        return Some("it has more than one receipt");
    }
    if heard.answers > 1 {
        return Some("it is answered more than once");
    }
    let is_refused = heard.reactions.iter().any(|reaction| reaction == "confused");
    let has_reply = is_refused || heard.text.starts_with("/hob explain");
    if reactions == 1 && replies != usize::from(has_reply) {
        return Some("its reply does not fit its reaction");
    }
    // What was said before the work was asked for, or after it was over, need not be heard.
    let since = record.commands_since().format("%Y-%m-%dT%H:%M:%SZ").to_string();
    if record.state != State::InReview || heard.at < since {
        return None;
    }
    let is_request = heard.on_pull && (heard.said.said_in != SaidIn::Comment || heard.text.starts_with("/hob In"));
    let must_be_answered = is_request && heard.is_open;
    if must_be_answered && heard.answers == 0 {
        return Some("it has no answer");
    }
    let number = heard.text.rfind('(').map(|at| &heard.text[at..]);
    let must_be_read = reactions == 1 && !is_refused && number.is_some() && life.was_at_work(&heard.text);
    if must_be_read && !briefs.iter().any(|brief| brief.contains(number.unwrap_or_default())) {
        return Some("no agent read it");
    }
    let must_be_heard = heard.text.starts_with("/hob ") || is_request || life.was_at_work(&heard.text);
    if must_be_heard && reactions == 0 {
        return Some("it has no receipt");
    }
    None
}

/// Ann's messages on the issue and on all of its pull requests.
async fn heard(world: &World, life: &Life) -> Vec<Heard> {
    let (mut all, mut own) = (Vec::new(), Vec::new());
    let (pulls, open) = (life.pulls(world).await, life.open_pulls(world).await);
    for on in pulls.iter().copied().chain([life.issue]) {
        let on_pull = on != life.issue;
        let comments = list(world, &format!("/issues/{on}/comments?per_page=100")).await;
        let (ours, others): (Vec<_>, Vec<_>) = comments.into_iter().partition(|one| one["user"]["login"] == "hob");
        own.extend(ours.iter().map(|one| text(one, "body")));
        for one in others.iter().filter(|one| one["user"]["login"] == "ann") {
            let found = list(world, &format!("/issues/comments/{}/reactions", one["id"])).await;
            let reactions = found.iter().map(|one| text(one, "content")).collect();
            let said = message(one, SaidIn::Comment, "created_at", reactions);
            all.push(Heard { on_pull, is_open: open.contains(&on), ..said });
        }
    }
    for pull in pulls {
        let remarks = list(world, &format!("/pulls/{pull}/comments?per_page=100")).await;
        own.extend(remarks.iter().filter(|one| one["user"]["login"] == "hob").map(|one| text(one, "body")));
        for (id, said_in, reactions) in reactions_in_reviews(world, pull).await {
            let (path, at) = match said_in {
                SaidIn::Line => (format!("/pulls/comments/{id}"), "created_at"),
                SaidIn::Review | SaidIn::Comment => (format!("/pulls/{pull}/reviews/{id}"), "submitted_at"),
            };
            let one = world.look(&path).await;
            // A review without words says nothing.
            if !text(&one, "body").is_empty() {
                let said = message(&one, said_in, at, reactions);
                all.push(Heard { on_pull: true, is_open: open.contains(&pull), ..said });
            }
        }
    }
    for heard in &mut all {
        let mark = reply_mark(heard.said);
        heard.replies = own.iter().filter(|text| text.starts_with(&mark)).count();
        let event = event(heard.said);
        heard.answers = own.iter().flat_map(|text| answered_events(text)).filter(|answered| *answered == event).count();
    }
    all
}

fn message(one: &Value, said_in: SaidIn, at: &str, reactions: Vec<String>) -> Heard {
    let said = SaidId { said_in, id: hob_domain::CommentId(one["id"].as_u64().unwrap()) };
    let (text, at) = (text(one, "body"), text(one, at));
    Heard { said, on_pull: false, is_open: false, text, at, reactions, replies: 0, answers: 0 }
}

fn event(said: SaidId) -> ReviewEvent {
    match said.said_in {
        SaidIn::Comment => ReviewEvent::Comment(said.id.0),
        SaidIn::Review => ReviewEvent::Review(said.id.0),
        SaidIn::Line => ReviewEvent::Line(said.id.0),
    }
}

/// Ann's reviews of a pull request and her comments on lines, with the reactions to each.
async fn reactions_in_reviews(world: &World, pull: u64) -> Vec<(u64, SaidIn, Vec<String>)> {
    let of = "databaseId author { login } eyes: reactions(content: EYES) { totalCount } \
              confused: reactions(content: CONFUSED) { totalCount }";
    let query = format!(
        "{{ repository(owner: \"acme\", name: \"site\") {{ pullRequest(number: {pull}) {{ reviews(first: 50) {{ nodes {{ \
         {of} comments(first: 50) {{ nodes {{ {of} }} }} }} }} }} }} }}"
    );
    let found = world.ask_graphql("ann", json!({ "query": query })).await;
    let reviews = found["data"]["repository"]["pullRequest"]["reviews"]["nodes"].as_array().unwrap().clone();
    let mut all = Vec::new();
    for review in reviews.iter().filter(|review| review["author"]["login"] == "ann") {
        let lines = review["comments"]["nodes"].as_array().unwrap().iter().map(|one| (one, SaidIn::Line));
        for (one, said_in) in lines.chain([(review, SaidIn::Review)]) {
            let times = |name: &str| one[name]["totalCount"].as_u64().unwrap();
            let named = |name: &str| (0..times(name)).map(|_| name.to_owned()).collect::<Vec<_>>();
            let reactions = [named("eyes"), named("confused")].concat();
            all.push((one["databaseId"].as_u64().unwrap(), said_in, reactions));
        }
    }
    all
}

async fn list(world: &World, path: &str) -> Vec<Value> {
    world.look(path).await.as_array().unwrap().clone()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
