//! What all issues of a repository share: its record, its dashboard, its pace.

pub(crate) mod dashboard;
pub(crate) mod durations;
pub(crate) mod finished_list;
pub(crate) mod flakes;
pub(crate) mod poll;
pub(crate) mod record;
pub(crate) mod shared_settings;
