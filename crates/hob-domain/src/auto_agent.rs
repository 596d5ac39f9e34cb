//! The agent that `agent = "auto"` chooses: the one whose merged pull requests cost the least for this kind of issue, by what came of
//! earlier ones.
//!
//! # Guarantees
//! The same outcomes lead to the same choice, on every worker: whether an issue explores depends on its number alone.
//!
//! # Assumptions
//! The next issue is like those of its kind, as for a quote. An agent whose cost is not known cannot be the cheapest.
//!
//! # Caveats
//! An open pull request counts as tried and not as merged, so that an agent is not called cheap before people have decided.

use crate::{
    AgentTrial, AutoChoice, IssueKind, IssueNumber, RepoName, WorkedBy, change::sha256::Sha256Hex,
    money::spend::dollars,
};

/// The name in the setting `agent` that leaves the choice to what came of earlier work.
pub const AUTO_AGENT: &str = "auto";
/// One issue in so many tries another agent than the best.
const EXPLORES: u64 = 10;
/// The most issues of a kind on which an agent is tried that none was merged of.
const UNMERGED_MAX: usize = 5;
/// An agent without a merge is left once it cost more than this many merges of the best.
const DEAR: u64 = 3;

/// The issue that an agent is chosen for.
#[derive(Debug, Clone, Copy)]
pub struct AutoIssue<'a> {
    /// The repository.
    pub repo: &'a RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// Its kind.
    pub kind: IssueKind<'a>,
}

/// What came of an agent's work on issues of a kind.
struct Tally<'a> {
    by: &'a WorkedBy,
    issues: usize,
    merged: u64,
    usd_micros: u64,
}

impl<'a> Tally<'a> {
    /// Of the trials of one kind. A profile may choose the model, so there the agent alone counts.
    fn of(by: &'a WorkedBy, like: &[&AgentTrial], kind: IssueKind<'_>) -> Self {
        let is_its =
            |trial: &&&AgentTrial| trial.by.agent == by.agent && (kind.profile.is_some() || trial.by.model == by.model);
        let mut tally = Self { by, issues: 0, merged: 0, usd_micros: 0 };
        for trial in like.iter().filter(is_its) {
            tally.issues += 1;
            tally.merged += u64::from(trial.is_merged);
            tally.usd_micros = tally.usd_micros.saturating_add(trial.usd_micros);
        }
        tally
    }

    /// What a merged pull request costs, with all that came to nothing. `None` if none was merged, or no money is known.
    fn per_merge(&self) -> Option<u64> {
        self.usd_micros.checked_div(self.merged).filter(|cost| *cost > 0)
    }

    /// Whether it may be tried beside the best, whose merges cost `best`.
    fn is_open(&self, best: Option<u64>) -> bool {
        let is_dear = best.is_some_and(|best| self.usd_micros > best.saturating_mul(DEAR));
        self.merged > 0 || self.issues < UNMERGED_MAX && !is_dear
    }

    fn chosen(&self, why: String) -> AutoChoice {
        AutoChoice { agent: self.by.agent.clone(), why }
    }
}

/// Chooses among these agents, of which the first is the one that works if nothing is known. `None` if there is none.
pub fn auto_agent(agents: &[WorkedBy], trials: &[AgentTrial], issue: AutoIssue<'_>) -> Option<AutoChoice> {
    let kind = issue.kind;
    let like = kind.alike(trials, |one| IssueKind { profile: one.profile.as_ref(), complexity: one.complexity });
    let tallies: Vec<Tally<'_>> = agents.iter().map(|by| Tally::of(by, &like, kind)).collect();
    let best = tallies.iter().filter_map(|tally| Some((tally.per_merge()?, tally))).min_by_key(|(cost, _)| *cost);
    let cost = best.map(|(cost, _)| cost);
    let mut open = tallies.iter().filter(|tally| tally.is_open(cost));
    let explores = explores(issue);
    let Some((cost, best)) = best else {
        let tried = if explores { open.min_by_key(|tally| tally.issues) } else { open.next() };
        let why = "no pull request of such issues was merged yet".to_owned();
        return Some(tried.or(tallies.first())?.chosen(why));
    };
    let other = open.filter(|tally| tally.by != best.by).min_by_key(|tally| tally.issues);
    if let Some(other) = other.filter(|_| explores) {
        let tried = other.issues;
        return Some(
            other.chosen(format!("one issue in {EXPLORES} tries another agent; so far {tried} of such issues did")),
        );
    }
    let Tally { issues, merged, .. } = best;
    Some(
        best.chosen(format!(
            "the least for a merged pull request, {}: {merged} of {issues} such issues",
            dollars(cost)
        )),
    )
}

/// Whether the issue tries another agent than the best: the same on every worker, and each time.
fn explores(issue: AutoIssue<'_>) -> bool {
    let name = format!("{}#{}", issue.repo, issue.issue).to_ascii_lowercase();
    let digest = Sha256Hex::of(name).sha256;
    digest.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).is_some_and(|drawn| drawn % EXPLORES == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROS: u64 = 1_000_000;

    fn by(agent: &str) -> WorkedBy {
        WorkedBy { agent: agent.to_owned(), model: None }
    }

    /// An agent, how many of its issues were merged, of how many, and dollars for each issue.
    type Known = (&'static str, usize, usize, u64);

    fn trials(of: &[Known]) -> Vec<AgentTrial> {
        let of_agent = |(agent, merged, issues, usd): &Known| {
            let one = |n| AgentTrial {
                issue: IssueNumber(1),
                by: by(agent),
                profile: None,
                complexity: 5,
                usd_micros: usd * MICROS,
                is_merged: n < *merged,
            };
            (0..*issues).map(one).collect::<Vec<_>>()
        };
        of.iter().flat_map(of_agent).collect()
    }

    fn repo() -> RepoName {
        "acme/site".parse().unwrap()
    }

    fn chosen(issue: u64, agents: &[WorkedBy], trials: &[AgentTrial]) -> Option<AutoChoice> {
        let kind = IssueKind { profile: None, complexity: 5 };
        auto_agent(agents, trials, AutoIssue { repo: &repo(), issue: IssueNumber(issue), kind })
    }

    /// An issue that explores, and one that does not.
    fn both() -> [u64; 2] {
        let kind = IssueKind { profile: None, complexity: 5 };
        let is = |wanted: bool| {
            let found = (1..).find(|n| explores(AutoIssue { repo: &repo(), issue: IssueNumber(*n), kind }) == wanted);
            found.unwrap()
        };
        [is(false), is(true)]
    }

    #[test]
    fn the_cheapest_for_a_merge_works_and_others_are_tried_in_bounds() {
        let agents = ["native", "claude", "codex"].map(by);
        let rows: [(&str, &[Known]); 9] = [
            ("nothing known", &[]),
            ("one merged, the others new", &[("native", 1, 2, 1)]),
            ("cheaper each, dearer for a merge", &[("native", 1, 6, 1), ("claude", 4, 4, 2)]),
            ("the least tried is tried", &[("native", 9, 9, 1), ("claude", 1, 3, 9), ("codex", 1, 2, 9)]),
            ("without a merge, too dear", &[("native", 4, 4, 1), ("claude", 0, 1, 4), ("codex", 1, 9, 1)]),
            ("without a merge, tried enough", &[("native", 4, 4, 1), ("claude", 0, 5, 0), ("codex", 0, 5, 0)]),
            ("the default has no merge", &[("native", 0, 5, 1)]),
            ("nobody has", &[("native", 0, 5, 1), ("claude", 0, 5, 1), ("codex", 0, 5, 1)]),
            ("a cost that is not known", &[("native", 2, 2, 1), ("claude", 5, 5, 0), ("codex", 0, 4, 0)]),
        ];
        let table: Vec<String> = rows
            .iter()
            .map(|(name, known)| {
                let [usual, exploring] = both().map(|issue| {
                    let AutoChoice { agent, why } = chosen(issue, &agents, &trials(known)).unwrap();
                    format!("{agent} ({why})")
                });
                format!("{name}: {usual}; else {exploring}")
            })
            .collect();
        insta::assert_snapshot!(table.join("\n"), @"
        nothing known: native (no pull request of such issues was merged yet); else native (no pull request of such issues was merged yet)
        one merged, the others new: native (the least for a merged pull request, $2.00: 1 of 2 such issues); else claude (one issue in 10 tries another agent; so far 0 of such issues did)
        cheaper each, dearer for a merge: claude (the least for a merged pull request, $2.00: 4 of 4 such issues); else codex (one issue in 10 tries another agent; so far 0 of such issues did)
        the least tried is tried: native (the least for a merged pull request, $1.00: 9 of 9 such issues); else codex (one issue in 10 tries another agent; so far 2 of such issues did)
        without a merge, too dear: native (the least for a merged pull request, $1.00: 4 of 4 such issues); else codex (one issue in 10 tries another agent; so far 9 of such issues did)
        without a merge, tried enough: native (the least for a merged pull request, $1.00: 4 of 4 such issues); else native (the least for a merged pull request, $1.00: 4 of 4 such issues)
        the default has no merge: claude (no pull request of such issues was merged yet); else claude (no pull request of such issues was merged yet)
        nobody has: native (no pull request of such issues was merged yet); else native (no pull request of such issues was merged yet)
        a cost that is not known: native (the least for a merged pull request, $1.00: 2 of 2 such issues); else codex (one issue in 10 tries another agent; so far 4 of such issues did)
        ");
        assert_eq!(chosen(1, &[], &[]), None);
    }

    #[test]
    fn one_issue_in_ten_explores_the_same_one_each_time() {
        let kind = IssueKind { profile: None, complexity: 0 };
        let share = |name: &str| -> Vec<u64> {
            let repo: RepoName = name.parse().unwrap();
            let of = |n: &u64| explores(AutoIssue { repo: &repo, issue: IssueNumber(*n), kind });
            (1..=1_000).filter(of).collect()
        };
        let of_site = share("acme/site");
        assert!((70..=130).contains(&of_site.len()), "{}", of_site.len());
        assert_eq!(of_site, share("Acme/Site"), "names of repositories have no case");
        assert_ne!(of_site, share("acme/docs"));
    }

    #[test]
    fn only_its_own_model_and_issues_of_the_kind_count() {
        let agents = [by("native"), WorkedBy { agent: "claude".to_owned(), model: Some("new".to_owned()) }];
        let [usual, _] = both();
        let mut known = trials(&[("native", 5, 5, 9), ("claude", 5, 5, 1)]);
        assert_eq!(chosen(usual, &agents, &known).unwrap().agent, "native", "another model");
        known.iter_mut().filter(|trial| trial.by.agent == "claude").for_each(|trial| {
            trial.by.model = Some("new".to_owned());
        });
        assert_eq!(chosen(usual, &agents, &known).unwrap().agent, "claude");
        known.iter_mut().filter(|trial| trial.by.agent == "claude").for_each(|trial| trial.complexity = 9);
        assert_eq!(chosen(usual, &agents, &known).unwrap().agent, "native", "another size");
        known.iter_mut().for_each(|trial| trial.profile = Some("dns".parse().unwrap()));
        assert_eq!(chosen(usual, &agents, &known).unwrap().why, "no pull request of such issues was merged yet");
    }
}
