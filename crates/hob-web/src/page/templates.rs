//! The templates of the page, and the frame around each view.

use std::sync::LazyLock;

use axum::response::{Html, IntoResponse, Response};
use http::StatusCode;
use minijinja::{Environment, Error, HtmlEscape, Value, context};

use crate::{
    api::{Filter, issues},
    shared::Shared,
};

/// The template of what is shown before the token is given.
pub(super) const SIGN_IN: &str = "sign_in.html";

static TEMPLATES: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    for (name, text) in [
        ("layout.html", include_str!("../../templates/layout.html")),
        ("parts.html", include_str!("../../templates/parts.html")),
        ("needs.html", include_str!("../../templates/needs.html")),
        ("now.html", include_str!("../../templates/now.html")),
        ("issue.html", include_str!("../../templates/issue.html")),
        ("worth.html", include_str!("../../templates/worth.html")),
        ("health.html", include_str!("../../templates/health.html")),
        (SIGN_IN, include_str!("../../templates/sign_in.html")),
        ("message.html", include_str!("../../templates/message.html")),
    ] {
        templates.add_template(name, text)?;
    }
    templates.add_filter("usd", |amount: f64| format!("${amount:.2}"));
    templates.add_filter("prose", prose);
    Ok(templates)
});

/// A sentence with what is between back-ticks as code.
fn prose(text: &str) -> Value {
    let mut shown = String::new();
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired one is only itself.
    let paired = parts.len() - 1 - (parts.len() - 1) % 2;
    for (at, part) in parts.iter().enumerate() {
        if at > paired {
            shown.push('`');
        } else if at > 0 {
            shown.push_str(if at % 2 == 1 { "<code>" } else { "</code>" });
        }
        shown.push_str(&HtmlEscape(part).to_string());
    }
    Value::from_safe_string(shown)
}

/// The views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Needs,
    Now,
    Worth,
    Health,
    /// One issue, or a message.
    None,
}

/// A view: its template with these values, below the links to the others.
pub(super) fn render(shared: &Shared, view: View, name: &str, title: &str, shown: Value) -> Response {
    let rendered = TEMPLATES.as_ref().map_err(ToString::to_string).and_then(|templates| {
        let version = env!("CARGO_PKG_VERSION");
        // Before the token is given, nothing of the work is shown, and no number either.
        let views = if name == SIGN_IN { Vec::new() } else { links(shared, view) };
        let frame = context! { title, version, views, may_write => shared.access.has_token() };
        let values = context! { ..frame, ..shown };
        let template = templates.get_template(name).map_err(|error| error.to_string())?;
        template.render(values).map_err(|error| error.to_string())
    });
    match rendered {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "the page cannot be shown: {error}");
            (StatusCode::INTERNAL_SERVER_ERROR, "this view cannot be shown: Hob's log says why\n").into_response()
        }
    }
}

fn links(shared: &Shared, view: View) -> Vec<Value> {
    let any = Filter { needs: Some("any".to_owned()), limit: Some(1), ..Filter::default() };
    let needs = issues(shared, &any).map_or(0, |part| part.all);
    [
        (View::Needs, "/", "Needs you", Some(needs)),
        (View::Now, "/now", "Now", None),
        (View::Worth, "/worth-it", "Worth it", None),
        (View::Health, "/health", "Health", None),
    ]
    .into_iter()
    .map(|(of, address, name, count)| context! { address, name, count, is_shown => of == view })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_read() {
        assert!(TEMPLATES.is_ok(), "{:?}", TEMPLATES.as_ref().err());
    }

    #[test]
    fn what_is_between_back_ticks_is_code_and_all_of_it_is_escaped() {
        for (text, shown) in [
            ("plain", "plain"),
            ("a `b` c", "a <code>b</code> c"),
            ("`<b>`&`c`", "<code>&lt;b&gt;</code>&amp;<code>c</code>"),
            ("a `b` c ` <i>", "a <code>b</code> c ` &lt;i&gt;"),
            ("`", "`"),
            ("", ""),
        ] {
            assert_eq!(prose(text).to_string(), shown, "{text}");
        }
    }
}
