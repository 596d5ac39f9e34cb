//! The issues of a seed, and the actions of people on them in the middle of it.

use hob_domain::{Record, State};
use http::Method;
use serde_json::{Value, json};

use super::{
    draw::Draw,
    talk::{reviews, says},
};
use crate::harness::World;

/// The agent's script: `asks` asks first, `fails` fails its check first. Each run leaves its brief. The shell does
/// nearly all itself, because a seed has many runs.
pub(super) const SCRIPT: &str = r#"read -r kind < {DIR}/kind-$HOB_ISSUE
    n=0; bill=1; while [ -e {DIR}/briefs/$HOB_ISSUE-$n ]; do n=$((n+1)); bill=$((bill*4)); done; cat > {DIR}/briefs/$HOB_ISSUE-$n
    said() { : > {DIR}/books/$HOB_ISSUE-$n
        printf '%s\n' "{\"outcome\":\"$1\",\"$2\":\"$3\",\"usd\":${bill}e-6,\"input_tokens\":$bill,\"output_tokens\":$bill}"; }
    case $HOB_PURPOSE-$kind-$n in
        plan-*) said "done" summary 'Steps:\n- Make it' ;;
        *-Asks-0) echo half > half.txt; said question question "Which colour?" ;;
        *-Fails-0) echo bad > bad.txt; said "done" summary "At first." ;;
        *) [ ! -e bad.txt ] || rm bad.txt; echo $n > done-$HOB_ISSUE.txt; said "done" summary "T1: Made it." ;;
    esac"#;

/// The repository's settings: a check for all, and a recipe for some.
pub(super) const SETTINGS: &str = r#"checks = ["test ! -f bad.txt"]
[agents.notice]
backend = "recipe"
recipe = "notice"
[recipes.notice]
steps = [{ replace = "2025", with = "2026", in = "NOTICE" }]
"#;

/// An action of people on an issue, once, while workers are at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Nothing,
    Merge,
    Reject,
    Close,
    LabelOff,
    LabelOffAndOn,
    /// Both at once.
    LabelBlinks,
    CloseAndReopen,
    Cancel,
    CancelAndRetry,
    /// A stop, and then words that go on.
    StopAndAnswer,
    Edit,
    Comment,
    MoveBase,
    /// Changes are requested on its pull request, with a comment on a line.
    Review,
    /// A check of the forge fails on its pull request.
    Redden,
    /// A comment in its pull request's conversation asks for more.
    Ask,
}

/// One issue of a seed.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) issue: u64,
    pub(super) deed: Deed,
    /// The pass in which the deed is done, and the number of Hob's requests before it.
    pub(super) moment: (u64, usize),
    done: bool,
    /// The head that a check failed on.
    red: Option<String>,
    /// Whether no agent works on it.
    pub(super) is_by_recipe: bool,
    /// The numbers of what people said while an agent worked, or before, or after its question.
    pub(super) said_at_work: Vec<u64>,
}

impl Life {
    /// Whether its deed makes Hob end the agent that works on it at that moment.
    pub(super) fn ends_an_agent(&self) -> bool {
        match self.deed {
            Deed::Close
            | Deed::LabelOff
            | Deed::LabelOffAndOn
            | Deed::LabelBlinks
            | Deed::CloseAndReopen
            | Deed::Cancel
            | Deed::CancelAndRetry
            | Deed::StopAndAnswer => self.done,
            Deed::Nothing
            | Deed::Merge
            | Deed::Reject
            | Deed::Edit
            | Deed::Comment
            | Deed::MoveBase
            | Deed::Review
            | Deed::Redden
            | Deed::Ask => false,
        }
    }

    /// Opens the `n`th issue of a seed. Issues have different moments, so that deeds do not meet.
    pub(super) async fn begin(world: &World, draw: Draw, n: u64) -> Self {
        let deeds = [
            Deed::Nothing,
            Deed::Nothing,
            Deed::Merge,
            Deed::Reject,
            Deed::Close,
            Deed::LabelOff,
            Deed::LabelOffAndOn,
            Deed::LabelBlinks,
            Deed::CloseAndReopen,
            Deed::Cancel,
            Deed::CancelAndRetry,
            Deed::StopAndAnswer,
            Deed::Edit,
            Deed::Comment,
            Deed::MoveBase,
            Deed::Review,
            Deed::Review,
            Deed::Redden,
            Deed::Ask,
        ];
        let (kind, labels): (_, &[&str]) = match draw.below(5, &format!("kind of {n}")) {
            // A second one has nothing to do once the first is merged.
            0 if n == 0 => ("Recipe", &["code", "agent:notice"]),
            0..=2 => ("Plain", &["code"]),
            3 => ("Asks", &["code"]),
            _ => ("Fails", &["code"]),
        };
        let issue = world.opens("ann", kind, "", labels).await;
        std::fs::write(world.dir().join(format!("kind-{issue}")), format!("{kind}\n")).unwrap();
        let deed = match draw.one(&deeds, &format!("deed of {n}")) {
            // A recipe knows no other way than the one that was rejected.
            Deed::Reject | Deed::Review | Deed::Redden | Deed::Ask if kind == "Recipe" => Deed::Nothing,
            deed => deed,
        };
        let moment = (n + 2 * draw.below(2, &format!("pass of {n}")), draw.count(60, &format!("moment of {n}")));
        let is_by_recipe = kind == "Recipe";
        Self { issue, deed, moment, done: false, red: None, is_by_recipe, said_at_work: Vec::new() }
    }

    /// Ann says something now.
    pub(super) async fn hears(&mut self, world: &World, draw: Draw, number: u64) {
        let state = world.record(self.issue).await.map(|record| record.state);
        if matches!(state, Some(State::Ready | State::Assigned | State::InProgress | State::Blocked)) {
            self.said_at_work.push(number);
        }
        says(world, draw, self, number).await;
    }

    /// Whether plain words were said for an agent that worked, or was to work.
    pub(super) fn was_at_work(&self, text: &str) -> bool {
        self.said_at_work.iter().any(|number| text.contains(&format!("({number}).")))
    }

    /// Does the action of people now. A pull request that does not exist cannot be merged.
    pub(super) async fn act(&mut self, world: &World) {
        self.done = true;
        let issue = self.issue;
        match self.deed {
            Deed::Nothing => {}
            Deed::Merge => match self.open_pulls(world).await.first() {
                Some(pull) => drop(world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await),
                None => self.deed = Deed::Nothing,
            },
            Deed::Reject => {
                for pull in self.open_pulls(world).await {
                    world.edits("ann", pull, json!({"state": "closed"})).await;
                }
            }
            Deed::Close => world.edits("ann", issue, json!({"state": "closed"})).await,
            Deed::LabelOff | Deed::LabelOffAndOn => world.labels_off("ann", issue, "code").await,
            Deed::LabelBlinks => {
                world.labels_off("ann", issue, "code").await;
                world.labels_on("ann", issue, "code").await;
            }
            Deed::CloseAndReopen => {
                world.edits("ann", issue, json!({"state": "closed"})).await;
                world.edits("ann", issue, json!({"state": "open"})).await;
            }
            Deed::Cancel => world.comments("ann", issue, "/hob cancel").await,
            Deed::CancelAndRetry => {
                world.comments("ann", issue, "/hob cancel").await;
                world.comments("ann", issue, "/hob retry").await;
            }
            Deed::StopAndAnswer => {
                world.comments("ann", issue, "Stop, please.").await;
                world.comments("ann", issue, "No, wait: in green.").await;
            }
            Deed::Edit => world.edits("ann", issue, json!({"body": "With a second thought."})).await,
            Deed::Comment => world.comments("out", issue, "/hob cancel, please").await,
            Deed::Review => match self.open_pulls(world).await.first() {
                Some(pull) => reviews(world, *pull, "REQUEST_CHANGES", "Nearly.").await,
                None => self.comes_later(),
            },
            Deed::Redden => match self.open_pulls(world).await.first() {
                Some(pull) => {
                    let pull = world.call("ann", Method::GET, &format!("/pulls/{pull}"), Value::Null).await;
                    let status = json!({"state": "failure", "context": "lint", "description": "E501"});
                    let head = pull["head"]["sha"].as_str().unwrap();
                    drop(world.call("ann", Method::POST, &format!("/statuses/{head}"), status).await);
                    self.red = Some(head.to_owned());
                }
                None => self.comes_later(),
            },
            Deed::Ask => match self.open_pulls(world).await.first() {
                Some(pull) => world.comments("ann", *pull, "/hob please write it anew").await,
                None => self.comes_later(),
            },
            Deed::MoveBase => world.pushes_onto("ann", "main", &format!("beside-{issue}.txt"), "moved\n").await,
        }
    }

    /// Postpones an action that needs a pull request.
    fn comes_later(&mut self) {
        (self.done, self.moment.0) = (false, self.moment.0 + 2);
    }

    /// Between two passes, people see the state of the issue and answer.
    pub(super) async fn answer(&self, world: &World) {
        let record = world.record(self.issue).await;
        let asks_again = self.deed == Deed::LabelOffAndOn && self.done;
        if asks_again
            && record.as_ref().is_none_or(|record| record.state == State::Done && record.lease.is_none())
            && !world.labels(self.issue).await.contains(&"code".to_owned())
        {
            for pull in self.open_pulls(world).await {
                world.edits("ann", pull, json!({"state": "closed"})).await;
            }
            return world.labels_on("ann", self.issue, "code").await;
        }
        let Some(record) = record else { return };
        let told_off = self.deed == Deed::LabelOff && self.done;
        if told_off || record.lease.is_some() {
            return;
        }
        if record.pause().is_some() && record.state != State::Done {
            world.comments("ann", self.issue, "/hob resume").await;
        }
        if record.waiting_plan().is_some() && self.is_open(world).await {
            world.comments("ann", self.issue, "yes").await;
        } else if record.state == State::Blocked && self.is_open(world).await {
            world.comments("ann", self.issue, "/hob unblock Green, please.").await;
        }
        // A false 404 about ann's permission refuses her label: she follows the comment's advice.
        let asked = world.labels(self.issue).await.contains(&"code".to_owned());
        if record.refused.is_some() && record.state == State::Ready && asked {
            world.labels_off("ann", self.issue, "code").await;
            world.labels_on("ann", self.issue, "code").await;
        }
    }

    /// Whether the deed is done or there is none.
    pub(super) fn is_quiet(&self) -> bool {
        self.done || self.deed == Deed::Nothing
    }

    /// Whether the issue is at its end, or waits for a review.
    pub(super) fn is_over(&self, record: Option<&Record>) -> bool {
        let ends: &[State] = match self.deed {
            Deed::Nothing
            | Deed::Reject
            | Deed::LabelOffAndOn
            | Deed::LabelBlinks
            | Deed::Edit
            | Deed::Comment
            | Deed::MoveBase
            | Deed::Review
            | Deed::Redden
            | Deed::Ask => &[State::InReview],
            Deed::Merge | Deed::Close | Deed::LabelOff => &[State::Done],
            Deed::Cancel | Deed::CancelAndRetry | Deed::StopAndAnswer | Deed::CloseAndReopen => {
                &[State::InReview, State::Done]
            }
        };
        // An issue that was withdrawn before its claim has no ledger.
        let state = record.map_or(State::Done, |record| record.state);
        if state != State::Done && record.is_some_and(|record| record.pause().is_some()) {
            return false;
        }
        record.is_none_or(|record| record.lease.is_none()) && ends.contains(&state)
    }

    /// The open pull requests that say they fix the issue.
    pub(super) async fn open_pulls(&self, world: &World) -> Vec<u64> {
        let pulls = self.own_pulls(world).await.into_iter().filter(|pull| pull["state"] == "open");
        pulls.filter_map(|pull| pull["number"].as_u64()).collect()
    }

    /// All pull requests that say they fix the issue.
    pub(super) async fn pulls(&self, world: &World) -> Vec<u64> {
        self.own_pulls(world).await.iter().filter_map(|pull| pull["number"].as_u64()).collect()
    }

    async fn own_pulls(&self, world: &World) -> Vec<Value> {
        let fixes = format!("Fixes #{}\n", self.issue);
        let is_own = |pull: &Value| pull["body"].as_str().is_some_and(|body| body.starts_with(&fixes));
        world.pulls().await.into_iter().filter(is_own).collect()
    }

    /// Whether the head on which a check failed is still that of its pull request.
    pub(super) async fn is_red_still(&self, world: &World) -> bool {
        let (Some(red), Some(pull)) = (&self.red, self.open_pulls(world).await.first().copied()) else { return false };
        let pull = world.call("ann", Method::GET, &format!("/pulls/{pull}"), Value::Null).await;
        pull["head"]["sha"].as_str() == Some(red)
    }

    /// Whether it has a review or a request of its own that can be answered.
    pub(super) async fn is_reviewed(&self, world: &World) -> bool {
        matches!(self.deed, Deed::Review | Deed::Ask) && self.done && !self.open_pulls(world).await.is_empty()
    }

    async fn is_open(&self, world: &World) -> bool {
        world.call("ann", Method::GET, &format!("/issues/{}", self.issue), Value::Null).await["state"] == "open"
    }
}
