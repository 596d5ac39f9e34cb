//! What the forge knows against the packages that a change brings.

use std::sync::PoisonError;

use hob_domain::{Advisory, Sha};
use serde::{Deserialize, Serialize};

use crate::{ForgeError, Repository, TokenPermission::ContentsRead};

/// A package that a change brings and that has advisories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeakPackage {
    /// Its name.
    pub name: String,
    /// Its version; empty where the file names none.
    pub version: String,
    /// The file that says so.
    pub file: String,
    /// What is known against it.
    pub advisories: Vec<Advisory>,
}

#[derive(Serialize, Deserialize)]
struct ChangeWire {
    change_type: String,
    manifest: String,
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    vulnerabilities: Vec<AdvisoryWire>,
}

#[derive(Serialize, Deserialize)]
struct AdvisoryWire {
    severity: String,
    advisory_ghsa_id: String,
    advisory_summary: String,
}

impl Repository<'_> {
    /// The packages with advisories that a change brings. Empty if the forge does not review the dependencies of this repository,
    /// or the token may not ask: then it is not asked again.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn weak_packages(self, base: &Sha, head: &Sha) -> Result<Vec<WeakPackage>, ForgeError> {
        let known = || self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        if known().reviews_no_dependencies {
            return Ok(Vec::new());
        }
        let path = self.forge.path(&format!("/dependency-graph/compare/{base}...{head}"));
        let changes = match self.forge.get::<Vec<ChangeWire>>(&path, ContentsRead.to("review dependencies")).await {
            Ok(changes) => changes,
            Err(error) if matches!(error, ForgeError::Forbidden { .. }) || error.is_not_found() => {
                known().reviews_no_dependencies = true;
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let weak = changes.into_iter().filter(|change| change.change_type == "added").map(|change| WeakPackage {
            name: change.name,
            version: change.version,
            file: change.manifest,
            advisories: change.vulnerabilities.into_iter().map(AdvisoryWire::read).collect(),
        });
        Ok(weak.filter(|package| !package.advisories.is_empty()).collect())
    }
}

impl AdvisoryWire {
    fn read(self) -> Advisory {
        Advisory { id: self.advisory_ghsa_id, severity: self.severity, summary: self.advisory_summary }
    }
}
