//! The first ten issues: plain fixes, questions, a plan, and what people withdraw.

use http::Method;
use serde_json::json;

use super::{Day, Effect};
use crate::harness::Gate;

impl Day {
    /// Ann and wil put labels on the first ten, and answer what comes back.
    pub(super) async fn morning(&mut self, gate: &mut Gate) {
        self.wil_has_begun_already().await;
        for issue in [1, 2, 4, 6, 8, 9, 10] {
            self.world.labels_on("ann", issue, "code").await;
        }
        for issue in [3, 5, 7] {
            self.world.labels_on("wil", issue, "code").await;
        }
        self.says("wil", 7, "/hob plan", "eyes", Effect::Done(7, "plan")).await;
        // Ann has a second thought before anybody looks.
        self.world.labels_off("ann", 9, "code").await;
        self.passes().await;
        self.says("ann", 4, "Use UTC, please.", "eyes", Effect::Read(4)).await;
        self.says("ann", 6, "Never mind.", "eyes", Effect::Done(6, "ann")).await;
        self.says("wil", 7, "ok, go ahead", "eyes", Effect::Done(7, "approved by wil")).await;
        self.reviews("wil", 5, ("REQUEST_CHANGES", "The name should say what is in the file."), None).await;
        self.reviews("wil", 1, ("APPROVE", "Good."), None).await;
        let first = self.pull(1).await;
        self.world.merges(first).await;
        let second = self.pull(2).await;
        self.chats("ann", second, "LGTM").await;
        self.world.edits("ann", 8, json!({"state": "closed", "state_reason": "not_planned"})).await;
        self.passes().await;
        let export = self.pull(5).await;
        self.says("wil", export, "The name of the report.", "eyes", Effect::Read(5)).await;
        let search = self.world.pulls().await[0]["number"].as_u64().unwrap();
        self.world.merges(search).await;
        self.passes().await;
        self.logs(gate).await;
    }

    /// Wil has an open pull request that closes an issue.
    async fn wil_has_begun_already(&self) {
        self.world.pushes("wil", "wil/search", "search.txt", "An index.\n").await;
        let pull = json!({"title": "Index the titles", "head": "wil/search", "base": "main", "body": "Fixes #10"});
        self.world.call("wil", Method::POST, "/pulls", pull).await;
    }

    /// Ann says more while the agent works.
    async fn logs(&mut self, gate: &mut Gate) {
        self.next_hour();
        self.world.labels_on("ann", 12, "code").await;
        let worker = self.world.worker("w1").await;
        let said = async {
            gate.reached().await;
            self.world.comments("ann", 12, "Once a day, please.").await;
            gate.open().await;
        };
        tokio::join!(crate::harness::run(&worker), said);
        let effect = Effect::Read(12);
        self.messages.push(super::Message {
            login: "ann",
            on: 12,
            words: "Once a day, please.",
            receipt: "eyes",
            effect,
        });
    }
}
