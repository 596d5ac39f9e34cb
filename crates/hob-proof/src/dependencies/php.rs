//! PHP: `composer.lock` and `composer.json`.

use serde_json::Value;

use super::{Packages, add};

pub(super) fn lock(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    for list in ["packages", "packages-dev"] {
        for package in value.get(list).and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| package.get(key).and_then(Value::as_str);
            if let (Some(name), Some(version)) = (text("name"), text("version")) {
                add(&mut packages, name, version);
            }
        }
    }
    Some(packages)
}

pub(super) fn manifest(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    for key in ["require", "require-dev"] {
        let all = value.get(key).and_then(Value::as_object);
        // PHP itself and its extensions have no vendor.
        for (name, range) in all.into_iter().flatten().filter(|(name, _)| name.contains('/')) {
            add(&mut packages, name, range.as_str().unwrap_or("*"));
        }
    }
    Some(packages)
}
