//! Makes the page of what the ledger, the deeds and this machine's sessions say.

use hob_agent::session::{SessionRecord, Sessions, Transcript};
use hob_domain::{Budgets, IssueNumber, Record, RepoName, Timestamp, dollars};
use hob_forge::LedgerEntry;
use hob_text::KnownSecrets;
use hob_words::word_of;

use crate::cli::flight::{
    checks::Proof,
    cost::Costs,
    life::{attempts, life, moment},
    page::{Fact, Page},
    session::{Session, models},
    told::Cleaner,
};

/// The most deeds, the newest ones.
const DEEDS_MAX: usize = 1_000;

/// What the record is made of.
pub(in crate::cli) struct Gathered<'a> {
    /// The repository.
    pub(in crate::cli) repo: &'a RepoName,
    /// The issue.
    pub(in crate::cli) issue: IssueNumber,
    /// Its title; `None` if the forge has no such issue any more.
    pub(in crate::cli) title: Option<String>,
    /// Its ledger, oldest first; empty if it was deleted.
    pub(in crate::cli) entries: &'a [LedgerEntry],
    /// The deeds, a line each.
    pub(in crate::cli) deeds: Vec<String>,
    /// The sessions of this machine.
    pub(in crate::cli) sessions: &'a Sessions,
    /// What the work may cost.
    pub(in crate::cli) budgets: &'a Budgets,
    /// The secrets that the file must not have.
    pub(in crate::cli) secrets: &'a KnownSecrets,
    /// When it is made, by the forge's clock.
    pub(in crate::cli) now: Timestamp,
}

/// The record as HTML.
pub(in crate::cli) fn record(gathered: Gathered<'_>) -> anyhow::Result<String> {
    let Gathered { repo, issue, title, entries, deeds, sessions, budgets, secrets, now } = gathered;
    let cleaner = Cleaner::new(secrets);
    let last = entries.last().map(|entry| &entry.record);
    let mut records = sessions.list();
    records.retain(|record| record.repo == *repo && record.issue == issue);
    records.sort_by_key(|record| record.started_ms);
    let read: Vec<_> = records.into_iter().map(|record| Read::new(sessions, record)).collect();
    let lines = read.iter().filter_map(|read| read.transcript.as_ref()).flat_map(|transcript| &transcript.lines);
    let costs = [
        Costs { what: "attempt", by: "worked last", rows: attempts(&cleaner, entries) },
        Costs { what: "model, in the sessions of this machine", by: "turns", rows: models(&cleaner, lines) },
    ];
    let statement = last.and_then(|record| record.work.proof.as_ref()).map(|proof| proof.statement());
    let over = deeds.len().saturating_sub(DEEDS_MAX);
    let cut = (over > 0).then(|| format!("… {over} earlier lines are left out …"));
    let deeds = cut.iter().chain(&deeds[over..]).map(|deed| cleaner.line(deed));
    let made = format!("Made by Hob {} at {}.", env!("CARGO_PKG_VERSION"), moment(now));
    Page {
        repository: cleaner.line(&repo.to_string()),
        issue: issue.to_string(),
        title: cleaner.line(title.as_deref().unwrap_or("(the forge has no such issue)")),
        state: last.map_or_else(|| "none".to_owned(), |record| record.state.to_string()),
        facts: last.map(|record| facts(&cleaner, record, budgets)).unwrap_or_default(),
        life: life(&cleaner, entries),
        costs: costs.into_iter().filter(|table| !table.rows.is_empty()).collect(),
        proof: statement.map(|statement| Proof::of(&cleaner, statement)),
        deeds: deeds.collect(),
        sessions: read.iter().map(|read| read.shown(&cleaner)).collect(),
        made: cleaner.line(&made),
    }
    .html()
}

/// A session as far as it can be read.
struct Read {
    record: SessionRecord,
    transcript: Option<Transcript>,
    why: String,
}

impl Read {
    fn new(sessions: &Sessions, record: SessionRecord) -> Self {
        match sessions.read(&record.id) {
            Ok(transcript) => Self { record, transcript: Some(transcript), why: String::new() },
            Err(error) => Self { record, transcript: None, why: format!("its transcript cannot be read: {error}") },
        }
    }

    fn shown(&self, cleaner: &Cleaner) -> Session {
        Session::new(cleaner, &self.record, self.transcript.as_ref(), &self.why)
    }
}

/// What a reader asks first.
fn facts(cleaner: &Cleaner, record: &Record, budgets: &Budgets) -> Vec<Fact> {
    let budget = budgets.of_issue(&record.commands).usd_micros;
    let budget = budget.map(|most| format!(" of {}", dollars(most))).unwrap_or_default();
    let spend = record.spend;
    let seconds = spend.wall_seconds;
    let (input, output) = (spend.input_tokens, spend.output_tokens);
    let said = record.work.proof.as_ref().map(|proof| proof.statement());
    let word = said.and_then(|said| word_of(&said.predicate.shown));
    let route = record.route.as_ref().and_then(|route| {
        let profile = route.profile.as_ref()?;
        Some(format!("{profile}, because {}", route.reasons.join("; ")))
    });
    let by = record.work.by.as_ref().map(|by| match &by.model {
        Some(model) => format!("{} ({model})", by.agent),
        None => by.agent.clone(),
    });
    let blocked = record.blocked.as_ref();
    let facts = [
        ("proof", word.map(str::to_owned)),
        ("pull request", record.pull.number.map(|pull| format!("#{pull}"))),
        (
            "spent",
            Some(format!(
                "{}{budget}, {input} tokens in, {output} out, {seconds} s of runs",
                dollars(spend.usd_micros)
            )),
        ),
        ("quote", record.work.quote.map(|quote| quote.to_string())),
        ("attempts", Some(record.attempts.ever.to_string())),
        ("rounds in review", (record.review.begun > 0).then(|| record.review.begun.to_string())),
        ("agent", by),
        ("profile", route),
        ("asked for by", record.trigger.as_ref().map(|trigger| trigger.actor.to_string())),
        ("branch", record.work.branch.as_ref().map(|branch| branch.name.clone())),
        ("blocked", blocked.map(|blocked| blocked.text.clone())),
        ("question", blocked.map(|blocked| blocked.question.clone())),
        ("failed last", record.failure.text.clone()),
    ];
    let fact = |(name, value): (&'static str, Option<String>)| Some(Fact { name, value: cleaner.text(&value?) });
    facts.into_iter().filter_map(fact).filter(|fact| !fact.value.is_blank()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hob_agent::session::{Header, RunLimits, SessionEvent, VERSION};
    use hob_config::StateSettings;

    use super::*;

    #[tokio::test]
    async fn a_long_life_is_cut_at_its_begin_and_says_so() {
        const STEPS: usize = 300;
        let folder = tempfile::tempdir().unwrap();
        let keep = StateSettings { keep: Duration::from_secs(3_600), sessions: 1 << 30, disk: 0 };
        let sessions = Sessions::new(folder.path().to_owned(), keep);
        let repo: RepoName = "acme/site".parse().unwrap();
        let (issue, id) = (IssueNumber(7), "s".into());
        let header = Header { transcript: VERSION, session: id, repo: repo.clone(), issue, agent: "native".to_owned() };
        let session = sessions.open(&header).unwrap();
        let limits = RunLimits::default();
        session.add(SessionEvent::Started {
            run: "r".into(),
            brief: "b".to_owned(),
            limits,
            bill: hob_domain::Spend::default(),
        });
        for step in 0..STEPS {
            // Escaped, it is four times as long.
            session.add(SessionEvent::Told { text: format!("{} {}", "<".repeat(20_000), step) });
        }
        session.flush().await;
        let budgets = Budgets::default();
        let html = record(Gathered {
            repo: &repo,
            issue,
            title: None,
            entries: &[],
            deeds: (0..DEEDS_MAX + 5).map(|deed| format!("deed {deed}")).collect(),
            sessions: &sessions,
            budgets: &budgets,
            secrets: &KnownSecrets::default(),
            now: Timestamp::UNIX_EPOCH,
        })
        .unwrap();
        assert!((1 << 20..8 << 20).contains(&html.len()), "{}", html.len());
        let kept = html.matches("<details><summary><time>").count();
        let left_out = format!("{} earlier steps are left out", STEPS + 1 - kept);
        assert!(html.contains(&left_out) && html.contains("bytes cut"), "{left_out}");
        assert!(html.contains(&format!(" {}</pre>", STEPS - 1)), "the last one is there");
        assert!(html.contains("… 5 earlier lines are left out …") && html.contains("it was never claimed"));
    }
}
