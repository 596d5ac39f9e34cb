//! The table of all endpoints.

use super::{
    super::route::Route, actions, annotations, apps, assignees, branches, checks, collaborators, comments, compare,
    contents, dependencies, events, issue_edit, issue_labels, issues, labels, merge, meta, objects, protection, pulls,
    reactions, refs, relations, repo_edit, repos, reruns, review_comments, reviewers, reviews, rulesets, search,
    statuses, update_branch, workflows,
};

/// Every endpoint that the forge has.
pub(in super::super) fn routes() -> impl Iterator<Item = &'static Route> {
    let topics: [&'static [Route]; 36] = [
        actions::ROUTES,
        annotations::ROUTES,
        apps::ROUTES,
        assignees::ROUTES,
        branches::ROUTES,
        checks::ROUTES,
        collaborators::ROUTES,
        comments::ROUTES,
        compare::ROUTES,
        contents::ROUTES,
        dependencies::ROUTES,
        events::ROUTES,
        issue_edit::ROUTES,
        issue_labels::ROUTES,
        issues::ROUTES,
        labels::ROUTES,
        merge::ROUTES,
        meta::ROUTES,
        objects::READ,
        objects::WRITE,
        protection::ROUTES,
        pulls::ROUTES,
        reactions::ROUTES,
        refs::ROUTES,
        relations::ROUTES,
        repo_edit::ROUTES,
        repos::ROUTES,
        reruns::ROUTES,
        review_comments::ROUTES,
        reviewers::ROUTES,
        reviews::ROUTES,
        rulesets::ROUTES,
        search::ROUTES,
        statuses::ROUTES,
        update_branch::ROUTES,
        workflows::ROUTES,
    ];
    topics.into_iter().flatten()
}

/// Names every endpoint that the forge has, as `GET /repos/{owner}/{repo}`; a part with a star takes slashes too.
pub fn endpoints() -> Vec<String> {
    routes().map(Route::name).collect()
}
