//! The end of a world: nothing may be left over.

use std::collections::BTreeSet;

use hob_domain::{State, held_by};
use hob_words::STATUS_MARK;
use serde_json::Value;

use super::{World, children};

impl World {
    /// Ends the world. Fails on a held lease, a share of the day that is not settled, a second status comment, an
    /// unexpected comment, a second open pull request of an issue, labels that contradict the ledger, a live child, or an
    /// answer of the forge that says it is broken.
    pub(crate) async fn finish(self) {
        let broken: Vec<_> = self.forge.requests().into_iter().filter(|request| request.status >= 500).collect();
        assert!(broken.is_empty(), "the forge failed: {broken:?}");
        self.finish_after_faults().await;
    }

    /// Ends a world whose forge failed on purpose, as [`World::finish`] does.
    pub(crate) async fn finish_after_faults(mut self) {
        self.finished = true;
        let pulls = self.pulls().await;
        for issue in self.look("/issues?state=all&per_page=100").await.as_array().unwrap() {
            if issue.get("pull_request").is_none() {
                self.nothing_left_on(issue, &pulls).await;
            }
        }
        children::all_gone(self.dir()).await;
    }

    /// The number of processes that run in the world's folder or name it.
    pub(crate) fn running(&self) -> usize {
        children::alive(self.dir()).len()
    }

    /// Waits for the end of processes that were killed just now; fails if one lives on.
    pub(crate) async fn nothing_runs(&self) {
        children::all_gone(self.dir()).await;
    }

    /// Leaves a world in the middle, if its leftovers do not matter.
    pub(crate) fn leave(mut self) {
        self.finished = true;
    }

    /// Fails if a dead worker's half-made files are still in its state folder, once another has worked there.
    pub(crate) fn nothing_half_made(&self, worker: &str) {
        let mut folders = vec![self.state_dir(worker)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let half = name.ends_with(".lock") || name == "mirror.new";
                assert!(!half, "half made: {}", entry.path().display());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
    }

    async fn nothing_left_on(&self, issue: &Value, pulls: &[Value]) {
        let number = issue["number"].as_u64().unwrap();
        let own: Vec<_> = self
            .said(number)
            .await
            .into_iter()
            .filter(|said| ["hob", "hob[bot]", "github-actions[bot]"].contains(&said.author.as_str()))
            // Each is about a comment, and has its own test.
            .filter(|said| !said.text.starts_with("<!-- hob:reply "))
            .collect();
        let (questions, own): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|said| said.text.starts_with("<!-- hob:question "));
        let marks: BTreeSet<_> = questions.iter().filter_map(|said| said.text.lines().next()).collect();
        assert_eq!(marks.len(), questions.len(), "a question is told once: {questions:?}");
        let (reports, own): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|said| said.text.starts_with("<!-- hob:report "));
        let marks: BTreeSet<_> = reports.iter().filter_map(|said| said.text.lines().next()).collect();
        assert_eq!(marks.len(), reports.len(), "what is asked for once has one report: {reports:?}");
        assert!(own.len() <= 1, "issue {number} has {} comments by the bot: {own:?}", own.len());
        assert!(own.iter().all(|said| said.text.starts_with(STATUS_MARK)), "an unexpected comment: {own:?}");
        let fixes = format!("Fixes #{number}\n");
        let pulls = pulls.iter().filter(|pull| pull["state"] == "open");
        let pulls = pulls.filter(|pull| pull["body"].as_str().is_some_and(|body| body.starts_with(&fixes)));
        assert!(pulls.count() <= 1, "issue {number} has more than one open pull request");
        let labels = self.labels(number).await;
        let Some(record) = self.record(number).await else { return };
        let now = self.now().await;
        let held = held_by(&record, now, self.settings.lease.skew);
        assert_eq!(held, None, "the lease on issue {number} is still held");
        let (bill, day) = (record.spend, self.repository_record().await);
        let settled = day.as_ref().is_none_or(|day| day.is_settled(record.issue, bill, now));
        assert!(settled, "issue {number} has spent {bill}, and the day says {day:?}");
        let repairs = self.settings.labels.changes(&labels, record.state);
        let story = if repairs.is_empty() { Vec::new() } else { self.history(number).await };
        assert!(repairs.is_empty(), "issue {number} is {:?} and has the labels {labels:?}: {story:#?}", record.state);
        assert!(own.len() == 1 || record.state == State::Done, "issue {number} has no status comment");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        assert!(self.finished || std::thread::panicking(), "the test ended without `finish`");
    }
}
