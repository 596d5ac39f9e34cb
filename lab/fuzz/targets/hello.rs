//! The first bytes of a tunnel: what they name stays named, whatever follows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let all = hob_egress::fuzz_hello(bytes);
    for cut in 0..bytes.len() {
        if let Ok(Some(name)) = hob_egress::fuzz_hello(&bytes[..cut]) {
            // It passed by then; what follows is the tunnel's content.
            assert!(all.as_ref().is_ok_and(|whole| whole.as_ref().is_none_or(|later| *later == name)) || all.is_err());
        }
    }
});
