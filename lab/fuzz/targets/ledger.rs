//! The records of an issue and of a repository, which everybody who may push refs can write.
#![no_main]

use hob_domain::{Record, RepositoryRecord};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|message: &str| {
    if let Ok((sentence, record)) = Record::from_message(message) {
        let written = record.to_message(&sentence).unwrap();
        let (_, again) = Record::from_message(&written).unwrap();
        assert_eq!(again.to_message(&sentence).unwrap(), written);
    }
    if let Ok(record) = RepositoryRecord::from_message(message) {
        let written = record.to_message("Again").unwrap();
        assert_eq!(RepositoryRecord::from_message(&written).unwrap().to_message("Again").unwrap(), written);
    }
});
