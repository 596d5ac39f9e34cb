//! GitHub's media types: the requested form of an answer, and texts as HTML or plain text beside their Markdown.
//! <https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types>

use serde_json::{Map, Value};

use super::markdown;

/// The signed address of an attached image; `None` if it is not one.
pub(super) type Signed<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The form of an answer, by the custom media type in `Accept`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    Raw,
    Text,
    Html,
    Full,
    Diff,
    Patch,
    Sha,
    Object,
    /// A custom media type that the forge has nowhere.
    Other,
}

/// The media types that only concern the form of texts: any answer is available in them.
pub(super) const TEXTS: &[Media] = &[Media::Raw, Media::Text, Media::Html, Media::Full];

impl Media {
    const NAMED: [Self; 8] =
        [Self::Raw, Self::Text, Self::Html, Self::Full, Self::Diff, Self::Patch, Self::Sha, Self::Object];

    /// The form that this `Accept` asks for: its first custom media type of GitHub. Names of previews are ignored, as
    /// on GitHub.
    pub(super) fn asked_for(accept: &str) -> Self {
        let custom = accept.split(',').find_map(|range| {
            let kind = range.split(';').next().unwrap_or_default().trim();
            kind.strip_prefix("application/vnd.github").map(|rest| rest.split('+').next().unwrap_or_default())
        });
        let param = custom.unwrap_or_default().split('.').find(|part| !matches!(*part, "" | "v3"));
        match param {
            None => Self::Json,
            Some(preview) if preview.ends_with("-preview") => Self::Json,
            Some(name) => Self::NAMED.into_iter().find(|media| media.name() == name).unwrap_or(Self::Other),
        }
    }

    /// GitHub's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Raw => "raw",
            Self::Text => "text",
            Self::Html => "html",
            Self::Full => "full",
            Self::Diff => "diff",
            Self::Patch => "patch",
            Self::Sha => "sha",
            Self::Object => "object",
            Self::Other => "unknown",
        }
    }

    /// The value of `X-GitHub-Media-Type`.
    pub(super) fn header(self) -> String {
        match self {
            Self::Json | Self::Other => "github.v3; format=json".to_owned(),
            Self::Diff | Self::Patch | Self::Sha => format!("github.v3; param={}", self.name()),
            Self::Raw | Self::Text | Self::Html | Self::Full | Self::Object => {
                format!("github.v3; param={}; format=json", self.name())
            }
        }
    }

    /// Gives each issue, pull request, review and comment in `shown` its text in the requested form; `repo` is the
    /// address below which `#12` leads, and `signed` gives the addresses of attached images.
    pub(super) fn render(self, shown: &mut Value, repo: &str, signed: Signed<'_>) {
        match shown {
            Value::Array(items) => items.iter_mut().for_each(|item| self.render(item, repo, signed)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.render(value, repo, signed));
                if fields.contains_key("body") && fields.contains_key("user") {
                    self.render_body(fields, repo, signed);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn render_body(self, fields: &mut Map<String, Value>, repo: &str, signed: Signed<'_>) {
        let body = fields.get("body").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut set = |name: &str, text: String| fields.insert(name.to_owned(), Value::String(text));
        if matches!(self, Self::Html | Self::Full) {
            set("body_html", markdown::html_with_images(&body, repo, signed));
        }
        if matches!(self, Self::Text | Self::Full) {
            set("body_text", markdown::text(&body));
        }
        if matches!(self, Self::Text | Self::Html) {
            fields.remove("body");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_custom_media_type_counts() {
        for (accept, expected) in [
            ("", Media::Json),
            ("*/*", Media::Json),
            ("application/vnd.github+json", Media::Json),
            ("application/vnd.github.v3+json", Media::Json),
            ("application/vnd.github.v3.full+json", Media::Full),
            ("application/vnd.github.html+json; charset=utf-8", Media::Html),
            ("application/vnd.github.VERSION.diff", Media::Other),
            ("application/vnd.github.v3.diff", Media::Diff),
            ("application/vnd.github.squirrel-girl-preview+json", Media::Json),
            ("text/html, application/vnd.github.sha", Media::Sha),
        ] {
            assert_eq!(Media::asked_for(accept), expected, "{accept}");
        }
    }

    #[test]
    fn texts_are_rendered_wherever_they_stand() {
        let plain =
            json!([{"user": {"login": "a"}, "body": "**b**", "issue": {"user": null, "body": null}}, {"body": "x"}]);
        let mut full = plain.clone();
        Media::Full.render(&mut full, "/a/b", &|_address| None);
        assert_eq!((&full[0]["body"], &full[0]["body_text"]), (&json!("**b**"), &json!("b")));
        assert!(full[0]["body_html"].as_str().unwrap().contains("<strong>b</strong>"));
        assert_eq!((&full[0]["issue"]["body_html"], full[1].get("body_html")), (&json!(""), None));
        let mut text = plain;
        Media::Text.render(&mut text, "/a/b", &|_address| None);
        assert_eq!((text[0].get("body"), &text[0]["body_text"]), (None, &json!("b")));
    }
}
