//! Labels of a repository.

use super::super::{
    super::{
        state::{Label, Repository},
        wire::node_id,
    },
    object::{Args, At, Out, made},
    page::connection,
};

pub(super) const DESCRIPTION: &str = r"
type Label implements Node {
    color: String!
    description: String
    id: ID!
    isDefault: Boolean!
    name: String!
    repository: Repository!
    resourcePath: URI!
    url: URI!
}
input LabelOrder { direction: OrderDirection! field: LabelOrderField! }
enum LabelOrderField { CREATED_AT NAME }
";

/// A label.
pub(super) fn object<'s>(at: &At<'s>, repo: &'s Repository, label: &'s Label) -> Out<'s> {
    let name: String = url::form_urlencoded::byte_serialize(label.name.as_bytes()).collect();
    let below = format!("/labels/{}", name.replace('+', "%20"));
    made(
        "Label",
        [
            ("color", Out::leaf(label.color.as_str())),
            ("description", Out::leaf(label.description.as_deref())),
            ("id", Out::leaf(node_id("Label", label.id))),
            ("isDefault", Out::leaf(false)),
            ("name", Out::leaf(label.name.as_str())),
            ("repository", Out::Node(node_id("Repository", repo.id))),
            ("resourcePath", Out::leaf(format!("/{}{below}", repo.name))),
            ("url", Out::leaf(at.page(repo, &below))),
        ],
    )
}

/// A page of labels, in the order that is asked for.
pub(super) fn labels<'s>(at: &At<'s>, args: &Args, repo: &'s Repository, mut all: Vec<&'s Label>) -> Out<'s> {
    let query = args.text("query").map(str::to_lowercase);
    all.retain(|label| query.as_ref().is_none_or(|query| label.name.to_lowercase().contains(query)));
    if let Some(order) = args.input("orderBy") {
        match order.needed("field") {
            "NAME" => all.sort_by_key(|label| label.name.to_lowercase()),
            _ => all.sort_by_key(|label| label.id),
        }
        if order.text("direction") == Some("DESC") {
            all.reverse();
        }
    }
    connection("LabelConnection", args, all.into_iter().map(|label| (label.id, object(at, repo, label))))
}
