//! The list of updates that a push begins with: only the one that is allowed passes, wherever the body is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAME: &str = "refs/heads/hob/7";
const NEW: &str = "1111111111111111111111111111111111111111";
const NOTHING: &str = "0000000000000000000000000000000000000000";

fuzz_target!(|body: &[u8]| {
    let read = |body: &[u8]| hob_workspace::fuzz_updates(body, NAME, NEW);
    let Ok(Some(passes)) = read(body) else { return };
    // An empty list is four zeros and nothing else; any other that passes begins with the one update.
    let update = format!("{NOTHING} {NEW} {NAME}");
    let begins = body.get(4..).is_some_and(|rest| rest.starts_with(update.as_bytes()));
    assert_eq!((passes, body == b"0000"), (begins, !begins), "{body:?}");
    for cut in 0..body.len() {
        assert!(matches!(read(&body[..cut]), Ok(None)) || read(&body[..cut]) == Ok(Some(passes)), "cut at {cut}");
    }
});
