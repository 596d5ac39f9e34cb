//! `hob outcomes`: what came of the work, from the ledgers alone.

use chrono::TimeDelta;
use hob_domain::{IssueOutcome, OutcomeGroup, Outcomes, RepoName, Timestamp, by_group};
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_web::{group_name, grouped};
use hob_words::age;
use hob_worker::{Ledgers, Preflight, ledgers};
use serde_json::Value;

use crate::cli::{
    args::Shared,
    issue_args::{GroupedBy, OutcomesArgs},
    json,
    layout::{self, Table},
    outcomes_csv, output,
    setup::{Listen, Setup},
};

/// A cell without a value.
const NOTHING: &str = "-";

pub(super) async fn outcomes(setup: Setup, shared: Shared, args: OutcomesArgs) -> anyhow::Result<()> {
    let pool = setup.pool(&shared, Access::ReadOnly, None, Preflight::BeforeWork, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let (mut all, mut unreadable, mut failed) = (Vec::new(), Vec::new(), None);
    let mut now = None;
    for worker in &workers {
        let repo = worker.forge().repo();
        match ledgers(worker).await {
            Ok(Ledgers { records, unreadable: bad }) => {
                all.extend(records.iter().filter_map(|record| Some((repo.clone(), IssueOutcome::of(record)?))));
                let told = |(issue, why)| format!("the ledger of issue {issue} of {repo} is left out: {why}");
                unreadable.extend(bad.into_iter().map(told));
                now = now.max(Some(worker.forge().now()));
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    unreadable.iter().for_each(|bad| output::note(terminal(bad)));
    if let Some(now) = now {
        let shown = Shown { all, group: group(args.by), now };
        match (shared.json, args.csv) {
            (true, _) => json::result(&shown.as_json(&unreadable)?)?,
            (false, true) => outcomes_csv::print(&shown.all)?,
            (false, false) => shown.print()?,
        }
    }
    failed.map_or(Ok(()), Err)
}

fn group(by: GroupedBy) -> OutcomeGroup {
    match by {
        GroupedBy::Agent => OutcomeGroup::Agent,
        GroupedBy::Model => OutcomeGroup::Model,
        GroupedBy::Profile => OutcomeGroup::Profile,
        GroupedBy::Label => OutcomeGroup::Label,
        GroupedBy::Week => OutcomeGroup::Week,
    }
}

/// What is shown.
struct Shown {
    all: Vec<(RepoName, IssueOutcome)>,
    group: OutcomeGroup,
    now: Timestamp,
}

impl Shown {
    fn outcomes(&self) -> Vec<IssueOutcome> {
        self.all.iter().map(|(_, outcome)| outcome.clone()).collect()
    }

    fn print(&self) -> anyhow::Result<()> {
        let outcomes = self.outcomes();
        let total = Outcomes::of(&outcomes);
        layout::paragraph(&in_a_sentence(&total, self.now))?;
        if outcomes.is_empty() {
            return Ok(());
        }
        output::line("")?;
        let mut table = Table::new(
            &[
                group_name(self.group),
                "merged",
                "rejected",
                "open",
                "no PR",
                "zero-touch",
                "rounds",
                "proven",
                "to merge",
                "spent",
                "$/merged",
            ],
            &[],
        );
        let groups = by_group(&outcomes, self.group);
        for (name, sum) in &groups {
            table.row(row(name.as_deref().unwrap_or(NOTHING), sum));
        }
        if groups.len() > 1 {
            table.row(row("all", &total));
        }
        table.print()?;
        if total.quoted > 0 {
            output::line("")?;
            let (within, quoted) = (total.within_quote, total.quoted);
            layout::paragraph(&format!(
                "The bill was within the quote for {within} of {quoted} finished issues that had one."
            ))?;
        }
        Ok(())
    }

    fn as_json(&self, unreadable: &[String]) -> anyhow::Result<Value> {
        let mut value = serde_json::to_value(grouped(&self.all, self.group, self.now))?;
        value["unreadable"] = unreadable.into();
        Ok(value)
    }
}

fn row(name: &str, sum: &Outcomes) -> Vec<String> {
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    let usd = |amount: f64| if amount > 0.0 { format!("${amount:.2}") } else { NOTHING.to_owned() };
    vec![
        name.to_owned(),
        sum.merged.to_string(),
        sum.rejected.to_string(),
        sum.waiting.to_string(),
        sum.without_pull().to_string(),
        sum.zero_touch.to_string(),
        or_nothing(sum.rounds_each().map(|rounds| format!("{rounds:.1}"))),
        sum.proven().to_string(),
        or_nothing(sum.median_merge_seconds().map(|seconds| age(length(seconds)))),
        usd(sum.spend.usd()),
        or_nothing(sum.usd_per_merged().map(usd)),
    ]
}

fn length(seconds: u64) -> TimeDelta {
    TimeDelta::seconds(i64::try_from(seconds).unwrap_or(i64::MAX / 1_000))
}

/// What an operator asks first.
fn in_a_sentence(sum: &Outcomes, now: Timestamp) -> String {
    if sum.issues == 0 {
        return "No attempt at an issue has begun yet.".to_owned();
    }
    let verdicts = match sum.merged_share() {
        None => "No pull request is finished yet".to_owned(),
        Some(share) => {
            let (closed, was) = (sum.closed(), if sum.merged == 1 { "was" } else { "were" });
            let mut text =
                format!("{} of {closed} finished pull requests {was} merged ({:.0}%)", sum.merged, 100.0 * share);
            match sum.usd_per_merged().filter(|usd| *usd > 0.0) {
                Some(usd) => text.push_str(&format!(", at ${usd:.2} for each merged one")),
                None if sum.spend.usd_micros > 0 => text.push_str(&format!(", and ${:.2} spent", sum.spend.usd())),
                None => {}
            }
            if let Some(seconds) = sum.median_merge_seconds() {
                text.push_str(&format!(", in {} at the median", age(length(seconds))));
            }
            text
        }
    };
    let mut parts = vec![verdicts];
    if let Some(since) = sum.waiting_since {
        let (waits, age) = (if sum.waiting == 1 { "waits" } else { "wait" }, age(now - since));
        let which = if sum.waiting == 1 { "" } else { "the oldest " };
        parts.push(format!("{} {waits}, {which}for {age}", sum.waiting));
    }
    if sum.blocked > 0 {
        let needs = if sum.blocked == 1 { "needs" } else { "need" };
        parts.push(format!("{} without one {needs} a person", count(sum.blocked, "issue")));
    }
    format!("{}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use hob_domain::{IssueNumber, OutcomeKind, Spend};

    use super::*;

    fn outcome(kind: OutcomeKind, hours: i64, usd_micros: u64) -> IssueOutcome {
        IssueOutcome {
            issue: IssueNumber(1),
            kind,
            at: Timestamp::UNIX_EPOCH + TimeDelta::hours(hours),
            pull: None,
            merge_seconds: (kind == OutcomeKind::Merged).then_some(3 * 3_600),
            agent: None,
            model: None,
            profile: None,
            labels: Vec::new(),
            word: None,
            rounds: 0,
            is_zero_touch: false,
            spend: Spend { usd_micros, ..Spend::default() },
            quote: None,
        }
    }

    #[test]
    fn the_sentence_says_what_an_operator_asks_first() {
        let now = Timestamp::UNIX_EPOCH + TimeDelta::days(10);
        let says = |all: &[IssueOutcome]| in_a_sentence(&Outcomes::of(all), now);
        let of = |kind, number: usize| std::iter::repeat_n(outcome(kind, 96, 1_000_000), number);
        let (merged, rejected) = (OutcomeKind::Merged, OutcomeKind::Rejected);
        let many: Vec<_> = of(merged, 23).chain(of(rejected, 8)).chain(of(OutcomeKind::Waiting, 4)).collect();
        assert_eq!(
            says(&many),
            "23 of 31 finished pull requests were merged (74%), at $1.52 for each merged one, in 3 h at the median; 4 wait, the \
             oldest for 6 d."
        );
        let few: Vec<_> =
            of(rejected, 1).chain(of(OutcomeKind::Blocked, 1)).chain(of(OutcomeKind::Waiting, 1)).collect();
        assert_eq!(
            says(&few),
            "0 of 1 finished pull requests were merged (0%), and $3.00 spent; 1 waits, for 6 d; 1 issue without one needs a person."
        );
        let open: Vec<_> = of(OutcomeKind::Waiting, 1).collect();
        assert_eq!(says(&open), "No pull request is finished yet; 1 waits, for 6 d.");
        assert_eq!(says(&[]), "No attempt at an issue has begun yet.");
    }
}
