//! What people write, on its way to the agent and back: what a browser hides is left out, and what Hob writes is inert.
#![no_main]

use hob_text::Place;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    hob_text::rendered(text);
    for place in [Place::Anywhere, Place::Outside] {
        for own in hob_text::own_words(text, place) {
            assert!(text.get(own.clone()).is_some(), "{own:?}");
        }
    }
    let inert = hob_text::inert(text);
    assert!(!inert.contains("<!--") && !inert.contains("<img"), "{inert:?}");
    hob_text::secrets_in(text.as_bytes());
    let without = hob_text::without_tokens(text);
    assert_eq!(hob_text::without_tokens(&without), without, "no token is left");
});
