//! The descriptions of all types.

use super::{
    account, check, comment, commit, common, conversation, file, issue, label, linked, pull, query, reaction,
    repository, review, search, suite, template, text, thread, timeline,
};

/// Each type's description, in GraphQL's schema language.
pub(in super::super) const DESCRIPTIONS: &[&str] = &[
    account::DESCRIPTION,
    check::DESCRIPTION,
    comment::DESCRIPTION,
    commit::DESCRIPTION,
    common::DESCRIPTION,
    conversation::DESCRIPTION,
    file::DESCRIPTION,
    issue::DESCRIPTION,
    label::DESCRIPTION,
    linked::DESCRIPTION,
    pull::DESCRIPTION,
    query::DESCRIPTION,
    reaction::DESCRIPTION,
    repository::DESCRIPTION,
    review::DESCRIPTION,
    search::DESCRIPTION,
    suite::DESCRIPTION,
    template::DESCRIPTION,
    text::DESCRIPTION,
    thread::DESCRIPTION,
    timeline::DESCRIPTION,
];
