//! The next issues: reviews, remarks, failing checks, a spent budget, and slips.

use http::Method;
use serde_json::json;

use super::{Day, Effect};
use crate::harness::Gate;

impl Day {
    pub(super) async fn afternoon(&mut self, gate: &mut Gate) {
        for issue in [11, 13, 14, 15, 16, 17] {
            self.world.labels_on("ann", issue, "code").await;
        }
        self.passes().await;
        self.chats("out", 11, "A switch! And pink, please.").await;
        self.chats("rob", 11, "Whatever is easier.").await;
        self.chats("ann", 11, "@wil, what do you think?").await;
        self.reviews("wil", 13, ("REQUEST_CHANGES", "The Atom feed needs it, too."), Some("Here as well.")).await;
        let avatars = self.pull(14).await;
        self.says("wil", avatars, "Could this also have a test?", "confused", Effect::Reply).await;
        self.says("wil", 15, "Try it with LC_ALL=fr_FR.", "eyes", Effect::Read(15)).await;
        self.says("ann", 17, "/hob explain", "eyes", Effect::Reply).await;
        self.says("wil", 16, "/hob retry", "confused", Effect::Reply).await;
        self.passes().await;
        self.says("wil", 11, "Follow the system.", "eyes", Effect::Read(11)).await;
        self.says("wil", avatars, "/hob please add a test", "eyes", Effect::Read(14)).await;
        self.says("ann", 16, "/hob budget 12", "eyes", Effect::Done(16, "ann set the issue's budget")).await;
        self.passes().await;
        self.passes().await;
        self.font(gate).await;
        self.questions().await;
    }

    /// Wil stops an agent that works.
    async fn font(&mut self, gate: &mut Gate) {
        self.next_hour();
        self.world.labels_on("wil", 28, "code").await;
        let worker = self.world.worker("w1").await;
        let said = async {
            gate.reached().await;
            self.world.comments("wil", 28, "Stop, please.").await;
            gate.open().await;
        };
        tokio::join!(crate::harness::run(&worker), said);
        let (login, on, words, receipt) = ("wil", 28, "Stop, please.", "eyes");
        self.messages.push(super::Message { login, on, words, receipt, effect: Effect::Done(28, "wil") });
    }

    /// Five questions, each answered in its own way.
    async fn questions(&mut self) {
        for issue in [18, 19, 20, 21, 22] {
            self.world.labels_on("wil", issue, "code").await;
        }
        self.passes().await;
        self.says("wil", 18, "/hob rtery", "confused", Effect::Reply).await;
        let fields = json!({"body": "Beside CSV, with the same fields."});
        self.world.edits("ann", 19, fields).await;
        let quoted = "> Should the header be printed?\n\nOnly on the first page.";
        self.says("ann", 20, quoted, "eyes", Effect::Read(20)).await;
        self.says("ann", 21, "20 rows.", "eyes", Effect::Read(21)).await;
        self.says("wil", 21, "No: 50 rows.", "eyes", Effect::Read(21)).await;
        let licence = self.pull(22).await;
        self.world.merges(licence).await;
        self.passes().await;
        self.says("wil", 18, "/hob retry three times is enough", "eyes", Effect::Read(18)).await;
        self.passes().await;
    }

    /// A check of the pull request's head fails.
    pub(super) async fn a_check_fails(&self, issue: u64) {
        let pull = self.pull(issue).await;
        let head = self.world.look(&format!("/pulls/{pull}")).await["head"]["sha"].clone();
        let failed = json!({"head_sha": head, "name": "forms", "status": "completed", "conclusion": "failure",
            "output": {"title": "1 failed", "summary": "`a@` was accepted"}});
        self.world.call("robo[bot]", Method::POST, "/check-runs", failed).await;
    }
}
