//! The templates of the pages, and the frame around their content.

use std::sync::LazyLock;

use minijinja::{Environment, context};
use serde_json::Value;

use super::super::{
    call::{Answer, Call, Reply},
    refusal::Refusal,
};

static TEMPLATES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.add_template("layout.html", include_str!("layout.html"))?;
    templates.add_template("all.html", include_str!("all.html"))?;
    templates.add_template("repository.html", include_str!("repository.html"))?;
    templates.add_template("issue.html", include_str!("issue.html"))?;
    templates.add_template("pull.html", include_str!("pull.html"))?;
    templates.add_template("error.html", include_str!("error.html"))?;
    Ok(templates)
});

/// A page of this template and its values, below a trail of (name, address).
pub(super) fn page(name: &str, title: &str, trail: &[(String, String)], shown: &Value) -> Answer {
    let content = render(name, shown)?;
    Ok(Reply::raw("text/html; charset=utf-8", whole(title, trail, &content)?))
}

/// A page with this content below a trail of (name, address).
pub(super) fn whole(title: &str, trail: &[(String, String)], content: &str) -> Result<String, Refusal> {
    let templates = TEMPLATES.as_ref().map_err(Refusal::internal)?;
    let layout = templates.get_template("layout.html").map_err(Refusal::internal)?;
    let trail: Vec<_> = trail.iter().map(|(name, address)| context! { name, address }).collect();
    layout.render(context! { title, trail, content, style => include_str!("style.css") }).map_err(Refusal::internal)
}

/// Renders a template with these values.
pub(super) fn render(name: &str, shown: &Value) -> Result<String, Refusal> {
    let templates = TEMPLATES.as_ref().map_err(Refusal::internal)?;
    templates
        .get_template(name)
        .and_then(|template| template.render(minijinja::Value::from(minijinja::value::Serde(shown))))
        .map_err(Refusal::internal)
}

/// The trail to the repository in the path.
pub(super) fn trail(call: &Call) -> Vec<(String, String)> {
    let name = format!("{}/{}", call.part("owner"), call.part("repo"));
    let address = format!("/{name}");
    vec![(name, address)]
}
