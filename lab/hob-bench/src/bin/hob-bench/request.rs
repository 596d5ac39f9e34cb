//! What an agent is asked when it is measured.

use std::{path::PathBuf, time::Duration};

use hob_domain::RunRequest;

/// A request without an issue.
pub(super) fn request(brief: String, folder: PathBuf, time: Duration) -> anyhow::Result<RunRequest> {
    Ok(RunRequest {
        purpose: hob_domain::RunPurpose::Work,
        run: "bench".into(),
        session: "bench".into(),
        repo: "hob/bench".parse()?,
        issue: "1".parse().map_err(|error| anyhow::anyhow!("{error}"))?,
        title: "A measurement".to_owned(),
        body: String::new(),
        brief,
        folder,
        checks: Vec::new(),
        time,
        time_setting: "--time",
        usd_micros: None,
        tokens: None,
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: Vec::new(),
        strain: hob_domain::Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    })
}
