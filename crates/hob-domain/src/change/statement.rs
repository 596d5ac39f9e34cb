//! The statement about a pull request's checks: what the ledger keeps of the evidence, and what is signed.
//! `docs/proof.md` says what it claims; `pull_report` has the text for people about the same evidence.
//!
//! It is an in-toto Statement v1, <https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md>. It is made once, by
//! the process that ran the checks, and never again, so that its signature stays valid.

use serde::{Deserialize, Serialize};

use crate::{
    CheckTally, IssueNumber, Login, Names, NeedUnknown, NotMade, PullNumber, RepoName, RunId, Sha, Shown, Spend,
    Timestamp, Word,
    change::{sha256::Sha256Hex, stated_names::first_names, stated_runs::StatedRuns},
};

/// The evidence about the head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "InToto", into = "InToto")]
pub struct Statement {
    /// The commit that the checks ran on.
    pub head: Sha,
    /// Its tree.
    pub tree: Sha,
    /// What is said about it.
    pub predicate: Predicate,
}

/// What is said about a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Predicate {
    /// The repository.
    pub repository: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// Its pull request.
    pub pull_request: PullNumber,
    /// The commit that the work starts from.
    pub base: Sha,
    /// When it was published, by the forge's clock.
    pub at: Timestamp,
    /// What asked for the work.
    pub request: WorkRequest,
    /// What the runs show.
    pub shown: Shown,
    /// How many checks passed on the head, and how many ran.
    pub checks: CheckTally,
    /// The four runs.
    pub runs: StatedRuns,
    /// The tier of the sandbox that the checks ran in.
    pub sandbox: String,
    /// What the checks had around them, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<StatedEnvironment>,
    /// The agent or the profile that worked last.
    pub agent: String,
    /// Its model, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session of its runs.
    pub session: RunId,
    /// The issue's cost so far.
    pub cost: StatedCost,
    /// Hob's version.
    pub hob: String,
}

/// What checks had around them, apart from the tree and the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedEnvironment {
    /// The system, such as `linux x86_64`.
    pub system: String,
    /// The digest of the sorted lines `NAME=VALUE` of their variables and of the set-up steps, a line each.
    #[serde(flatten)]
    pub digest: Sha256Hex,
    /// The folders of the repository that were checked out, with the files above them; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

/// What asked for the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkRequest {
    /// The digest of the issue's title and body, as the ledger has it.
    pub issue_text: Sha256Hex,
    /// Who authorized the work, if the ledger knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorized_by: Option<Login>,
}

/// The issue's cost, by the names of in-toto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatedCost {
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Tokens sent to a model.
    pub input_tokens: u64,
    /// Tokens a model produced.
    pub output_tokens: u64,
    /// Seconds of wall time.
    pub wall_seconds: u64,
}

impl From<Spend> for StatedCost {
    fn from(spend: Spend) -> Self {
        let Spend { usd_micros, input_tokens, output_tokens, wall_seconds } = spend;
        Self { usd_micros, input_tokens, output_tokens, wall_seconds }
    }
}

/// Why bytes are not a statement of Hob's.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableStatement {
    /// They have another form.
    #[error("its payload is not a statement that this Hob knows: {0}")]
    Form(#[from] serde_json::Error),
}

/// Its subject is not a commit and a tree.
#[derive(Debug, thiserror::Error)]
#[error("its subject is not a commit and its tree")]
pub struct NoSubject;

impl Statement {
    /// The text that is signed: JSON on one line with a line end, the keys of each object sorted, as `jq -cS` writes it.
    ///
    /// # Errors
    /// If it has no JSON form.
    pub fn canonical(&self) -> Result<String, UnreadableStatement> {
        Ok(format!("{}\n", serde_json::to_value(self)?))
    }

    /// The statement without secrets of known forms: a test can be called like one, and nothing is exchanged once it is signed.
    ///
    /// # Errors
    /// If it has no JSON form.
    pub fn without_tokens(&self) -> Result<Self, UnreadableStatement> {
        Ok(serde_json::from_value(hob_text::value_without_tokens(serde_json::to_value(self)?))?)
    }

    /// Reads it from bytes. Fields that this Hob does not know are ignored.
    ///
    /// # Errors
    /// [`UnreadableStatement`].
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadableStatement> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

/// The form of in-toto.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InToto {
    #[serde(rename = "_type")]
    kind: StatementType,
    subject: Vec<Subject>,
    predicate_type: PredicateType,
    predicate: Predicate,
}

#[derive(Clone, Serialize, Deserialize)]
enum StatementType {
    #[serde(rename = "https://in-toto.io/Statement/v1")]
    V1,
}

/// The type of the predicates that this Hob makes and knows.
#[derive(Clone, Serialize, Deserialize)]
enum PredicateType {
    #[serde(rename = "https://github.com/hob-worker/hob/blob/main/docs/proof.md#predicate-v1")]
    V1,
}

/// Two digests of one subject would be alternatives, so commit and tree are two.
#[derive(Clone, Serialize, Deserialize)]
struct Subject {
    name: String,
    digest: GitDigest,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GitDigest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    git_commit: Option<Sha>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    git_tree: Option<Sha>,
}

impl From<Statement> for InToto {
    fn from(statement: Statement) -> Self {
        let Statement { head, tree, predicate } = statement;
        let subject = vec![
            Subject { name: "commit".to_owned(), digest: GitDigest { git_commit: Some(head), git_tree: None } },
            Subject { name: "tree".to_owned(), digest: GitDigest { git_commit: None, git_tree: Some(tree) } },
        ];
        Self { kind: StatementType::V1, subject, predicate_type: PredicateType::V1, predicate }
    }
}

impl TryFrom<InToto> for Statement {
    type Error = NoSubject;

    fn try_from(form: InToto) -> Result<Self, NoSubject> {
        let [commit, tree] = <[Subject; 2]>::try_from(form.subject).map_err(|_| NoSubject)?;
        let (head, tree) = commit.digest.git_commit.zip(tree.digest.git_tree).ok_or(NoSubject)?;
        Ok(Self { head, tree, predicate: form.predicate })
    }
}

/// What is shown, as a statement has it: fewer names, and shorter ones.
pub fn shown_briefly(shown: &Shown) -> Shown {
    let Shown { word, by, needed, broken, removed, skipped, new, judges } = shown;
    let [needed, broken, removed, skipped, new, judges] = [needed, broken, removed, skipped, new, judges].map(brief);
    Shown { word: brief_word(word), by: *by, needed, broken, removed, skipped, new, judges }
}

fn brief_word(word: &Word) -> Word {
    match word {
        Word::NeedNotShown { why: NeedUnknown::NotMade(why) } => {
            Word::NeedNotShown { why: NeedUnknown::NotMade(brief_reason(why)) }
        }
        Word::KeptNotShown { why } => Word::KeptNotShown { why: brief_reason(why) },
        Word::Proven
        | Word::NeedNotShown { why: NeedUnknown::PassesWithout | NeedUnknown::CannotRun }
        | Word::OldTestsChanged
        | Word::OnlyTests
        | Word::NoTests
        | Word::Unshown => word.clone(),
    }
}

/// Why a run was not made, as a statement has it.
pub fn brief_reason(why: &NotMade) -> NotMade {
    match why {
        NotMade::Mixed { files } => NotMade::Mixed { files: brief(files) },
        NotMade::NoTime | NotMade::SetUpFailed | NotMade::Refused | NotMade::Off => why.clone(),
    }
}

fn brief(names: &Names) -> Names {
    Names { first: first_names(names.first.iter().map(String::as_str)), all: names.all }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        CheckExit, CheckRun, Closeness,
        change::stated_runs::{RunEnd, StatedRun, tests::check},
    };

    /// A statement about two checks, one of which the work repaired.
    pub(crate) fn statement() -> Statement {
        let (red, green) = (CheckExit::Failed { code: 1 }, CheckExit::Passed);
        let base = [check("make test", red, CheckRun::Earlier)];
        let head = [check("make test", green, CheckRun::Now), check("a\u{7f}\"\\\n\u{202e}é", green, CheckRun::Now)];
        let none = Names::default;
        Statement {
            head: Sha::from("aa"),
            tree: Sha::from("bb"),
            predicate: Predicate {
                repository: "ann/site".parse().unwrap(),
                issue: IssueNumber(7),
                pull_request: PullNumber(9),
                base: Sha::from("cc"),
                at: Timestamp::UNIX_EPOCH,
                request: WorkRequest { issue_text: Sha256Hex::of("text"), authorized_by: Some("ann".into()) },
                shown: Shown {
                    word: Word::KeptNotShown { why: NotMade::NoTime },
                    by: Closeness::Tests,
                    needed: ["a".to_owned()].into_iter().collect(),
                    broken: none(),
                    removed: none(),
                    skipped: none(),
                    new: none(),
                    judges: none(),
                },
                checks: CheckTally { passed: 2, run: 2 },
                runs: StatedRuns {
                    base: StatedRun { tree: Sha::from("dd"), end: RunEnd::made(&base) },
                    head: StatedRun { tree: Sha::from("bb"), end: RunEnd::made(&head) },
                    needed: StatedRun { tree: Sha::from("dd"), end: RunEnd::SameAsBase },
                    kept: StatedRun { tree: Sha::from("ee"), end: RunEnd::NotMade(NotMade::NoTime) },
                },
                sandbox: "fence".to_owned(),
                environment: None,
                agent: "native".to_owned(),
                model: None,
                session: RunId("s".to_owned()),
                cost: Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 }.into(),
                hob: "0.1.0".to_owned(),
            },
        }
    }

    #[test]
    fn a_statement_is_one_line_with_sorted_keys_and_nothing_that_a_check_printed() {
        let canonical = statement().canonical().unwrap();
        assert!(canonical.ends_with("}\n") && canonical.lines().count() == 1);
        insta::assert_snapshot!(canonical, @r#"
        {"_type":"https://in-toto.io/Statement/v1","predicate":{"agent":"native","at":"1970-01-01T00:00:00Z","base":"cc","checks":{"passed":2,"run":2},"cost":{"inputTokens":900,"outputTokens":100,"usdMicros":120000,"wallSeconds":61},"hob":"0.1.0","issue":7,"pullRequest":9,"repository":"ann/site","request":{"authorizedBy":"ann","issueText":{"sha256":"982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"}},"runs":{"base":{"checks":[{"code":1,"command":"make test","exit":"failed","output":{"sha256":"ce6af989a13ec86ba2b33d38cdd9070f1be90dee1737e632d28900a04e153f1b"},"run":"earlier","seconds":2,"tests":{"broken":0,"failed":1,"passed":1,"sha256":"533693fe41d626657f75634b078bd8eaf3cb96befaeaf4fd554baec678d21ef6","skipped":0}}],"failedTests":["t::a"],"result":"FAILED","tree":"dd"},"head":{"checks":[{"command":"make test","exit":"passed","output":{"sha256":"ce6af989a13ec86ba2b33d38cdd9070f1be90dee1737e632d28900a04e153f1b"},"run":"now","seconds":2,"tests":{"broken":0,"failed":0,"passed":1,"sha256":"8f1e0117960a57ab9365d8d5a3b077f858967de0fddae6f14eb576415faddd27","skipped":1}},{"command":"a\\u{7f}\"\\\n\\u{202e}é","exit":"passed","output":{"sha256":"ce6af989a13ec86ba2b33d38cdd9070f1be90dee1737e632d28900a04e153f1b"},"run":"now","seconds":2,"tests":{"broken":0,"failed":0,"passed":1,"sha256":"8f1e0117960a57ab9365d8d5a3b077f858967de0fddae6f14eb576415faddd27","skipped":1}}],"failedTests":[],"result":"PASSED","tree":"bb"},"kept":{"notMade":"no_time","tree":"ee"},"needed":{"sameAs":"base","tree":"dd"}},"sandbox":"fence","session":"s","shown":{"broken":{"all":0,"first":[]},"by":"tests","judges":{"all":0,"first":[]},"needed":{"all":1,"first":["a"]},"new":{"all":0,"first":[]},"removed":{"all":0,"first":[]},"skipped":{"all":0,"first":[]},"why":{"notMade":"no_time"},"word":"kept_not_shown"}},"predicateType":"https://github.com/hob-worker/hob/blob/main/docs/proof.md#predicate-v1","subject":[{"digest":{"gitCommit":"aa"},"name":"commit"},{"digest":{"gitTree":"bb"},"name":"tree"}]}
        "#);
        assert_eq!(Statement::read(canonical.as_bytes()).unwrap(), statement());
    }

    #[test]
    fn another_type_or_subject_is_not_read() {
        let text = statement().canonical().unwrap();
        for (from, to) in [
            ("in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1"),
            ("#predicate-v1", "#predicate-v2"),
            ("gitCommit", "sha1"),
            ("\"gitTree\":\"bb\"", "\"gitCommit\":\"bb\""),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(Statement::read(text.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }

    #[test]
    fn names_are_few_and_short_and_counted() {
        let Shown { word, by, broken, .. } = statement().predicate.shown;
        let names = || (0..30).map(|n| format!("{n}\u{202e}{}", "é".repeat(300))).collect::<Names>();
        let many = Shown {
            word,
            by,
            broken,
            needed: names(),
            removed: names(),
            skipped: names(),
            new: names(),
            judges: names(),
        };
        let brief = shown_briefly(&many);
        assert_eq!((brief.new.first.len(), brief.new.all), (10, 30));
        assert!(brief.new.first.iter().all(|name| name.chars().count() == 120 && !name.contains('\u{202e}')));
        assert!(brief.broken.is_empty());
    }
}
