//! The last issues: a pause, a refused label, a changed plan, an assignee, and what is left to people.

use http::Method;
use serde_json::json;

use super::{Day, Effect};

impl Day {
    pub(super) async fn evening(&mut self) {
        self.next_hour();
        self.world.edits("ann", 29, json!({"assignees": ["tess"]})).await;
        self.world.labels_on("tess", 24, "code").await;
        for issue in [23, 25, 26, 27, 29, 30] {
            self.world.labels_on("ann", issue, "code").await;
        }
        self.says("wil", 23, "/hob pause", "eyes", Effect::Done(23, "paused")).await;
        self.says("ann", 27, "/hob plan", "eyes", Effect::Done(27, "plan")).await;
        self.passes().await;
        self.a_check_fails(25).await;
        self.says("wil", 23, "/hob resume", "eyes", Effect::Done(23, "resumed by wil")).await;
        self.says("ann", 27, "No, without Redis.", "eyes", Effect::Read(27)).await;
        self.says("ann", 29, "/hob retry", "eyes", Effect::Done(29, "ann")).await;
        self.world.labels_off("tess", 24, "code").await;
        self.world.labels_on("ann", 24, "code").await;
        self.says("wil", 30, "g then h, i and r", "eyes", Effect::Read(30)).await;
        self.passes().await;
        self.says("wil", 27, "/hob approve", "eyes", Effect::Done(27, "approved by wil")).await;
        self.world.edits("ann", 26, json!({"state": "closed"})).await;
        self.passes().await;
        let online = self.pull(24).await;
        self.says("ann", online, "/hob cancel", "eyes", Effect::Done(24, "ann")).await;
        let menu = self.pull(3).await;
        self.world.call("wil", Method::PATCH, &format!("/pulls/{menu}"), json!({"state": "closed"})).await;
        self.passes().await;
        self.passes().await;
    }
}
