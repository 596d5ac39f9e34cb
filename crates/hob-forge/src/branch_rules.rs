//! The rules of the forge's rulesets for a branch, which need not exist.

use hob_domain::{Pattern, PatternOperator, PushRule};
use serde::{Deserialize, Serialize};

use crate::{ForgeError, Repository, TokenPermission::MetadataRead, repository::encoded};

#[derive(Serialize, Deserialize)]
struct RuleWire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: ParametersWire,
}

/// The parameters of all kinds of rules that are read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ParametersWire {
    operator: String,
    pattern: String,
    negate: bool,
    max_file_size: Option<u64>,
    restricted_file_paths: Vec<String>,
    restricted_file_extensions: Vec<String>,
    required_status_checks: Vec<CheckWire>,
}

#[derive(Serialize, Deserialize)]
struct CheckWire {
    context: String,
}

impl RuleWire {
    /// The rule. `None` if it refuses no push, or is of a kind that this Hob does not know.
    fn read(self) -> Option<PushRule> {
        Some(match self.kind.as_str() {
            "creation" => PushRule::Creation,
            "update" => PushRule::Update,
            "non_fast_forward" => PushRule::NonFastForward,
            "pull_request" => PushRule::PullRequest,
            "required_status_checks" => PushRule::StatusChecks,
            "required_linear_history" => PushRule::LinearHistory,
            "required_signatures" => PushRule::Signatures,
            "branch_name_pattern" => PushRule::BranchName(self.parameters.read()?),
            "commit_author_email_pattern" => PushRule::AuthorEmail(self.parameters.read()?),
            "committer_email_pattern" => PushRule::CommitterEmail(self.parameters.read()?),
            "commit_message_pattern" => PushRule::CommitMessage(self.parameters.read()?),
            "max_file_size" => PushRule::FileSize(self.parameters.max_file_size?),
            "file_path_restriction" => PushRule::FilePaths(self.parameters.restricted_file_paths),
            "file_extension_restriction" => PushRule::FileExtensions(self.parameters.restricted_file_extensions),
            _other => return None,
        })
    }
}

impl ParametersWire {
    fn read(self) -> Option<Pattern> {
        let operator = match self.operator.as_str() {
            "starts_with" => PatternOperator::StartsWith,
            "ends_with" => PatternOperator::EndsWith,
            "contains" => PatternOperator::Contains,
            "regex" => PatternOperator::Regex,
            _other => return None,
        };
        Some(Pattern { operator, pattern: self.pattern, negate: self.negate })
    }
}

impl Repository<'_> {
    /// The rules of the repository's and its organization's rulesets that can refuse a push to `branch`. The forge
    /// omits who may bypass them, and protection without a ruleset, which only admins may read. Empty if there are no
    /// rulesets, or if the repository's plan has none.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn rules_of(self, branch: &str) -> Result<Vec<PushRule>, ForgeError> {
        Ok(self.every_rule(branch).await?.into_iter().filter_map(RuleWire::read).collect())
    }

    /// Whether a ruleset requires a status of this context on `branch`.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn requires(self, branch: &str, context: &str) -> Result<bool, ForgeError> {
        let rules = self.every_rule(branch).await?;
        Ok(rules.iter().flat_map(|rule| &rule.parameters.required_status_checks).any(|check| check.context == context))
    }

    async fn every_rule(self, branch: &str) -> Result<Vec<RuleWire>, ForgeError> {
        let path = self.forge.path(&format!("/rules/branches/{}", encoded(branch)));
        let what = "read the rules of a branch";
        match self.forge.get_all::<RuleWire>(&path, MetadataRead.to(what), "remove rules").await {
            Ok(rules) => Ok(rules),
            Err(ForgeError::Forbidden { .. }) => Ok(Vec::new()),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GitHub's document shows them: <https://docs.github.com/rest/repos/rules#get-rules-for-a-branch>.
    #[test]
    fn rules_are_read_by_their_kind_and_what_refuses_no_push_is_left_out() {
        let pattern = |operator| Pattern { operator, pattern: "x".to_owned(), negate: false };
        for (json, rule) in [
            (r#"{"type": "creation"}"#, Some(PushRule::Creation)),
            (r#"{"type": "update", "parameters": {"update_allows_fetch_and_merge": true}}"#, Some(PushRule::Update)),
            (r#"{"type": "non_fast_forward"}"#, Some(PushRule::NonFastForward)),
            (r#"{"type": "required_linear_history"}"#, Some(PushRule::LinearHistory)),
            (
                r#"{"type": "required_signatures", "ruleset_source_type": "Organization", "ruleset_id": 7}"#,
                Some(PushRule::Signatures),
            ),
            (
                r#"{"type": "pull_request", "parameters": {"required_approving_review_count": 1}}"#,
                Some(PushRule::PullRequest),
            ),
            (
                r#"{"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "a"}]}}"#,
                Some(PushRule::StatusChecks),
            ),
            (
                r#"{"type": "branch_name_pattern", "parameters": {"operator": "regex", "pattern": "x", "negate": true}}"#,
                Some(PushRule::BranchName(Pattern { negate: true, ..pattern(PatternOperator::Regex) })),
            ),
            (
                r#"{"type": "commit_author_email_pattern", "parameters": {"operator": "ends_with", "pattern": "x"}}"#,
                Some(PushRule::AuthorEmail(pattern(PatternOperator::EndsWith))),
            ),
            (
                r#"{"type": "committer_email_pattern", "parameters": {"operator": "contains", "pattern": "x"}}"#,
                Some(PushRule::CommitterEmail(pattern(PatternOperator::Contains))),
            ),
            (
                r#"{"type": "commit_message_pattern", "parameters": {"operator": "starts_with", "pattern": "x"}}"#,
                Some(PushRule::CommitMessage(pattern(PatternOperator::StartsWith))),
            ),
            (r#"{"type": "max_file_size", "parameters": {"max_file_size": 5}}"#, Some(PushRule::FileSize(5))),
            (
                r#"{"type": "file_path_restriction", "parameters": {"restricted_file_paths": ["a/**"]}}"#,
                Some(PushRule::FilePaths(vec!["a/**".to_owned()])),
            ),
            (
                r#"{"type": "file_extension_restriction", "parameters": {"restricted_file_extensions": [".exe"]}}"#,
                Some(PushRule::FileExtensions(vec![".exe".to_owned()])),
            ),
            (r#"{"type": "deletion"}"#, None),
            (r#"{"type": "of_tomorrow", "parameters": {"pattern": "x"}}"#, None),
            (r#"{"type": "branch_name_pattern", "parameters": {"operator": "of_tomorrow", "pattern": "x"}}"#, None),
        ] {
            assert_eq!(serde_json::from_str::<RuleWire>(json).unwrap().read(), rule, "{json}");
        }
    }
}
