//! The lives of one issue in which workers die, and the conditions at their end.

use std::{sync::Arc, time::Duration};

use github_emulator::{BranchRules, Fault, Mood, Moods, RequiredChecks, What, When};
use hob_domain::{BlockCode, OWN_MARK, PROOF_CONTEXT, Record, State};
use hob_words::status_body;
use http::Method;
use serde_json::json;

use super::MORTAL;
use crate::harness::{AT_THE_GATE, Builder, Gate, Turnstile, World, billed, repo_on_forge, run};

/// The agent's report when it is done.
fn done() -> String {
    billed(r#""outcome":"done","summary":"Made it.""#)
}

/// A life of one issue: people act, a worker runs, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Happy,
    /// The happy path on a slow forge: it carries out each write late, those of the dead too, and what is asked before the agent
    /// starts is answered so late that the claim is shown.
    Late,
    FixedInTheSecondRound,
    /// Of two candidates the second one is chosen, and goes to the branch in place of the first.
    TwoCandidates,
    Answered,
    Refused,
    Merged,
    Rejected,
    Cancelled,
    /// The agent is killed in the first attempt.
    Retried,
    /// The first worker is asked to stop during its work.
    Stopped,
    /// After its end the issue is opened and labelled again.
    AskedAgain,
    /// A plan comes first, and is approved.
    Planned,
    /// Changes are requested on its pull request, in two threads.
    Reviewed,
    /// The same, while its base moves so that the two conflict, and a check of the forge fails.
    Mixed,
    /// Commands come on an issue in review and on its pull request.
    Commanded,
    /// Commands come before the first claim, and are followed during the work.
    CommandedAtWork,
    /// The issue is paused before the first claim, and resumed.
    Paused,
    /// A person says what should be different while the agent works.
    HeardAtWork,
    /// The same when the pull request is about to be opened.
    HeardAtPublication,
    /// The same, and the round that their words begin is deadly.
    RoundOfWords,
    /// A person says stop while the agent works.
    ToldOffAtWork,
    /// A person ends the work instead of an answer, and then answers after all.
    MindChanged,
    /// The pull request gets labels and a reviewer, and is a draft until its checks are green.
    House,
    /// GitHub merges the pull request by itself.
    MergedByItself,
    /// With the answer comes a commit on the base that conflicts with the work so far.
    BaseMoved,
    /// A profile hands the work off to another one.
    HandedOver,
    /// The issue is split into two, once a person has approved that.
    Split,
    /// The agent never gets it right, until the issue's budget is used up.
    SpentUp,
    /// A worker lost its lease at work, so that its agent's cost is on its machine alone.
    Journaled,
}

/// The tokens that [`Scenario::SpentUp`] may cost: three runs use them up, as the first ones cost 2, 8 and 32.
const TOKENS: u64 = 40;

/// The moods of the forge that refuse only Hob: people's actions in a life must succeed.
const MOODS: [Mood; 6] =
    [Mood::TokenPermissions, Mood::RefRaces, Mood::RefRefusals, Mood::Touched, Mood::HiddenChecks, Mood::Tags];

/// How long a late write takes: long enough for the next worker to have looked.
const LATE: Duration = Duration::from_millis(40);

/// How many milliseconds a late answer takes: longer than a claim shows nothing.
const LATE_ANSWER: u64 = 3500;

/// A world in which one profile does half of the work, and another one the rest.
fn handing_off() -> Builder {
    let profile = |name: &str, to: &str| {
        format!("---\nname: {name}\nhob: {{ backend: {name}-agent, hand_off_to: [{to}] }}\n---\nDo your part.\n")
    };
    let given = billed(r#""outcome":"hand_off","to":"second","reason":"theirs","left":"the rest""#);
    World::with_agent("exit 9")
        .script("first-agent", &format!("echo half > half.txt; {given}"))
        .script("second-agent", &format!("test -f half.txt && echo done > done.txt; {}", done()))
        .file(".github/hob.toml", "agent = \"first\"\nchecks = [\"test -f half.txt || ! test -f done.txt\"]\n")
        .file(".github/agents/first.md", &profile("first", "second"))
        .file(".github/agents/second.md", &profile("second", ""))
}

/// A world in which the agent names two issues.
fn splitting() -> Builder {
    World::with_agent(&billed(r#""outcome":"done","summary":"Issues:\n- One\n- Two\n  After: 1""#))
}

/// A world in which the agent never gets it right, until the budget is used up.
fn spending() -> Builder {
    World::with_agent(&format!("echo $n > work.txt; {}", done()))
        .check("test ! -f work.txt")
        .set("budget.tokens", &TOKENS.to_string())
        .set("testing.limits.check_rounds", "9")
}

/// A world in which each run waits at the gate until a person has said something.
fn heeding() -> Builder {
    let script = format!(
        "[ -e {{DIR}}/said ] || {{ {AT_THE_GATE} }}\n\
        if grep -q 'In capitals' {{DIR}}/briefs/$HOB_ISSUE-$n; then echo DONE > done.txt; else echo done > done.txt; fi\n{}",
        done()
    );
    World::with_agent(&script).check("test -f done.txt")
}

/// A world in which the first run waits at the gate.
fn journaling() -> Builder {
    let script = format!("[ $n -gt 0 ] || {{ {AT_THE_GATE} }}\necho done > done.txt; {}", done());
    World::with_agent(&script).check("test -f done.txt")
}

/// A world with rules about how work is published.
fn with_rules(done: &str) -> Builder {
    World::with_agent(&format!("echo done > done.txt; {done}"))
        .check("test -f done.txt")
        .set("publish.draft", "until-green")
        .set("publish.labels", "by-hob")
        .set("publish.reviewers", "wil")
        .set("publish.sign_off", "true")
}

impl Scenario {
    /// The turnstile of its workers' requests.
    pub(super) fn turnstile(self) -> Turnstile {
        if self == Self::Late { Turnstile::late(LATE) } else { Turnstile::default() }
    }

    pub(super) async fn world(self, turnstile: &Arc<Turnstile>) -> World {
        let (done, question) = (done(), billed(r#""outcome":"question","question":"Which colour?""#));
        let builder = match self {
            Self::Happy
            | Self::Late
            | Self::Refused
            | Self::Merged
            | Self::Rejected
            | Self::Stopped
            | Self::Commanded
            | Self::CommandedAtWork
            | Self::Paused => World::with_agent(&format!("echo done > done.txt; {done}")).check("test -f done.txt"),
            Self::House => with_rules(&done),
            Self::MergedByItself => World::with_agent(&format!("echo done > done.txt; {done}"))
                .check("test -f done.txt")
                .set("publish.auto_merge", "done.txt"),
            Self::AskedAgain => {
                World::with_agent(&format!("echo done $n > done.txt; {done}")).check("test -f done.txt")
            }
            Self::Retried => {
                let script = format!("[ $n -gt 0 ] || kill -9 $$; echo done > done.txt; {done}");
                World::with_agent(&script).check("test -f done.txt")
            }
            Self::Reviewed | Self::Mixed => {
                let says = billed(r#""outcome":"done","summary":"Shouted.\n\nT1: Louder.\nT2: No.""#);
                let script = format!(
                    "if grep -q 'Louder, please' {{DIR}}/briefs/$HOB_ISSUE-$n\n\
                    then printf 'DONE\\nhalf\\n' > done.txt; ! grep -q '<<<<' half.txt || echo both > half.txt; {says}\n\
                    else printf 'done\\nhalf\\n' > done.txt; echo half > half.txt; {done}; fi"
                );
                World::with_agent(&script).file("half.txt", "nothing").check("test -f done.txt")
            }
            Self::FixedInTheSecondRound => {
                // The first brief that tells of a failed check gets it right.
                let script = format!(
                    "if grep -q 'the roof leaks' {{DIR}}/briefs/$HOB_ISSUE-$n\n\
                    then echo done > done.txt; else echo half > done.txt; fi; {done}"
                );
                World::with_agent(&script).check("grep -q done done.txt || { echo the roof leaks; false; }")
            }
            Self::TwoCandidates => two_candidates(&done),
            Self::BaseMoved => {
                let script = format!(
                    "if grep -q 'Deep green' {{DIR}}/briefs/$HOB_ISSUE-$n\n\
                    then ! grep -q '<<<<' half.txt || echo both > half.txt; echo done > done.txt; {done}\n\
                    else echo half > half.txt; {question}; fi"
                );
                World::with_agent(&script)
                    .file("half.txt", "nothing")
                    .check("test -f done.txt || grep nothing half.txt")
            }
            Self::HandedOver => handing_off(),
            Self::Split => splitting(),
            Self::SpentUp => spending(),
            Self::Journaled => journaling(),
            Self::HeardAtWork | Self::HeardAtPublication | Self::RoundOfWords | Self::ToldOffAtWork => heeding(),
            Self::Planned => {
                let plan = billed(r#""outcome":"done","summary":"Steps:\n- Make it\nFiles:\n- done.txt""#);
                let script = format!(
                    "if [ $HOB_PURPOSE = plan ]; then echo stray > stray.txt; {plan}; else echo done > done.txt; {done}; fi"
                );
                World::with_agent(&script).check("test -f done.txt || ! test -f stray.txt").set("plan", "always")
            }
            Self::Answered | Self::Cancelled | Self::MindChanged => {
                let script = format!(
                    "if grep -q 'Deep green' {{DIR}}/briefs/$HOB_ISSUE-$n\n\
                    then echo done > done.txt; {done}\n\
                    else echo half > half.txt; {question}; fi"
                );
                World::with_agent(&script).check("test -f done.txt")
            }
        };
        // Some of them hear of it elsewhere, too.
        let builder = if self.events().is_empty() { builder } else { builder.notified() };
        let builder: Builder = self.moving_ledgers(builder.inside(turnstile));
        let world = builder.start().await;
        self.troubles(&world);
        world
    }

    /// What the forge does to its workers.
    fn troubles(self, world: &World) {
        if self == Self::Late {
            let (path, what) = ("/repos/acme/site/git/ref/heads/hob".to_owned(), What::Delay(LATE_ANSWER));
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        // A refusal would leave the merge to people.
        if self != Self::MergedByItself {
            world.forge.set_moods(Moods::new(MOODS, 11).with_percent(10));
        }
    }

    /// By push; where the way to the ledger is cut, it is that of the API.
    fn moving_ledgers(self, builder: Builder) -> Builder {
        if matches!(self, Self::SpentUp | Self::Journaled) { builder } else { builder.pushing_ledgers() }
    }

    /// The notifications of its life, for the scenarios whose workers send any.
    fn events(self) -> &'static [&'static str] {
        match self {
            Self::Answered => &["blocked", "in-review"],
            Self::Merged => &["in-review", "done"],
            Self::Rejected => &["in-review", "blocked"],
            Self::Reviewed => &["in-review", "in-review"],
            Self::Happy
            | Self::Late
            | Self::FixedInTheSecondRound
            | Self::TwoCandidates
            | Self::Refused
            | Self::Cancelled
            | Self::Retried
            | Self::Stopped
            | Self::AskedAgain
            | Self::Planned
            | Self::Mixed
            | Self::Commanded
            | Self::CommandedAtWork
            | Self::Paused
            | Self::HeardAtWork
            | Self::HeardAtPublication
            | Self::RoundOfWords
            | Self::ToldOffAtWork
            | Self::MindChanged
            | Self::House
            | Self::MergedByItself
            | Self::BaseMoved
            | Self::HandedOver
            | Self::Split
            | Self::SpentUp
            | Self::Journaled => &[],
        }
    }

    /// The number of turns: each is an action of people, and a worker after it.
    pub(super) fn turns(self) -> usize {
        match self {
            Self::Happy | Self::Late | Self::FixedInTheSecondRound | Self::TwoCandidates | Self::Refused => 1,
            Self::CommandedAtWork | Self::HandedOver | Self::SpentUp => 1,
            Self::HeardAtWork | Self::HeardAtPublication | Self::ToldOffAtWork => 1,
            Self::Answered
            | Self::MindChanged
            | Self::Merged
            | Self::Rejected
            | Self::Cancelled
            | Self::Retried
            | Self::Stopped
            | Self::Planned
            | Self::Reviewed
            | Self::Mixed
            | Self::Commanded
            | Self::House
            | Self::MergedByItself
            | Self::BaseMoved
            | Self::Split
            | Self::Journaled => 2,
            // One in which the words get their reaction, and one for their round.
            Self::AskedAgain | Self::Paused | Self::RoundOfWords => 3,
        }
    }

    /// The first turn whose worker may die.
    pub(super) fn first_deadly(self) -> usize {
        match self {
            Self::Happy
            | Self::Late
            | Self::FixedInTheSecondRound
            | Self::TwoCandidates
            | Self::Refused
            | Self::Answered
            | Self::Planned
            | Self::Retried
            | Self::CommandedAtWork
            | Self::Paused
            | Self::HeardAtWork
            | Self::HeardAtPublication
            | Self::ToldOffAtWork
            | Self::House
            | Self::MergedByItself
            | Self::HandedOver
            | Self::SpentUp
            | Self::Stopped => 0,
            // Their first turns are those of others.
            Self::Merged
            | Self::Rejected
            | Self::Cancelled
            | Self::Reviewed
            | Self::Mixed
            | Self::Commanded
            | Self::Split
            | Self::Journaled
            | Self::MindChanged
            | Self::BaseMoved => 1,
            Self::AskedAgain | Self::RoundOfWords => 2,
        }
    }

    /// The tokens that the issue may cost, if they are limited.
    pub(super) fn budget(self) -> Option<u64> {
        (self == Self::SpentUp).then_some(TOKENS)
    }

    /// Whether the next worker opens the issue's folder again, and takes away locks, wherever one dies.
    pub(super) fn is_taken_up_again(self) -> bool {
        !matches!(self, Self::ToldOffAtWork | Self::SpentUp)
    }

    /// The number of its requests after which the worker of a turn is asked to stop.
    pub(super) fn stops_after(self, turn: usize) -> Option<usize> {
        (self == Self::Stopped && turn == 0).then_some(25)
    }

    /// The first turn of most lives.
    async fn begins(self, world: &World) {
        if self == Self::Split {
            assert_eq!(world.opens("ann", "Make done.txt", "", &["code", "agent:planner"]).await, 1);
            return;
        }
        assert_eq!(world.asks("Make done.txt", "").await, 1);
        let said: &[&str] = match self {
            Self::CommandedAtWork => &["/hob budget 3", "/hob agent fixer", "/hob help"],
            Self::Paused => &["/hob pause"],
            _ => &[],
        };
        for said in said {
            world.comments("ann", 1, said).await;
        }
        if self == Self::MergedByItself {
            let required_status_checks = Some(RequiredChecks::named(&[PROOF_CONTEXT]));
            let rules = BranchRules { required_status_checks, ..BranchRules::default() };
            world.forge.set_ruleset(&repo_on_forge(), "main", Some(rules)).unwrap();
            world.call("ann", Method::PATCH, "", json!({"allow_auto_merge": true})).await;
        }
        if self == Self::House {
            let label = json!({"name": "by-hob", "color": "5319e7"});
            world.call("ann", Method::POST, "/labels", label).await;
        }
    }

    pub(super) async fn deed(self, world: &World, turn: usize) {
        match (self, turn) {
            (Self::Refused, _) => {
                let issue = world.opens("out", "Make done.txt", "", &[]).await;
                world.labels_on("tess", issue, "code").await;
            }
            (Self::Journaled, 0) => spends_without_its_lease(world).await,
            (_, 0) => self.begins(world).await,
            (Self::Commanded, _) => {
                let pull = world.pull().await["number"].as_u64().unwrap();
                for said in ["/hob budget 3", "/hob help", "/hob cancl"] {
                    world.comments("ann", pull, said).await;
                }
                for said in ["/hob pause", "/hob agent fixer", "/hob explain"] {
                    world.comments("ann", 1, said).await;
                }
            }
            (Self::Paused, 1) => {
                let record = agreed(world).await;
                assert!(record.pause().is_some() && world.briefs(1).is_empty(), "{record:?}");
                world.comments("ann", 1, "/hob resume").await;
            }
            (Self::Paused, _) => {}
            (Self::Merged, _) | (Self::AskedAgain, 1) => {
                let pull = world.pull().await["number"].as_u64().unwrap();
                world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
            }
            (Self::AskedAgain, _) => {
                assert_eq!(agreed(world).await.state, State::Done);
                world.edits("ann", 1, json!({"state": "open"})).await;
                world.labels_off("ann", 1, "code").await;
                world.labels_on("ann", 1, "code").await;
            }
            (Self::Reviewed | Self::Mixed, _) => {
                requests_changes(world).await;
                if self == Self::Mixed {
                    spoils_head_and_base(world).await;
                }
            }
            (Self::Rejected, _) => {
                let pull = world.pull().await["number"].as_u64().unwrap();
                world.edits("ann", pull, json!({"state": "closed"})).await;
            }
            (Self::Cancelled, _) => world.comments("ann", 1, "/hob cancel").await,
            (Self::Answered, _) => answers(world, &["Deep green."]).await,
            (Self::MindChanged, _) => answers(world, &["Never mind.", "Deep green."]).await,
            (Self::Planned | Self::Split, _) => {
                let record = agreed(world).await;
                assert!(record.waiting_plan().is_some(), "{record:?}");
                assert!(world.branches().await.is_empty(), "nothing is written before the approval");
                world.comments("ann", 1, "/hob approve").await;
            }
            (Self::BaseMoved, _) => {
                world.pushes_onto("ann", "main", "half.txt", "theirs").await;
                world.comments("ann", 1, "Deep green.").await;
            }
            (Self::House, _) => turns_green(world).await,
            // Time passes until the next attempt.
            (Self::Retried, _) => world.forge.advance(world.settings.limits.retry_delay * 2),
            (Self::Stopped | Self::RoundOfWords | Self::MergedByItself, _) => {}
            (Self::Journaled, _) => assert_eq!(world.journaled(1).len(), 1, "one cost waits"),
            (
                Self::Happy
                | Self::Late
                | Self::FixedInTheSecondRound
                | Self::TwoCandidates
                | Self::CommandedAtWork
                | Self::HeardAtWork
                | Self::HeardAtPublication
                | Self::ToldOffAtWork
                | Self::HandedOver
                | Self::SpentUp,
                _,
            ) => unreachable!("one turn"),
        }
    }

    /// What a person says while the first agent works, and whether only when the pull request is about to be opened.
    pub(super) fn says_at_work(self) -> Option<&'static str> {
        match self {
            Self::HeardAtWork | Self::HeardAtPublication | Self::RoundOfWords => Some("In capitals, please."),
            Self::ToldOffAtWork => Some("Stop, please."),
            _ => None,
        }
    }

    /// Lets the agent go on that waits at the gate, once the person has spoken.
    pub(super) async fn speaks(self, world: &World, turnstile: &Turnstile, gate: &mut Gate) {
        let (words, said) = (self.says_at_work().unwrap(), world.dir().join("said"));
        if said.exists() {
            return;
        }
        let mut go = None;
        if self == Self::HeardAtWork || self == Self::ToldOffAtWork {
            gate.reached().await;
            turnstile.open();
        } else {
            let mut at_publication = turnstile.stop_at_path("/pulls");
            tokio::select! {
                () = gate.reached() => {
                    gate.open().await;
                    go = Some(at_publication.await.unwrap());
                }
                // Work that had passed its checks when its worker died is published without an agent.
                stopped = &mut at_publication => go = Some(stopped.unwrap()),
            }
        }
        // The worker may have died in the middle of this before.
        if world.said(1).await.iter().all(|said| said.author != "ann") {
            world.comments("ann", 1, words).await;
        }
        std::fs::write(said, "").unwrap();
        match go {
            Some(go) => drop(go.send(())),
            None => gate.open().await,
        }
    }

    /// Each notification came, under its own id.
    fn was_notified(self, world: &World, deaths: u64) {
        let Some(receiver) = &world.receiver else { return };
        assert_eq!(receiver.heard(), self.events(), "each is notified, and under one id");
        let all = receiver.received().len();
        assert!(all as u64 <= self.events().len() as u64 + deaths, "{all}: only the dead leave repeats");
    }

    /// The state at the end, and the labels.
    fn end(self) -> (State, Vec<&'static str>) {
        match self {
            Self::Happy
            | Self::Late
            | Self::FixedInTheSecondRound
            | Self::TwoCandidates
            | Self::Answered
            | Self::Retried
            | Self::Stopped
            | Self::Planned
            | Self::Reviewed
            | Self::Mixed
            | Self::Commanded
            | Self::CommandedAtWork
            | Self::Paused
            | Self::HeardAtWork
            | Self::HeardAtPublication
            | Self::RoundOfWords
            | Self::MindChanged
            | Self::House
            | Self::BaseMoved
            | Self::HandedOver
            | Self::Journaled
            | Self::AskedAgain => (State::InReview, vec!["code", "in-review"]),
            Self::Refused => (State::Ready, vec!["code"]),
            Self::Merged | Self::MergedByItself => (State::Done, vec!["code"]),
            Self::Rejected | Self::SpentUp => (State::Blocked, vec!["blocked", "code"]),
            Self::Cancelled | Self::ToldOffAtWork => (State::Done, vec![]),
            Self::Split => (State::Done, vec!["agent:planner"]),
        }
    }

    /// Whether the work is in two files.
    fn has_two_files(self) -> bool {
        [Self::Answered, Self::MindChanged, Self::BaseMoved, Self::Reviewed, Self::Mixed, Self::HandedOver]
            .contains(&self)
    }

    /// The conditions at the end after this many deaths, beside those of [`World::finish`].
    pub(super) async fn holds(self, world: &World, deaths: u64) {
        let record = agreed(world).await;
        self.was_notified(world, deaths);
        let labels = world.labels(1).await;
        let (state, wanted) = self.end();
        assert_eq!((record.state, labels), (state, wanted.into_iter().map(str::to_owned).collect()));
        if self.says_at_work().is_some() || self == Self::MindChanged {
            each_message_is_heard_once(world, &record).await;
        }
        match self {
            Self::ToldOffAtWork => assert!(world.pulls().await.is_empty(), "nothing is published"),
            Self::Refused => {
                assert!(world.status(1).await.contains("**Refused**") && world.pulls().await.is_empty());
                assert!(world.briefs(1).is_empty() && world.branches().await.is_empty());
            }
            Self::Cancelled => {
                assert!(world.briefs(1).len() == 1 && world.pulls().await.is_empty(), "nobody works on it again");
            }
            Self::Split => each_part_is_open_once(world).await,
            Self::SpentUp => {
                assert_eq!(record.blocked.map(|blocked| blocked.reason), Some(BlockCode::IssueBudget));
            }
            Self::AskedAgain => {
                let pulls = world.pulls().await;
                assert_eq!(pulls.len(), 2, "one a request");
                assert_eq!((&pulls[0]["state"], &pulls[1]["state"]), (&json!("closed"), &json!("open")));
                assert_eq!(record.pull.number.map(|number| number.0), pulls[1]["number"].as_u64());
            }
            Self::Happy
            | Self::Late
            | Self::FixedInTheSecondRound
            | Self::TwoCandidates
            | Self::Answered
            | Self::Merged
            | Self::Rejected
            | Self::Retried
            | Self::Stopped
            | Self::Planned
            | Self::Reviewed
            | Self::Mixed
            | Self::Commanded
            | Self::CommandedAtWork
            | Self::Paused
            | Self::HeardAtWork
            | Self::HeardAtPublication
            | Self::RoundOfWords
            | Self::MindChanged
            | Self::House
            | Self::MergedByItself
            | Self::HandedOver
            | Self::Journaled
            | Self::BaseMoved => {
                let pull = world.pull().await;
                let open = if record.state == State::InReview { "open" } else { "closed" };
                assert_eq!(pull["state"], open);
                // GitHub may merge it before the ledger names it.
                let known = record.pull.number.map(|number| number.0);
                assert!(
                    known == pull["number"].as_u64() || known.is_none() && self == Self::MergedByItself,
                    "{record:?}"
                );
                let mut changed = world.changed(pull["number"].as_u64().unwrap()).await;
                changed.sort();
                let paths: &[&str] = if self.has_two_files() { &["done.txt", "half.txt"] } else { &["done.txt"] };
                assert_eq!(changed, paths, "work that was pushed is kept");
                self.each_command_counts_once(world, &record).await;
                self.what_came_back_is_done(world, &record).await;
                let links = record.chain.links().iter().map(|link| link.to.as_str());
                assert!(links.eq((self == Self::HandedOver).then_some("second")), "it is handed off once");
                if self.says_at_work().is_some() {
                    let content = world.content("done.txt", pull["head"]["ref"].as_str().unwrap()).await;
                    assert_eq!(content, "DONE\n", "the words are in the work");
                }
                if self == Self::House {
                    keeps_to_the_rules(world, &record).await;
                }
            }
        }
    }
}

/// The first candidate writes more than the second.
fn two_candidates(done: &str) -> Builder {
    let script = format!("if [ $((n%2)) = 0 ]; then seq 3; else echo done; fi > done.txt; {done}");
    World::with_agent(&script).check("true").set("limits.candidates", "2")
}

/// A worker does not reach the ledger from its agent's first run on, until its lease is over; the next one does the work.
async fn spends_without_its_lease(world: &World) {
    let mut gate = Gate::of(world);
    assert_eq!(world.asks("Make done.txt", "").await, 1);
    let cut_off = world.worker(MORTAL).await;
    let happens = async {
        gate.reached().await;
        for path in ["refs", "ref"] {
            let (path, login) = (format!("/repos/acme/site/git/{path}/hob/issues/1"), Some("hob".into()));
            world.forge.inject(Fault { method: None, path, login, when: When::Always, what: What::DropBefore });
        }
        gate.open().await;
    };
    tokio::join!(run(&cut_off), happens);
    world.forge.heal();
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
}

/// Both issues are open, once, and one waits for the other; one comment names them.
async fn each_part_is_open_once(world: &World) {
    let all = world.look("/issues?state=all&per_page=100").await;
    let mut titles: Vec<_> = all.as_array().unwrap().iter().map(|issue| issue["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Make done.txt", "One", "Two"]);
    let parts = world.look("/issues/1/sub_issues").await;
    let numbers: Vec<u64> = parts.as_array().unwrap().iter().map(|part| part["number"].as_u64().unwrap()).collect();
    let waits = world.look(&format!("/issues/{}/dependencies/blocked_by", numbers[1])).await;
    assert_eq!((numbers.len(), waits[0]["number"].as_u64()), (2, Some(numbers[0])));
    let reports = world.said(1).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:report "));
    assert_eq!(reports.count(), 1);
}

impl Scenario {
    /// The feedback from the pull request, or the change of the base, is in the work.
    async fn what_came_back_is_done(self, world: &World, record: &Record) {
        if matches!(self, Self::Reviewed | Self::Mixed) {
            each_thread_is_answered_once(world, record).await;
        }
        if self == Self::Mixed {
            assert_eq!((record.review.ci_rounds, record.review.base_rounds), (1, 1));
            let pull = world.pull().await["number"].clone();
            assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable"], true);
        }
        if matches!(self, Self::BaseMoved | Self::Mixed) {
            let file = world.look("/contents/half.txt?ref=hob/1-make-done-txt").await;
            assert_eq!(file["content"].as_str().unwrap().trim(), "Ym90aAo=", "the conflict is resolved");
        }
    }

    /// Each command had its effect once, and its comment has one receipt.
    async fn each_command_counts_once(self, world: &World, record: &Record) {
        let (commands, replies, effects): (usize, usize, &[&str]) = match self {
            Self::Commanded => (6, 3, &["paused by ann", "ann set the issue's budget", "ann chose the agent"]),
            Self::CommandedAtWork => (3, 1, &["ann set the issue's budget", "ann chose the agent"]),
            Self::Paused => (2, 0, &["paused by ann", "resumed by ann"]),
            _ => return,
        };
        let history = world.history(1).await;
        for effect in effects {
            let lines = history.iter().filter(|line| line.starts_with(effect)).count();
            assert_eq!(lines, 1, "{effect}: {history:#?}");
        }
        assert_eq!((record.commands.receipts.len(), record.commands.handled.len()), (0, commands), "{record:?}");
        assert_eq!(record.pause().is_some(), self == Self::Commanded);
        if self != Self::Paused {
            assert_eq!(record.commands.budget.as_ref().map(|budget| budget.usd_micros), Some(3_000_000));
            assert_eq!(record.commands.agent.as_ref().map(|agent| agent.name.as_str()), Some("fixer"));
        }
        let (mut reacted, mut replied) = (0, 0);
        let pull = record.pull.number.unwrap().0;
        for on in [1, pull] {
            for comment in world.look(&format!("/issues/{on}/comments?per_page=100")).await.as_array().unwrap() {
                let text = comment["body"].as_str().unwrap();
                replied += usize::from(text.starts_with("<!-- hob:reply "));
                if text.starts_with("/hob") {
                    let reactions = world.look(&format!("/issues/comments/{}/reactions", comment["id"])).await;
                    reacted += usize::from(reactions.as_array().unwrap().len() == 1);
                }
            }
        }
        assert_eq!((reacted, replied), (commands, replies), "{history:#?}");
    }
}

/// Each of ann's comments on the issue has one receipt, and nothing that she said is left to read.
async fn each_message_is_heard_once(world: &World, record: &Record) {
    assert_eq!((&record.commands.receipts[..], &record.commands.unread[..]), (&[][..], &[][..]));
    let comments = world.look("/issues/1/comments?per_page=100").await;
    let said = comments.as_array().unwrap().iter().filter(|comment| comment["user"]["login"] == "ann");
    for comment in said {
        let found = world.look(&format!("/issues/comments/{}/reactions", comment["id"])).await;
        let reactions: Vec<_> = found.as_array().unwrap().iter().filter_map(|one| one["content"].as_str()).collect();
        assert_eq!(reactions, ["eyes"], "{} {:#?}", comment["body"], world.history(1).await);
    }
    assert!(world.said(1).await.iter().all(|said| !said.text.starts_with("<!-- hob:reply ")));
}

/// The pull request has its label and its reviewer, is no longer a draft, and each commit is signed off once.
async fn keeps_to_the_rules(world: &World, record: &Record) {
    let number = record.pull.number.unwrap().0;
    assert_eq!(world.labels(number).await, ["by-hob"]);
    assert_eq!(world.look(&format!("/pulls/{number}")).await["draft"], false);
    let asked = world.look(&format!("/pulls/{number}/requested_reviewers")).await;
    assert_eq!(asked["users"].as_array().unwrap().iter().map(|user| &user["login"]).collect::<Vec<_>>(), ["wil"]);
    for commit in world.commits(number).await {
        assert_eq!(commit.message.matches("Signed-off-by: ").count(), 1, "{}", commit.message);
    }
}

/// The forge's checks on the pull request pass, and stay so for a while.
async fn turns_green(world: &World) {
    let head = world.pull().await["head"]["sha"].as_str().unwrap().to_owned();
    let green = json!({"state": "success", "context": "ci"});
    world.call("wil", Method::POST, &format!("/statuses/{head}"), green).await;
    world.forge.advance(world.settings.review.settle * 2);
}

/// Answers the agent's question.
async fn answers(world: &World, said: &[&str]) {
    let record = agreed(world).await;
    assert_eq!((record.state, record.blocked.unwrap().question.as_str()), (State::Blocked, "Which colour?"));
    assert_eq!(world.branches().await, ["hob/1-make-done-txt"], "the work so far is kept");
    for said in said {
        world.comments("ann", 1, said).await;
    }
}

/// Ann requests changes in two threads.
async fn requests_changes(world: &World) {
    let pull = world.pull().await["number"].as_u64().unwrap();
    let on = |line: u64| json!({"path": "done.txt", "line": line, "side": "RIGHT", "body": "Louder, please."});
    let review = json!({"event": "REQUEST_CHANGES", "body": "Nearly.", "comments": [on(1), on(2)]});
    world.call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
}

/// The base conflicts with the work, and a check of the forge fails on it.
async fn spoils_head_and_base(world: &World) {
    world.pushes_onto("ann", "main", "half.txt", "theirs").await;
    let head = world.pull().await["head"]["sha"].as_str().unwrap().to_owned();
    let red = json!({"state": "failure", "context": "lint", "description": "E501"});
    world.call("wil", Method::POST, &format!("/statuses/{head}"), red).await;
}

/// The threads of a review, and the review, are answered once.
async fn each_thread_is_answered_once(world: &World, record: &Record) {
    let number = record.pull.number.unwrap().0;
    let remarks = world.look(&format!("/pulls/{number}/comments")).await;
    let remarks: Vec<&str> = remarks.as_array().unwrap().iter().filter_map(|one| one["body"].as_str()).collect();
    let answers: Vec<&&str> = remarks.iter().filter(|body| body.starts_with(OWN_MARK)).collect();
    assert_eq!((remarks.len(), answers.len()), (4, 2), "each thread is answered once: {remarks:?}");
    assert!(answers[0].contains("Louder.") && answers[1].contains("No."), "{answers:?}");
    assert_eq!(world.said(number).await.len(), 1, "and the review once");
    assert_eq!((record.review.rounds, record.review.is_under_way()), (1, false));
    let file = world.look("/contents/done.txt?ref=hob/1-make-done-txt").await;
    assert_eq!(file["content"].as_str().unwrap().trim(), "RE9ORQpoYWxmCg==");
}

/// The ledger's record, which labels and comment agree with.
async fn agreed(world: &World) -> Record {
    let (record, names) = (world.record(1).await.unwrap(), &world.settings.labels);
    assert_eq!(names.changes(&world.labels(1).await, record.state), [], "the labels say what the ledger says");
    let page = world.page();
    let said = status_body(&record, &world.settings.status_rules(&page));
    assert_eq!(world.status(1).await.trim_end(), said.trim_end(), "the comment says what the ledger says");
    record
}
