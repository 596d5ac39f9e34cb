//! The records of an issue and of a repository, which everybody who may push refs can write.
#![no_main]

use std::time::Duration;

use hob_domain::{Record, RepositoryRecord, Timestamp, held_by, remaining};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|message: &str| {
    if let Ok((sentence, record)) = Record::from_message(message) {
        let written = record.to_message(&sentence).unwrap();
        // Sums of its times do not overflow.
        let _held = held_by(&record, Timestamp::UNIX_EPOCH, Duration::from_secs(86_400));
        let _left = remaining(&record, Timestamp::UNIX_EPOCH);
        let (_, again) = Record::from_message(&written).unwrap();
        assert_eq!(again.to_message(&sentence).unwrap(), written);
    }
    if let Ok(record) = RepositoryRecord::from_message(message) {
        let written = record.to_message("Again").unwrap();
        assert_eq!(RepositoryRecord::from_message(&written).unwrap().to_message("Again").unwrap(), written);
    }
});
