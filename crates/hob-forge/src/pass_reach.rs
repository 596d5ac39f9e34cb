//! What the holders of passes may write on, as far as only the forge knows it: the pull requests of their issue's branch, the issues
//! that it is split into, the comments on the issue and on those pull requests, and the commits and runs of the branch.
//!
//! # Guarantees
//! - What was found to be an issue's is remembered, up to a bound: it does not become another's. What was not is looked up each time.
//! - What a holder made itself is its issue's: the answer to the write that made it tells, so that most writes need no look.
//!
//! # Caveats
//! - A commit is the issue's once the branch was there, and the holder moves the branch: to any commit that it has.
//! - The issues that it is split into are looked for among the newest hundred of Hob's account.
//! - The commit of a run is told by an answer about one of its jobs. After a restart that job has to be read again.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hob_domain::{IssueNumber, Login, RepoName, SUB_ISSUE_MARK};
use http::Method;
use serde_json::Value;

use crate::{
    Pass,
    pass_permitted::Subject,
    permitted::{fits, parts_of},
    repository::encoded,
    sub_issues::opened_by,
    tips::issue_number,
};

/// The most subjects that are remembered, and the most runs.
const MOST: usize = 4_096;

/// What is known of what passes may write on.
#[derive(Debug)]
pub struct Reach {
    branch_prefix: String,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    own: HashSet<Owned>,
    /// The commits of runs, by the repository and the run's id.
    runs: HashMap<(RepoName, u64), String>,
}

/// A subject of an issue.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Owned {
    repo: RepoName,
    issue: IssueNumber,
    subject: Subject,
}

/// Whose a subject is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The pass's issue's.
    Own,
    /// Not its.
    Others,
    /// Its if that one is.
    AsThatOf(Subject),
    /// The answer to a read of this path tells.
    Asked(String),
}

impl Reach {
    /// The reach of passes at the beginning, where the names of Hob's branches begin like this.
    pub fn new(branch_prefix: &str) -> Self {
        Self { branch_prefix: branch_prefix.to_owned(), known: Mutex::default() }
    }

    /// Whether a push may move the ref with this full name.
    pub fn may_move(&self, pass: &Pass, name: &str) -> bool {
        pass.may_move(name, &self.branch_prefix)
    }

    /// Learns that a holder's push moved the ref to this commit.
    pub fn moved(&self, pass: &Pass, name: &str, commit: &str) {
        if name.starts_with("refs/heads/") && self.may_move(pass, name) {
            self.remember(pass, Subject::Commit(commit.to_owned()));
        }
    }

    /// Whose a subject is, without a look at the forge. `own` is Hob's account there.
    pub(super) fn whose(&self, pass: &Pass, subject: &Subject, own: Option<&Login>) -> Whose {
        let below = |path: String| Whose::Asked(format!("/repos/{}{path}", pass.repo));
        let known = self.known();
        if known.own.contains(&owned(pass, subject.clone())) {
            return Whose::Own;
        }
        match subject {
            Subject::Number(number) if *number == pass.issue => Whose::Own,
            Subject::Number(number) => below(format!("/pulls/{number}")),
            Subject::Comment(id) => below(format!("/issues/comments/{id}")),
            Subject::Part(_) | Subject::PartId(_) => own.map_or(Whose::Others, |own| below(opened_by(own))),
            Subject::Branch(name) => self.of_branch(pass, &format!("refs/heads/{name}")),
            Subject::Commit(_) => {
                let branches = format!("heads/{}{}", self.branch_prefix, pass.issue);
                let branches: Vec<String> = branches.split('/').map(encoded).collect();
                below(format!("/git/matching-refs/{}", branches.join("/")))
            }
            Subject::Run(id) => match known.runs.get(&(pass.repo.clone(), *id)) {
                Some(commit) => Whose::AsThatOf(Subject::Commit(commit.clone())),
                None => Whose::Others,
            },
        }
    }

    /// Whose a subject is, by the forge's answer.
    pub(super) fn told(&self, pass: &Pass, subject: &Subject, answer: &Value) -> Whose {
        let is_own = match subject {
            Subject::Number(_) => {
                let (head, base) = (&answer["head"], &answer["base"]["repo"]["id"]);
                let name = format!("refs/heads/{}", head["ref"].as_str().unwrap_or_default());
                // A fork may have a branch of this name.
                let is_here = base.is_u64() && head["repo"]["id"] == *base;
                return if is_here { self.of_branch(pass, &name) } else { Whose::Others };
            }
            Subject::Comment(_) => {
                let on = answer["issue_url"].as_str().and_then(|url| issue_number(url.rsplit('/').next()?));
                return on.map_or(Whose::Others, |number| Whose::AsThatOf(Subject::Number(number)));
            }
            Subject::Part(number) => parts(pass, answer).any(|part| part["number"] == number.0),
            Subject::PartId(id) => parts(pass, answer).any(|part| part["id"] == *id),
            Subject::Commit(commit) => answer.as_array().into_iter().flatten().any(|branch| {
                let name = branch["ref"].as_str().unwrap_or_default();
                branch["object"]["sha"] == **commit && self.may_move(pass, name)
            }),
            // They are known without the forge.
            Subject::Branch(_) | Subject::Run(_) => false,
        };
        if is_own { Whose::Own } else { Whose::Others }
    }

    /// Remembers that a subject is the pass's issue's.
    pub(super) fn remember(&self, pass: &Pass, subject: Subject) {
        let mut known = self.known();
        if known.own.len() >= MOST {
            known.own.clear();
        }
        known.own.insert(owned(pass, subject));
    }

    /// Learns from the body of an answer to a holder's request of this path, which succeeded: what it made, or of which commit a run is.
    pub(super) fn learn(&self, pass: &Pass, method: &Method, path: &str, answer: &[u8]) {
        let path = path.split('?').next().unwrap_or_default();
        let parts = path.strip_prefix('/').and_then(parts_of).unwrap_or_default();
        let rest = parts.get(3..).unwrap_or_default();
        let is_it = |known: &Method, pattern: &str| method == known && fits(rest, pattern);
        let [comment, issue, pull] = ["issues/*/comments", "issues", "pulls"].map(|path| is_it(&Method::POST, path));
        let is_job = is_it(&Method::GET, "actions/jobs/*");
        if !(comment || issue || pull || is_job) {
            return;
        }
        let Ok(made) = serde_json::from_slice::<Value>(answer) else { return };
        let (id, number) = (made["id"].as_u64(), made["number"].as_u64().map(IssueNumber));
        let made_here = [
            id.filter(|_| comment).map(Subject::Comment),
            id.filter(|_| issue).map(Subject::PartId),
            number.filter(|_| issue).map(Subject::Part),
            number.filter(|_| pull).map(Subject::Number),
        ];
        made_here.into_iter().flatten().for_each(|subject| self.remember(pass, subject));
        if let (true, Some(run), Some(commit)) = (is_job, made["run_id"].as_u64(), made["head_sha"].as_str()) {
            let mut known = self.known();
            if known.runs.len() >= MOST {
                known.runs.clear();
            }
            known.runs.insert((pass.repo.clone(), run), commit.to_owned());
        }
    }

    fn of_branch(&self, pass: &Pass, name: &str) -> Whose {
        if self.may_move(pass, name) { Whose::Own } else { Whose::Others }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn owned(pass: &Pass, subject: Subject) -> Owned {
    Owned { repo: pass.repo.clone(), issue: pass.issue, subject }
}

/// The issues of a list of Hob's account that the pass's issue is split into.
fn parts<'a>(pass: &Pass, list: &'a Value) -> impl Iterator<Item = &'a Value> {
    let mark = format!("{SUB_ISSUE_MARK}{} ", pass.issue);
    let issues = list.as_array().into_iter().flatten();
    issues.filter(move |issue| issue["body"].as_str().is_some_and(|body| body.starts_with(&mark)))
}

#[cfg(test)]
mod tests {
    use hob_domain::Timestamp;
    use serde_json::json;

    use super::*;

    fn pass() -> Pass {
        let repo = "acme/site".parse().unwrap();
        Pass { repo, issue: IssueNumber(7), job: "hob-site-7".to_owned(), ends: Timestamp::UNIX_EPOCH }
    }

    fn number(number: u64) -> Subject {
        Subject::Number(IssueNumber(number))
    }

    /// Whose a subject is before the forge is asked.
    fn whose(reach: &Reach, subject: &Subject) -> Whose {
        reach.whose(&pass(), subject, Some(&Login("hob".to_owned())))
    }

    fn asked(path: &str) -> Whose {
        Whose::Asked(format!("/repos/acme/site{path}"))
    }

    #[test]
    fn what_is_not_known_is_looked_up() {
        let reach = Reach::new("hob/");
        for (subject, expected) in [
            (number(7), Whose::Own),
            (number(9), asked("/pulls/9")),
            (Subject::Comment(3), asked("/issues/comments/3")),
            (Subject::Part(IssueNumber(9)), asked("/issues?state=all&creator=hob&per_page=100")),
            (Subject::PartId(5), asked("/issues?state=all&creator=hob&per_page=100")),
            (Subject::Commit("abc".to_owned()), asked("/git/matching-refs/heads/hob/7")),
            (Subject::Branch("hob/7-fix".to_owned()), Whose::Own),
            (Subject::Branch("hob/70-fix".to_owned()), Whose::Others),
            (Subject::Branch("main".to_owned()), Whose::Others),
            (Subject::Branch("other:hob/7-fix".to_owned()), Whose::Others),
            (Subject::Branch(String::new()), Whose::Others),
            (Subject::Run(1), Whose::Others),
        ] {
            assert_eq!(whose(&reach, &subject), expected, "{subject:?}");
        }
        assert_eq!(reach.whose(&pass(), &Subject::PartId(5), None), Whose::Others, "an account that is not known");
        let odd = Reach::new("team a/hob/");
        assert_eq!(whose(&odd, &Subject::Commit(String::new())), asked("/git/matching-refs/heads/team%20a/hob/7"));
    }

    #[test]
    fn the_forges_answer_tells_whose_it_is() {
        let pull = |branch: &str, repo: Value| json!({ "head": { "ref": branch, "repo": repo }, "base": { "repo": { "id": 1 } } });
        let on = |url: &str| json!({ "issue_url": url });
        let branches = json!([
            { "ref": "refs/heads/hob/7-fix", "object": { "sha": "a" } },
            { "ref": "refs/heads/hob/70-fix", "object": { "sha": "b" } },
        ]);
        let opened = json!([
            { "number": 9, "id": 90, "body": "<!-- hob:part 7 x 1 -->\nx" },
            { "number": 10, "id": 100, "body": "<!-- hob:part 70 x 1 -->\nx" },
            { "number": 11, "id": 110, "body": null },
        ]);
        let commit = |name: &str| Subject::Commit(name.to_owned());
        let part = |number| Subject::Part(IssueNumber(number));
        for (subject, answer, expected) in [
            (number(9), pull("hob/7-fix", json!({ "id": 1 })), Whose::Own),
            (number(9), pull("hob/7-fix", json!({ "id": 2 })), Whose::Others),
            (number(9), pull("hob/7-fix", json!(null)), Whose::Others),
            (number(9), pull("hob/70-fix", json!({ "id": 1 })), Whose::Others),
            (number(9), json!({ "head": { "ref": "hob/7-fix" } }), Whose::Others),
            (Subject::Comment(3), on("https://ghe/api/v3/repos/acme/site/issues/8"), Whose::AsThatOf(number(8))),
            (Subject::Comment(3), on("https://ghe/api/v3/repos/acme/site/issues/"), Whose::Others),
            (Subject::Comment(3), json!({}), Whose::Others),
            (part(9), opened.clone(), Whose::Own),
            (part(10), opened.clone(), Whose::Others),
            (part(11), opened.clone(), Whose::Others),
            (Subject::PartId(90), opened.clone(), Whose::Own),
            (Subject::PartId(100), opened, Whose::Others),
            (commit("a"), branches.clone(), Whose::Own),
            (commit("b"), branches.clone(), Whose::Others),
            (commit(""), branches, Whose::Others),
        ] {
            assert_eq!(Reach::new("hob/").told(&pass(), &subject, &answer), expected, "{subject:?} {answer}");
        }
    }

    #[test]
    fn what_a_holder_made_is_its_issues_and_no_other_passes() {
        let reach = Reach::new("hob/");
        let learns = |method: Method, path: &str, answer: Value| {
            reach.learn(&pass(), &method, &format!("/repos/acme/site/{path}"), answer.to_string().as_bytes());
        };
        learns(Method::POST, "issues/7/comments", json!({ "id": 3 }));
        learns(Method::POST, "issues", json!({ "id": 90, "number": 9 }));
        learns(Method::POST, "pulls", json!({ "id": 1, "number": 10 }));
        learns(Method::GET, "actions/jobs/2", json!({ "run_id": 4, "head_sha": "a" }));
        // Of what was only read nothing is the issue's.
        learns(Method::GET, "issues/comments/5", json!({ "id": 5, "number": 5 }));
        let own = [Subject::Comment(3), Subject::PartId(90), Subject::Part(IssueNumber(9)), number(10)];
        let other = Pass { issue: IssueNumber(8), ..pass() };
        for subject in &own {
            assert_eq!(whose(&reach, subject), Whose::Own, "{subject:?}");
            assert_ne!(reach.whose(&other, subject, None), Whose::Own, "{subject:?}");
        }
        assert_eq!(whose(&reach, &Subject::Run(4)), Whose::AsThatOf(Subject::Commit("a".to_owned())));
        assert_eq!(whose(&reach, &number(5)), asked("/pulls/5"));
        assert_eq!(whose(&reach, &Subject::Comment(5)), asked("/issues/comments/5"));
    }

    #[test]
    fn a_commit_that_the_branch_was_moved_to_is_known() {
        let reach = Reach::new("hob/");
        for (name, commit) in [("refs/heads/hob/7-fix", "a"), ("refs/hob/issues/7", "b"), ("refs/heads/main", "c")] {
            reach.moved(&pass(), name, commit);
        }
        let is_known = ["a", "b", "c"].map(|commit| whose(&reach, &Subject::Commit(commit.to_owned())) == Whose::Own);
        assert_eq!(is_known, [true, false, false]);
    }

    #[test]
    fn only_so_much_is_remembered() {
        let reach = Reach::new("hob/");
        for id in 0..=MOST as u64 {
            reach.remember(&pass(), Subject::Comment(id));
        }
        assert_eq!(reach.known().own.len(), 1);
        assert_eq!(whose(&reach, &Subject::Comment(MOST as u64)), Whose::Own);
    }
}
