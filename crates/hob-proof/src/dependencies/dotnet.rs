//! .NET: `packages.lock.json`.

use serde_json::Value;

use super::{Packages, add};

/// Each framework has its own map of packages; a project of the repository has no version.
pub(super) fn lock(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    let frameworks = value.get("dependencies").and_then(Value::as_object);
    for framework in frameworks.into_iter().flat_map(|all| all.values()) {
        for (name, package) in framework.as_object().into_iter().flatten() {
            if let Some(version) = package.get("resolved").and_then(Value::as_str) {
                add(&mut packages, name, version);
            }
        }
    }
    Some(packages)
}
