//! The contents of open pull requests, several in one query, instead of six REST requests for each.
//!
//! # Caveats
//! A query always counts, so it is only used for pull requests that have changed or are unknown. It returns the newest
//! entries of each list; if there are more, [`OpenPull::is_whole`] is false, and the lists of the REST API have them
//! all.

use std::collections::HashMap;

use hob_domain::{
    Actor, CommentId, ForgeCheckState, Login, MergeState, OWN_MARK, PROOF_CONTEXT, PullNumber, PullStatus, Remark,
    ReviewEvent, Said, Sha, Timestamp, asked_work,
};
use serde::{Deserialize, Deserializer};

use crate::{
    Comment, Edited, ForgeError, HeadCheck, Pull, PullOutline, Pulls,
    TokenPermission::PullRequestsRead,
    comments::said,
    counted_checks::{Origin, Says, counted},
    edits::EditorWire,
    head_checks::{AppWire, SuiteWire, run_state, status_state, unapproved},
    objects::{Objects, object_name, objects},
    pull_outlines::CountsWire,
    reviews::has_words,
};

/// Pull requests in one query; the answer has to come within `forge.timeout`.
const BATCH: usize = 10;

pub(super) const PULLS: Objects =
    Objects { field: "pullRequest", argument: "number", argument_type: "Int!", facts: FACTS };

const FACTS: &str = "fragment facts on PullRequest { id number state url updatedAt headRefOid baseRefOid baseRefName mergeable \
    mergeStateStatus \
    reviews(last: 100, states: [CHANGES_REQUESTED, COMMENTED]) { pageInfo { hasPreviousPage } nodes { fullDatabaseId state \
        submittedAt lastEditedAt body author { login __typename } } } \
    reviewThreads(last: 100) { pageInfo { hasPreviousPage } nodes { isResolved resolvedBy { login } \
        comments(last: 20) { pageInfo { hasPreviousPage } nodes { fullDatabaseId createdAt lastEditedAt body \
            author { login __typename } } } } } \
    comments(last: 100) { pageInfo { hasPreviousPage } nodes { fullDatabaseId createdAt lastEditedAt body author { login __typename } } } \
    timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) { nodes { \
        ... on RemovedFromMergeQueueEvent { createdAt reason } } } \
    statusCheckRollup { state contexts(first: 100) { pageInfo { hasNextPage } checkRunCountsByState { state count } \
        statusContextCountsByState { state count } nodes { __typename ... on CheckRun { name status conclusion \
            startedAt completedAt checkSuite { databaseId app { slug } } } ... on StatusContext { context state createdAt } } } } \
    commits(last: 1) { nodes { commit { checkSuites(first: 100) { pageInfo { hasNextPage } nodes { conclusion app { slug } } } } } } }";

/// An open pull request and its contents.
#[derive(Debug, Clone)]
pub struct OpenPull {
    /// The pull request.
    pub pull: Pull,
    /// When it was last written or pushed to. The end of a check does not count.
    pub updated_at: Timestamp,
    /// What people said in reviews and on lines, with the author. `None` if the account is gone.
    pub said: Vec<(Option<Actor>, Said)>,
    /// The comments in its conversation.
    pub comments: Vec<Comment>,
    /// Reviews, comments that begin a thread, and requests, each by a person and never edited, as far as they may be corrections.
    pub remarks: Vec<Remark>,
    /// Of each check on its head the one that counts, by name; `None` if the query does not tell them all: there are more, or some
    /// are hidden from the token. None at all may mean that it does not say so.
    pub checks: Option<Vec<(String, ForgeCheckState)>>,
    /// When it last left the merge queue for a reason that more work can fix, and the reason.
    pub ejected: Option<(Timestamp, String)>,
    /// Whether everything that people said is included.
    pub is_whole: bool,
    /// Its id in GraphQL.
    pub node: String,
    /// What it was like from afar. `None` if the query does not tell it.
    pub outline: Option<PullOutline>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullWire {
    id: String,
    number: PullNumber,
    state: String,
    url: String,
    updated_at: Timestamp,
    head_ref_oid: Sha,
    base_ref_oid: Sha,
    base_ref_name: String,
    mergeable: String,
    merge_state_status: String,
    reviews: Option<List<ReviewWire>>,
    review_threads: List<ThreadWire>,
    comments: List<CommentWire>,
    timeline_items: Option<List<RemovalWire>>,
    status_check_rollup: Option<RollupWire>,
    /// The last one; its suites show runs that wait for an approval, which the roll-up omits.
    commits: Option<List<CommitNodeWire>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List<T> {
    #[serde(default)]
    page_info: PageWire,
    // An entry that the token may not see is null.
    nodes: Vec<Option<T>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageWire {
    #[serde(default)]
    has_previous_page: bool,
    #[serde(default)]
    has_next_page: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewWire {
    full_database_id: Id,
    state: String,
    submitted_at: Option<Timestamp>,
    last_edited_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "authored_words")]
    body: String,
    author: Option<EditorWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadWire {
    is_resolved: bool,
    resolved_by: Option<PersonWire>,
    comments: List<CommentWire>,
}

#[derive(Deserialize)]
struct PersonWire {
    login: Login,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommentWire {
    full_database_id: Id,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    #[serde(deserialize_with = "authored_words")]
    body: String,
    author: Option<EditorWire>,
}

fn authored_words<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    String::deserialize(input).map(said)
}

impl From<CommentWire> for Comment {
    fn from(wire: CommentWire) -> Self {
        Self {
            id: CommentId(wire.full_database_id.0),
            author: wire.author.map(Actor::from),
            body: wire.body,
            created_at: wire.created_at,
            edited: if wire.last_edited_at.is_some() { Edited::Yes } else { Edited::No },
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemovalWire {
    created_at: Timestamp,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct CommitNodeWire {
    commit: CommitWire,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitWire {
    check_suites: Option<List<SuiteWire>>,
}

#[derive(Deserialize)]
struct RollupWire {
    state: String,
    contexts: ContextsWire,
}

#[derive(Deserialize)]
struct ContextsWire {
    #[serde(flatten)]
    list: List<ContextWire>,
    #[serde(flatten)]
    counts: CountsWire,
}

#[derive(Deserialize)]
#[serde(tag = "__typename")]
enum ContextWire {
    #[serde(rename_all = "camelCase")]
    CheckRun {
        name: String,
        status: String,
        conclusion: Option<String>,
        started_at: Option<Timestamp>,
        completed_at: Option<Timestamp>,
        check_suite: Option<RunSuiteWire>,
    },
    #[serde(rename_all = "camelCase")]
    StatusContext { context: String, state: String, created_at: Option<Timestamp> },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunSuiteWire {
    database_id: Option<u64>,
    app: Option<AppWire>,
}

/// GraphQL writes numbers of 64 bits as text.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Id(pub(super) u64);

impl TryFrom<String> for Id {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl ReviewWire {
    /// Whether it asks for work, as [`Review::asks_for_work`](crate::Review::asks_for_work) says.
    fn asks_for_work(&self) -> bool {
        self.state == "CHANGES_REQUESTED" || has_words(&self.body)
    }
}

impl<T> List<T> {
    fn has_all(&self) -> bool {
        !self.page_info.has_previous_page && !self.page_info.has_next_page
    }

    /// The entries that are here and that the token may see.
    pub(super) fn entries(self) -> impl Iterator<Item = T> {
        self.nodes.into_iter().flatten()
    }

    /// Its entries. `None` if there are more, or if the token may not see one.
    pub(super) fn whole(self) -> Option<Vec<T>> {
        if self.has_all() { self.nodes.into_iter().collect() } else { None }
    }
}

impl ContextWire {
    fn into_check(self) -> Option<HeadCheck> {
        match self {
            Self::CheckRun { name, status, conclusion, started_at, completed_at, check_suite } => {
                let conclusion = conclusion.map(|word| word.to_ascii_lowercase());
                let state = run_state(&status.to_ascii_lowercase(), conclusion.as_deref());
                let says = Says::of(conclusion.as_deref());
                let suite = check_suite.as_ref().and_then(|suite| suite.database_id);
                let app = check_suite.and_then(|suite| suite.app?.slug);
                let origin = Origin { app, suite, began: started_at, ended: completed_at, says };
                Some(HeadCheck { origin, ..HeadCheck::bare(name, state) })
            }
            Self::StatusContext { context, .. } if context == PROOF_CONTEXT => None,
            Self::StatusContext { context, state, created_at } => {
                let origin = Origin { began: created_at, ended: created_at, ..Origin::default() };
                Some(HeadCheck { origin, ..HeadCheck::bare(context, status_state(&state.to_ascii_lowercase())) })
            }
            Self::Other => None,
        }
    }
}

impl PullWire {
    /// What people said, without threads that an account other than `own` has resolved.
    fn said(&mut self, own: Option<&Login>) -> Vec<(Option<Actor>, Said)> {
        let mut said = Vec::new();
        let reviews = self.reviews.iter_mut().flat_map(|list| list.nodes.drain(..)).flatten();
        for review in reviews.filter(ReviewWire::asks_for_work) {
            // A pending review has no time, and only its author sees it.
            if let Some(at) = review.submitted_at {
                let event = ReviewEvent::Review(review.full_database_id.0);
                said.push((review.author.map(Actor::from), Said { event, at }));
            }
        }
        for thread in self.review_threads.nodes.drain(..).flatten() {
            let by_own = || thread.resolved_by.as_ref().is_some_and(|by| own.is_some_and(|own| by.login.is(own)));
            if thread.is_resolved && !by_own() {
                continue;
            }
            let remarks = thread.comments.nodes.into_iter().flatten();
            for remark in remarks.filter(|remark| !remark.body.starts_with(OWN_MARK)) {
                let event = ReviewEvent::Line(remark.full_database_id.0);
                said.push((remark.author.map(Actor::from), Said { event, at: remark.created_at }));
            }
        }
        said
    }

    /// What may be corrections. Only the first comment of a thread can be read by itself: a reply may be about another comment.
    fn remarks(&self) -> Vec<Remark> {
        let reviews = self.reviews.iter().flat_map(|list| list.nodes.iter().flatten());
        let reviews = reviews.filter(|review| review.asks_for_work()).map(|review| {
            let said = ReviewEvent::Review(review.full_database_id.0);
            (said, &review.author, review.last_edited_at, review.body.as_str())
        });
        let threads = self.review_threads.nodes.iter().flatten().filter(|thread| thread.comments.has_all());
        let first = threads.filter_map(|thread| thread.comments.nodes.first()?.as_ref()).map(|comment| {
            let said = ReviewEvent::Line(comment.full_database_id.0);
            (said, &comment.author, comment.last_edited_at, comment.body.as_str())
        });
        let requests = self.comments.nodes.iter().flatten().filter_map(|comment| {
            let said = ReviewEvent::Comment(comment.full_database_id.0);
            Some((said, &comment.author, comment.last_edited_at, asked_work(&comment.body)?))
        });
        let all = reviews.chain(first).chain(requests).filter(|(_, _, edited, _)| edited.is_none());
        let by_people = all.filter_map(|(said, author, _, text)| {
            let author = author.as_ref().filter(|author| author.is_person())?;
            Remark::new(said, author.login(), self.number, text)
        });
        by_people.collect()
    }

    /// The checks on its head; `None` if some are not here.
    fn checks(&mut self, contexts: Option<List<ContextWire>>) -> Option<Vec<(String, ForgeCheckState)>> {
        let contexts = contexts.map_or_else(|| Some(Vec::new()), List::whole)?;
        let last = self.commits.take().and_then(|commits| commits.nodes.into_iter().flatten().next_back());
        let suites = last?.commit.check_suites?.whole()?;
        let counted = counted(contexts.into_iter().filter_map(ContextWire::into_check).collect());
        Some(counted.into_iter().map(|check| (check.name, check.state)).chain(unapproved(suites)).collect())
    }

    fn into_open(mut self, own: Option<&Login>) -> OpenPull {
        let threads_are_whole = |thread: &Option<ThreadWire>| thread.as_ref().is_none_or(|one| one.comments.has_all());
        let is_whole = self.reviews.as_ref().is_none_or(List::has_all)
            && self.review_threads.has_all()
            && self.comments.has_all()
            && self.review_threads.nodes.iter().all(threads_are_whole);
        let remarks = self.remarks();
        let said = self.said(own);
        let comments = self.comments.nodes.drain(..).flatten().map(Comment::from).collect();
        let rollup = self.status_check_rollup.take();
        let (contexts, counts) =
            rollup.map(|rollup| (rollup.contexts.list, rollup.contexts.counts.beside(rollup.state))).unzip();
        let outline = |checks| PullOutline {
            number: self.number,
            updated_at: self.updated_at,
            head: self.head_ref_oid.clone(),
            checks,
        };
        // Without the counts of checks that there are, their changes would not show.
        let outline = match counts {
            None => Some(outline(None)),
            Some(counts) => counts.map(|counts| outline(Some(counts))),
        };
        let checks = self.checks(contexts);
        let removals = self.timeline_items.map(|items| items.nodes).unwrap_or_default();
        let removal = removals.into_iter().flatten().next();
        let merge = match (self.mergeable.as_str(), self.merge_state_status.as_str()) {
            ("CONFLICTING", _) | (_, "DIRTY") => MergeState::Conflicts,
            (_, "BEHIND") => MergeState::Behind,
            ("MERGEABLE", _) => MergeState::Fits,
            _unknown_or_new => MergeState::Unknown,
        };
        let status = match self.state.as_str() {
            "MERGED" => PullStatus::Merged,
            "OPEN" => PullStatus::Open,
            _closed_or_new => PullStatus::Closed,
        };
        let pull = Pull {
            number: self.number,
            status,
            head: self.head_ref_oid,
            base: self.base_ref_oid,
            base_name: self.base_ref_name,
            merge,
            html_url: self.url,
        };
        OpenPull {
            pull,
            updated_at: self.updated_at,
            said,
            comments,
            remarks,
            checks,
            ejected: removal
                .and_then(|removal| Some((removal.created_at, removal.reason?)))
                .filter(|(_, reason)| is_mendable(reason)),
            is_whole,
            node: self.id,
            outline,
        }
    }
}

/// Whether work on the branch can fix the reason; people also remove pull requests, and queues get cleared.
fn is_mendable(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["conflict", "fail", "invalid"].iter().any(|word| reason.contains(word))
}

impl Pulls<'_> {
    /// The contents of these pull requests, without those that are gone. `own` is the account that asks.
    ///
    /// # Errors
    /// [`ForgeError`] of a query.
    pub async fn standing(
        self,
        numbers: &[PullNumber],
        own: Option<&Login>,
    ) -> Result<HashMap<PullNumber, OpenPull>, ForgeError> {
        let mut found = HashMap::new();
        for batch in numbers.chunks(BATCH) {
            for pull in self.standing_of(batch, own).await? {
                found.insert(pull.pull.number, pull);
            }
        }
        Ok(found)
    }

    async fn standing_of(self, numbers: &[PullNumber], own: Option<&Login>) -> Result<Vec<OpenPull>, ForgeError> {
        let purpose = PullRequestsRead.to("read the pull requests' reviews and comments");
        let values = numbers.iter().map(|number| number.0.into());
        let mut answered = objects(self.forge, &PULLS, values, purpose).await?;
        let unreadable =
            |error: serde_json::Error| ForgeError::Unreadable { what: purpose.what.to_owned(), source: error.into() };
        let mut found = Vec::new();
        for index in 0..numbers.len() {
            let name = object_name(index);
            let one = answered.data["repository"][&name].take();
            if !one.is_null() {
                let mut open = PullWire::deserialize(one).map_err(unreadable)?.into_open(own);
                if ["statusCheckRollup", "checkSuites"].iter().any(|field| answered.hides(&name, field)) {
                    (open.checks, open.outline) = (None, None);
                }
                found.push(open);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn person(login: &str, kind: &str) -> Value {
        json!({ "login": login, "__typename": kind })
    }

    fn comment(id: u64, author: Value, body: &str) -> Value {
        json!({ "fullDatabaseId": id.to_string(), "createdAt": "2026-01-02T03:04:05Z", "body": body, "author": author })
    }

    fn thread(resolved_by: Value, comments: &[Value]) -> Value {
        json!({ "isResolved": !resolved_by.is_null(), "resolvedBy": resolved_by,
            "comments": { "pageInfo": { "hasPreviousPage": false }, "nodes": comments } })
    }

    fn pull() -> Value {
        let ann = || person("ann", "User");
        json!({
            "id": "PR_7", "number": 7, "state": "OPEN", "url": "u", "updatedAt": "2026-01-02T03:04:05Z", "headRefOid": "h",
            "baseRefOid": "b", "baseRefName": "main", "mergeable": "MERGEABLE", "mergeStateStatus": "BLOCKED",
            "reviews": { "pageInfo": { "hasPreviousPage": false }, "nodes": [
                { "fullDatabaseId": "1", "state": "CHANGES_REQUESTED", "submittedAt": "2026-01-02T03:04:05Z", "author": ann() },
                { "fullDatabaseId": "2", "state": "COMMENTED", "body": "Hm.", "submittedAt": null, "author": ann() },
            ] },
            "reviewThreads": { "pageInfo": { "hasPreviousPage": false }, "nodes": [
                thread(Value::Null, &[comment(3, ann(), "A."), comment(4, person("hob", "Bot"), "<!-- hob:answer x -->")]),
                thread(person("ann", "User"), &[comment(5, ann(), "B.")]),
                thread(person("hob", "User"), &[comment(6, Value::Null, "C.")]),
            ] },
            "comments": { "pageInfo": { "hasPreviousPage": false }, "nodes": [comment(8, ann(), "/hob shorter"), comment(9, ann(), "Nice.")] },
            "timelineItems": { "nodes": [] },
            "statusCheckRollup": { "state": "FAILURE", "contexts": { "checkRunCountsByState": [], "statusContextCountsByState": [], "nodes": [
                { "__typename": "CheckRun", "name": "a", "status": "COMPLETED", "conclusion": "FAILURE" },
                { "__typename": "CheckRun", "name": "b", "status": "QUEUED", "conclusion": null },
                { "__typename": "StatusContext", "context": "c", "state": "EXPECTED" },
            ] } },
            "commits": { "nodes": [{ "commit": { "checkSuites": { "nodes": [
                { "conclusion": "FAILURE", "app": { "slug": "github-actions" } },
                { "conclusion": null, "app": { "slug": "dependabot" } },
                { "conclusion": "ACTION_REQUIRED", "app": { "slug": "robo" } },
            ] } } }] },
        })
    }

    fn read(wire: Value) -> OpenPull {
        PullWire::deserialize(wire).unwrap().into_open(Some(&"hob".into()))
    }

    #[test]
    fn what_stands_on_a_pull_request_is_told_apart() {
        let open = read(pull());
        let said: Vec<ReviewEvent> = open.said.into_iter().map(|(_, said)| said.event).collect();
        let wanted = [ReviewEvent::Review(1), ReviewEvent::Line(3), ReviewEvent::Line(6)];
        assert_eq!(said, wanted, "nothing that is pending, resolved by a person, or Hob's own");
        assert_eq!(open.comments.iter().map(|comment| comment.id.0).collect::<Vec<_>>(), [8, 9]);
        use ForgeCheckState::{Failed, Pending};
        let checks = [("a", Failed), ("b", Pending), ("c", Pending)].map(|(name, state)| (name.to_owned(), state));
        assert_eq!(open.checks.as_deref(), Some(checks.as_slice()));
        assert!(open.is_whole && open.pull.merge == MergeState::Fits && open.ejected.is_none());
    }

    #[test]
    fn what_a_person_said_on_their_own_and_nobody_edited_may_be_a_correction() {
        let words = "Write error messages in lower case";
        let by = |login: &str, kind: &str| comment(20, person(login, kind), words);
        let read_with = |nodes: &[Value]| {
            let mut wire = pull();
            wire["reviewThreads"]["nodes"] = json!([thread(Value::Null, nodes)]);
            read(wire).remarks.into_iter().map(|remark| remark.said).collect::<Vec<_>>()
        };
        assert_eq!(read_with(&[by("ann", "User")]), [ReviewEvent::Line(20)]);
        assert_eq!(read_with(&[by("robo", "Bot")]), []);
        assert_eq!(read_with(&[comment(19, person("rob", "User"), "Obey."), by("ann", "User")]), [], "a reply");
        let mut edited = by("ann", "User");
        edited["lastEditedAt"] = json!("2026-01-02T03:04:06Z");
        assert_eq!(read_with(&[edited]), []);
        let mut wire = pull();
        wire["reviews"]["nodes"][0]["body"] = json!(words);
        wire["comments"]["nodes"][0]["body"] = json!(format!("/hob please {words}"));
        let said: Vec<ReviewEvent> = read(wire).remarks.into_iter().map(|remark| remark.said).collect();
        assert_eq!(said, [ReviewEvent::Review(1), ReviewEvent::Comment(8)]);
    }

    #[test]
    fn nulls_and_new_values_do_no_harm_and_what_is_cut_off_is_known() {
        let with = |change: fn(&mut Value)| {
            let mut wire = pull();
            change(&mut wire);
            read(wire)
        };
        for null in ["reviews", "timelineItems", "statusCheckRollup"] {
            let mut wire = pull();
            wire[null] = Value::Null;
            assert_eq!(read(wire).pull.head, Sha::from("h"), "{null}");
        }
        let new = with(|wire| {
            wire["reviewThreads"]["nodes"][0] = Value::Null;
            wire["statusCheckRollup"]["contexts"]["nodes"][0] = json!({ "__typename": "Oracle", "says": "no" });
            (wire["mergeable"], wire["mergeStateStatus"], wire["state"]) =
                (json!("MAYBE"), json!("NEW"), json!("OPEN"));
        });
        assert_eq!((new.checks.map_or(0, |checks| checks.len()), new.pull.merge), (2, MergeState::Unknown));
        assert!(!with(|wire| wire["reviewThreads"]["pageInfo"]["hasPreviousPage"] = json!(true)).is_whole);
        assert!(
            !with(|wire| {
                wire["reviewThreads"]["nodes"][1]["comments"]["pageInfo"]["hasPreviousPage"] = json!(true);
            })
            .is_whole
        );
    }

    #[test]
    fn a_run_that_waits_for_an_approval_is_a_check_and_suites_that_cannot_be_seen_are_not_none() {
        let with = |change: fn(&mut Value)| {
            let mut wire = pull();
            wire["statusCheckRollup"] = Value::Null;
            change(&mut wire["commits"]["nodes"][0]["commit"]["checkSuites"]);
            read(wire).checks
        };
        assert_eq!(with(|_| {}), Some(Vec::new()), "no job, and no run waits");
        let waiting = with(|suites| suites["nodes"][0]["conclusion"] = json!("ACTION_REQUIRED")).unwrap();
        assert_eq!(waiting.into_iter().map(|(_, state)| state).collect::<Vec<_>>(), [ForgeCheckState::Unapproved]);
        assert_eq!(with(|suites| *suites = Value::Null), None);
        assert_eq!(with(|suites| suites["nodes"][1] = Value::Null), None);
        assert_eq!(with(|suites| suites["pageInfo"] = json!({ "hasNextPage": true })), None);
    }

    #[test]
    fn only_what_work_can_mend_counts_as_an_ejection() {
        for (reason, counts) in [
            ("CI_FAILURE", true),
            ("MERGE_CONFLICT", true),
            ("GIT_TREE_INVALID", true),
            ("failed_checks", true),
            ("MANUAL", false),
            ("QUEUE_CLEARED", false),
            ("MERGE", false),
            ("CI_TIMEOUT", false),
        ] {
            let mut wire = pull();
            wire["timelineItems"]["nodes"] = json!([{ "createdAt": "2026-01-02T03:04:05Z", "reason": reason }]);
            assert_eq!(read(wire).ejected.is_some(), counts, "{reason}");
        }
    }
}
