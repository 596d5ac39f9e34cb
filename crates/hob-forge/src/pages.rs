//! Lists over several pages, up to a limit. A part of a list is never mistaken for the whole: a caller says whether it
//! wants all entries, the oldest or the newest, and is told if there are more.
//!
//! # Caveats
//! A full last page has no link to the next. When the list grows, the page's entries stay the same, so a forge may keep
//! answering 304: such a page is not cached, and is read again.

use std::collections::VecDeque;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Connection, ForgeError, purpose::Purpose, reply::Links};

/// The most pages of one list that are read.
const PAGES_MAX: usize = 50;
/// Entries of a page: the most that GitHub allows, requested for each list.
/// <https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api>
const PER_PAGE: usize = 100;

/// The part of a list that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed<T> {
    /// The entries, in the list's own order.
    pub(super) entries: Vec<T>,
    /// Whether these are all.
    pub(super) extent: Extent,
}

/// How much of a list was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The whole list.
    Whole,
    /// As much as is read; there is more.
    Part,
}

/// Reads a whole list.
///
/// # Errors
/// [`ForgeError::TooLong`] with this advice if there are more entries than are read.
pub(super) async fn all<T: Serialize + DeserializeOwned>(
    connection: &Connection,
    path: &str,
    purpose: Purpose<'_>,
    advice: &str,
) -> Result<Vec<T>, ForgeError> {
    let listed = oldest(connection, path, purpose).await?;
    match listed.extent {
        Extent::Whole => Ok(listed.entries),
        Extent::Part => Err(too_long(purpose, advice)),
    }
}

/// Reads all pages of an object that is not a plain list.
///
/// # Errors
/// [`ForgeError::TooLong`] with this advice if there are more than are read.
pub(super) async fn pages<T: Serialize + DeserializeOwned>(
    connection: &Connection,
    path: &str,
    purpose: Purpose<'_>,
    advice: &str,
) -> Result<Vec<T>, ForgeError> {
    let mut found = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        if found.len() == PAGES_MAX {
            return Err(too_long(purpose, advice));
        }
        let (page, links) = connection.read(&path, purpose).await?;
        found.push(page);
        next = links.next;
    }
    Ok(found)
}

/// Reads a list from its beginning.
pub(super) async fn oldest<T: Serialize + DeserializeOwned>(
    connection: &Connection,
    path: &str,
    purpose: Purpose<'_>,
) -> Result<Listed<T>, ForgeError> {
    let mut entries = Vec::new();
    let mut next = Some(path.to_owned());
    for _page in 0..PAGES_MAX {
        let Some(path) = next else { break };
        let (page, links) = read_page(connection, &path, purpose).await?;
        entries.extend(page);
        next = links.next;
    }
    let extent = if next.is_none() { Extent::Whole } else { Extent::Part };
    Ok(Listed { entries, extent })
}

/// Reads a list that has its oldest entries first from its end.
pub(super) async fn newest<T: Serialize + DeserializeOwned>(
    connection: &Connection,
    path: &str,
    purpose: Purpose<'_>,
) -> Result<Listed<T>, ForgeError> {
    let (first, links) = read_page(connection, path, purpose).await?;
    let last = match links {
        Links { next: None, .. } => return Ok(Listed { entries: first, extent: Extent::Whole }),
        Links { last: Some(last), .. } => last,
        // The forge does not say where the list ends.
        Links { last: None, .. } => {
            let listed = oldest(connection, path, purpose).await?;
            return match listed.extent {
                Extent::Whole => Ok(listed),
                Extent::Part => Err(too_long(purpose, "the forge does not say where the list ends")),
            };
        }
    };
    let (page, mut links) = read_page(connection, &last, purpose).await?;
    let (beginning, mut previous) = (links.first.take(), links.previous.take());
    let mut pages = VecDeque::from([page]);
    // The link may be older than the list's last entries, because the first page is often answered with 304.
    while let Some(next) = links.next.take() {
        if pages.len() == PAGES_MAX {
            return Err(too_long(purpose, "it grew while it was read: try again"));
        }
        let (page, found) = read_page(connection, &next, purpose).await?;
        pages.push_back(page);
        links = found;
    }
    let extent = loop {
        match previous {
            None => break Extent::Whole,
            Some(path) if beginning.as_ref() == Some(&path) => {
                pages.push_front(first);
                break Extent::Whole;
            }
            Some(_) if pages.len() == PAGES_MAX => break Extent::Part,
            Some(path) => {
                let (page, found) = read_page(connection, &path, purpose).await?;
                pages.push_front(page);
                previous = found.previous;
            }
        }
    };
    Ok(Listed { entries: pages.into_iter().flatten().collect(), extent })
}

async fn read_page<T: Serialize + DeserializeOwned>(
    connection: &Connection,
    path: &str,
    purpose: Purpose<'_>,
) -> Result<(Vec<T>, Links), ForgeError> {
    let (page, links): (Vec<T>, _) = connection.read(path, purpose).await?;
    // Refs are not paged: a hundred of them are all.
    if page.len() == PER_PAGE && links.next.is_none() && path.contains("per_page=") {
        connection.cache.forget(path);
    }
    Ok((page, links))
}

/// The error for a list of which only a part could be read.
pub(super) fn too_long(purpose: Purpose<'_>, advice: &str) -> ForgeError {
    let (what, advice) = (purpose.what.to_owned(), advice.to_owned());
    ForgeError::TooLong { what, limit: PAGES_MAX * PER_PAGE, advice }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use hob_config::Settings;
    use hob_domain::FailureClass;
    use hob_text::KnownSecrets;
    use http::{Request, Response, header};
    use http_body_util::Full;
    use octocrab::{AuthState, OctoBody, OctocrabBuilder};

    use super::*;
    use crate::{Access, Authentication, TokenPermission::IssuesRead};

    /// A list with this many entries, numbered from `0`, and how often it was requested.
    #[derive(Clone, Default)]
    struct List {
        entries: Arc<AtomicUsize>,
        calls: Arc<AtomicUsize>,
    }

    impl List {
        fn of(entries: usize) -> Self {
            let list = Self::default();
            list.grow(entries);
            list
        }

        fn grow(&self, entries: usize) {
            self.entries.fetch_add(entries, Ordering::Relaxed);
        }

        /// The calls since the last time.
        fn calls(&self) -> usize {
            self.calls.swap(0, Ordering::Relaxed)
        }

        /// As GitHub answers, with a tag that depends only on the page's entries.
        fn answer(&self, request: &Request<OctoBody>) -> Response<Full<bytes::Bytes>> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let query = request.uri().query().unwrap_or_default();
            let page = query.split_once("&page=").map_or(1, |(_, page)| page.parse().unwrap());
            let (len, from) = (self.entries.load(Ordering::Relaxed), (page - 1) * PER_PAGE);
            let entries: Vec<usize> = (from..len.min(from + PER_PAGE)).collect();
            let last = len.div_ceil(PER_PAGE);
            let mut links = Vec::new();
            if page > 1 {
                links.extend([("first", 1), ("prev", page - 1)]);
            }
            if page < last {
                links.extend([("next", page + 1), ("last", last)]);
            }
            let link =
                |(rel, page)| format!("<https://forge/repos/a/b/labels?per_page=100&page={page}>; rel=\"{rel}\"");
            let tag = format!("\"{page} {}\"", entries.len());
            let known = request.headers().get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
            let answer = Response::builder().status(if known { 304 } else { 200 }).header(header::ETAG, tag);
            let links: Vec<String> = links.into_iter().map(link).collect();
            let body = if known { String::new() } else { serde_json::to_string(&entries).unwrap() };
            answer.header(header::LINK, links.join(", ")).body(Full::from(body)).unwrap()
        }

        fn connection(&self) -> Arc<Connection> {
            let list = self.clone();
            let service = tower::service_fn(move |request| {
                let answer = list.answer(&request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let built = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None).build();
            let octocrab = built.unwrap_or_else(|never| match never {});
            let settings = Settings::load(None, HashMap::new(), &[]).unwrap().forge;
            let identity = Authentication::Token("t".to_owned().into());
            Connection::over(octocrab, "", identity, &settings, Access::ReadOnly, KnownSecrets::default())
        }
    }

    const PATH: &str = "/repos/a/b/labels?per_page=100";
    const MOST: usize = PAGES_MAX * PER_PAGE;

    #[tokio::test]
    async fn a_list_is_whole_or_an_error() {
        let list = List::of(MOST);
        let connection = list.connection();
        let read = async || all::<usize>(&connection, PATH, IssuesRead.to("read the list"), "split it").await;
        assert_eq!(read().await.unwrap(), (0..MOST).collect::<Vec<_>>());
        list.grow(1);
        let error = read().await.unwrap_err();
        assert_eq!(error.class(), FailureClass::Permanent);
        let says = "the forge lists more than 5000 entries, and Hob reads no more of a list (asked to read the list): \
                    split it";
        assert_eq!(error.to_string(), says);
        let pages = pages::<Vec<usize>>(&connection, PATH, IssuesRead.to("read the list"), "split it").await;
        assert_eq!(pages.unwrap_err().to_string(), says);
    }

    #[tokio::test]
    async fn the_oldest_of_a_long_list_are_known_to_be_a_part() {
        let listed = oldest(&List::of(MOST + 1).connection(), PATH, IssuesRead.to("read the list")).await.unwrap();
        assert_eq!(listed, Listed { entries: (0..MOST).collect(), extent: Extent::Part });
    }

    #[tokio::test]
    async fn the_newest_of_a_list_are_read_from_its_end_in_no_more_calls() {
        for (len, from, extent, calls) in [
            (0, 0, Extent::Whole, 1),
            (100, 0, Extent::Whole, 1),
            (101, 0, Extent::Whole, 2),
            (250, 0, Extent::Whole, 3),
            (MOST + 100, 0, Extent::Whole, 51),
            (MOST + 101, 200, Extent::Part, 51),
            (3 * MOST, 2 * MOST, Extent::Part, 51),
        ] {
            let list = List::of(len);
            let newest = newest(&list.connection(), PATH, IssuesRead.to("read the list")).await.unwrap();
            assert_eq!(newest, Listed { entries: (from..len).collect(), extent }, "{len}");
            assert_eq!(list.calls(), calls, "{len}");
        }
    }

    /// In virtual time: so many reads use up the points of a minute, twice.
    #[tokio::test(start_paused = true)]
    async fn what_comes_after_pages_that_are_kept_is_read() {
        let list = List::of(99);
        let connection = list.connection();
        for _ in 0..303 {
            list.grow(1);
            let len = list.entries.load(Ordering::Relaxed);
            let newest = newest::<usize>(&connection, PATH, IssuesRead.to("read the list")).await.unwrap();
            assert_eq!(newest.entries.len(), len);
            let whole = all::<usize>(&connection, PATH, IssuesRead.to("read the list"), "").await.unwrap();
            assert_eq!(whole.len(), len);
        }
    }
}
