//! What a folder takes.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

/// Bytes on the disk below `folder`; no link is followed, and what cannot be read counts nothing.
pub fn bytes_on_disk(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut next = vec![folder.to_owned()];
    while let Some(path) = next.pop() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            sum += found.blocks() * 512;
            if found.is_dir() {
                next.push(entry.path());
            }
        }
    }
    sum
}
