//! A comment that answers by mail: what counts is the author's own, and nothing is made up.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|comment: &str| {
    let own = hob_text::authored(comment);
    assert!(own.len() <= comment.len() + 1, "{own:?}");
    let said: Vec<&str> = comment.lines().map(str::trim).collect();
    for line in own.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(said.iter().any(|known| known.contains(line)), "{line:?} of {own:?}");
    }
    hob_domain::command_in(&own);
    hob_domain::asked_work(&own);
});
