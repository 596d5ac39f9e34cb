//! What a supervisor reads first: the child that it starts.
#![no_main]

use hob_sandbox::Launch;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(launch) = postcard::from_bytes::<Launch>(bytes) else { return };
    let written = launch.encode().unwrap();
    let again: Launch = postcard::from_bytes(&written[4..]).unwrap();
    assert_eq!(again.encode().unwrap(), written);
});
