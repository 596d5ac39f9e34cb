//! The forge's bad days: the faults that the calls of a pass meet, and the forge's moods.

use github_emulator::{Fault, Mood, Moods, What, When};

use super::draw::Draw;

/// Hob's calls to the API.
const API: &str = "/repos/**";
/// Hob's queries.
const GRAPHQL: &str = "/api/graphql";
/// Hob's fetches and pushes.
const GIT: &str = "/acme/site.git/**";

/// The faults of one pass, each with its own chance at each call. People's calls meet none.
pub(super) fn faults(draw: Draw, pass: u64) -> Vec<Fault> {
    let answer = |status: u16, message: &str, headers: &[(&str, &str)]| What::Answer {
        status,
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        message: message.to_owned(),
    };
    let secondary = "You have exceeded a secondary rate limit.";
    let kinds = [
        ("500", API, None, answer(500, "Server Error", &[])),
        ("502", API, None, answer(502, "Bad Gateway", &[])),
        ("429", API, None, answer(429, "Too many requests", &[("retry-after", "1")])),
        ("403", API, None, answer(403, secondary, &[("retry-after", "1")])),
        ("long 403", API, None, answer(403, secondary, &[("retry-after", "120")])),
        ("drop before", API, None, What::DropBefore),
        ("drop after", API, None, What::DropAfter),
        ("truncate", API, None, What::Truncate),
        ("stale", API, Some("GET"), What::Stale),
        ("slow", API, None, What::Delay(3_000)),
        ("too slow", API, None, What::Delay(120_000)),
        ("query 502", GRAPHQL, None, answer(502, "Bad Gateway", &[])),
        ("query drop after", GRAPHQL, None, What::DropAfter),
        ("git 502", GIT, None, answer(502, "Bad Gateway", &[])),
        ("git drop before", GIT, None, What::DropBefore),
        ("git drop after", GIT, None, What::DropAfter),
    ];
    let fault = |(name, path, method, what): (&str, &str, Option<&str>, What)| {
        let percent = u8::try_from(draw.below(3, &format!("{pass}: percent of {name}"))).unwrap();
        let when = When::Random { percent, seed: draw.below(u64::MAX, &format!("{pass}: {name}")) };
        let (method, path) = (method.map(str::to_owned), path.to_owned());
        Fault { method, path, login: Some("hob".into()), when, what }
    };
    kinds.into_iter().map(fault).collect()
}

/// The moods of one pass: about half of them, with one chance that is drawn for all.
pub(super) fn moods(draw: Draw, pass: u64) -> Moods {
    let on = Mood::ALL.into_iter().filter(|mood| draw.below(2, &format!("{pass}: mood {}", mood.name())) == 0);
    let percent = draw.one(&[2, 5, 20], &format!("{pass}: percent of moods"));
    Moods::new(on, draw.below(u64::MAX, &format!("{pass}: seed of moods"))).with_percent(percent)
}
