//! The npm packages with GitHub's own data, which `npm ci` in `tests/conformance` installs: `@octokit/webhooks-examples`,
//! `@octokit/fixtures`, `@octokit/openapi`, `@octokit/graphql-schema`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::skipped;

/// The folder of the packages, which `HOB_PAYLOADS_DIR` names; `None` if it is not set. A folder that is named must
/// have them.
pub(super) fn installed() -> Option<PathBuf> {
    let Some((_, folder)) = std::env::vars_os().find(|(name, _)| name == "HOB_PAYLOADS_DIR") else {
        skipped(
            "nothing of GitHub's own; `npm ci` in tests/conformance, then set \
             HOB_PAYLOADS_DIR=tests/conformance/node_modules/@octokit",
        );
        return None;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    for package in ["webhooks-examples", "fixtures", "openapi", "graphql-schema"] {
        assert!(folder.join(package).is_dir(), "{} lacks {package}", folder.display());
    }
    Some(folder)
}

/// A file with JSON.
pub(super) fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}
