//! Pages of a list, with GitHub's `Link` header.

use serde_json::Value;
use url::form_urlencoded;

use super::call::{Call, Reply};

/// The most a page holds. <https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api>
const PER_PAGE_MAX: usize = 100;

/// The requested part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    number: usize,
    size: usize,
}

impl Page {
    /// Reads `page` and `per_page`; invalid values become GitHub's default, 30 on page 1.
    pub(super) fn asked_for(call: &Call) -> Self {
        let number = |name| call.query(name).and_then(|text| text.parse::<usize>().ok()).filter(|n| *n > 0);
        Self { number: number("page").unwrap_or(1), size: number("per_page").unwrap_or(30).min(PER_PAGE_MAX) }
    }

    /// The number of entries before it.
    pub(super) fn start(self) -> usize {
        (self.number - 1).saturating_mul(self.size)
    }

    /// This page of `all`.
    pub(super) fn of_list<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.start()).take(self.size).collect()
    }

    /// The addresses of the other pages of a list of `total`; `None` if there is only one page.
    pub(super) fn link(self, call: &Call, total: usize) -> Option<String> {
        let last = total.div_ceil(self.size).max(1);
        let mut links = Vec::new();
        if self.number > 1 {
            links.push(link_to(call, (self.number - 1).min(last), "prev"));
        }
        if self.number < last {
            links.push(link_to(call, self.number + 1, "next"));
            links.push(link_to(call, last, "last"));
        }
        if self.number > 1 {
            links.push(link_to(call, 1, "first"));
        }
        (!links.is_empty()).then(|| links.join(", "))
    }
}

/// Answers the requested page of `items`, each made to JSON by `show`.
pub(super) fn paged<T>(call: &Call, items: Vec<T>, show: impl Fn(&T) -> Value) -> Reply {
    let (page, total) = (Page::asked_for(call), items.len());
    let shown = page.of_list(items).iter().map(show).collect();
    Reply::ok(Value::Array(shown)).with_link(page.link(call, total))
}

fn link_to(call: &Call, page: usize, rel: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in call.query.iter().filter(|(name, _)| name.as_str() != "page") {
        query.append_pair(name, value);
    }
    query.append_pair("page", &page.to_string());
    format!("<{}{}?{}>; rel=\"{rel}\"", call.forge.server(), call.location, query.finish())
}
