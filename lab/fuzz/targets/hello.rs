//! The first bytes of a tunnel: what they name stays named, whatever follows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let all = hob_egress::fuzz_hello(bytes);
    for cut in 0..bytes.len() {
        // It passed by then; what follows is the tunnel's content.
        if let (Ok(Some(name)), Ok(Some(later))) = (hob_egress::fuzz_hello(&bytes[..cut]), &all) {
            assert_eq!(*later, name);
        }
    }
});
