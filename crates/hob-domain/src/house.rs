//! A repository's house rules for pull requests: where they go, who is asked, and what the ledger remembers of that.

use serde::{Deserialize, Serialize};

use crate::{Login, PullNumber};

/// What the ledger knows of the house rules.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HouseLog {
    /// The branch that the work goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseChoice>,
    /// The pull request that has its labels and reviewers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub introduced: Option<Introduced>,
}

impl HouseLog {
    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The branch that the work starts from and goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseChoice {
    /// Its name.
    pub branch: String,
    /// What named it.
    pub by: BaseSource,
}

/// What named a base branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseSource {
    /// A label on the issue, by an authorized account.
    Label,
    /// The settings, or the repository's default.
    Settings,
}

impl BaseChoice {
    /// The base of an attempt: what an authorized label names, else what earlier attempts had, else what the settings say. A
    /// label that was taken off names nothing more.
    pub fn of(label: Option<&str>, earlier: Option<&Self>, settings: &str) -> Self {
        match (label, earlier) {
            (Some(branch), _) => Self { branch: branch.to_owned(), by: BaseSource::Label },
            (None, Some(earlier)) if earlier.by == BaseSource::Settings => earlier.clone(),
            (None, _) => Self { branch: settings.to_owned(), by: BaseSource::Settings },
        }
    }
}

/// A pull request that was given its labels and reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduced {
    /// Its number.
    pub pull: PullNumber,
    /// What the forge refused, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// Who is asked for a review.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Reviewers {
    /// Accounts.
    pub users: Vec<Login>,
    /// Teams of the repository's organization, by their slugs.
    pub teams: Vec<String>,
}

impl Reviewers {
    /// Reads logins, `team:SLUG` and `ORG/TEAM`. The owners in CODEOWNERS are asked by the forge itself.
    pub fn of(names: &[String]) -> Self {
        let mut all = Self::default();
        for name in names.iter().map(|name| name.trim().trim_start_matches('@')) {
            match name.strip_prefix("team:").or_else(|| name.split_once('/').map(|(_org, team)| team)) {
                Some(team) => all.teams.push(team.to_owned()),
                None if name.eq_ignore_ascii_case("codeowners") => {}
                None => all.users.push(name.into()),
            }
        }
        all
    }

    /// Whether nobody is asked.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.teams.is_empty()
    }

    /// Each of them alone.
    pub fn each(&self) -> Vec<Self> {
        let users = self.users.iter().map(|user| Self { users: vec![user.clone()], ..Self::default() });
        let teams = self.teams.iter().map(|team| Self { teams: vec![team.clone()], ..Self::default() });
        users.chain(teams).collect()
    }

    /// Their names.
    pub fn names(&self) -> String {
        let users = self.users.iter().map(|user| format!("`{user}`"));
        users.chain(self.teams.iter().map(|team| format!("the team `{team}`"))).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_the_labels_then_the_earlier_one_then_the_settings() {
        let by = |branch: &str, by| BaseChoice { branch: branch.to_owned(), by };
        let (labelled, set) = (by("next", BaseSource::Label), by("v1", BaseSource::Settings));
        for (label, earlier, chosen) in [
            (None, None, by("main", BaseSource::Settings)),
            (Some("next"), None, labelled.clone()),
            (Some("next"), Some(&set), labelled.clone()),
            (None, Some(&set), set.clone()),
            (None, Some(&labelled), by("main", BaseSource::Settings)),
            (Some("v2"), Some(&labelled), by("v2", BaseSource::Label)),
        ] {
            assert_eq!(BaseChoice::of(label, earlier, "main"), chosen, "{label:?} {earlier:?}");
        }
    }

    #[test]
    fn reviewers_are_accounts_and_teams() {
        let names = ["ann", "@wil", "team:core", "acme/docs", "codeowners"].map(str::to_owned);
        let all = Reviewers::of(&names);
        assert_eq!((all.users.as_slice(), all.teams.join(" ")), (&["ann".into(), "wil".into()][..], "core docs".into()));
        assert_eq!(all.each().len(), 4);
        assert_eq!(all.names(), "`ann`, `wil`, the team `core`, the team `docs`");
        assert!(Reviewers::of(&["codeowners".to_owned()]).is_empty());
    }
}
