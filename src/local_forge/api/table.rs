//! The table of all endpoints.

use super::{
    super::route::Route, assignees, branches, collaborators, comments, compare, contents, events, issue_edit,
    issue_labels, issues, labels, merge, meta, objects, pulls, refs, repos, review_comments, reviews,
};

/// Every endpoint that the forge has.
pub(in super::super) fn routes() -> impl Iterator<Item = &'static Route> {
    let topics: [&'static [Route]; 20] = [
        assignees::ROUTES,
        branches::ROUTES,
        collaborators::ROUTES,
        comments::ROUTES,
        compare::ROUTES,
        contents::ROUTES,
        events::ROUTES,
        issue_edit::ROUTES,
        issue_labels::ROUTES,
        issues::ROUTES,
        labels::ROUTES,
        merge::ROUTES,
        meta::ROUTES,
        objects::READ,
        objects::WRITE,
        pulls::ROUTES,
        refs::ROUTES,
        repos::ROUTES,
        review_comments::ROUTES,
        reviews::ROUTES,
    ];
    topics.into_iter().flatten()
}
