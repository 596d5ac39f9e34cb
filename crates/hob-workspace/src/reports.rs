//! The reports that test runners write to files: those that Hob asks for by variables, and those that they always write.

use std::{ffi::OsString, io, path::Path};

use hob_domain::TestResults;
use hob_process::{Entry, Environment, Folder};
use hob_proof::formats::{junit, rspec};

/// Folders of reports that are written without being asked, from the folder of a module.
const FOLDERS: [[&str; 2]; 4] =
    [["target", "surefire-reports"], ["target", "failsafe-reports"], ["build", "test-results"], ["test-results", ""]];
/// How deep modules are.
const DEEP: usize = 4;
/// Folders that are looked at, and reports that are read.
const FOLDERS_MAX: usize = 2_000;
const REPORTS_MAX: usize = 500;
/// Bytes of one report.
const REPORT_MAX: u64 = 8 << 20;
/// Folders without modules.
const PASSED_OVER: [&str; 6] = [".git", ".venv", "build", "node_modules", "target", "vendor"];

/// Asks runners for reports in the folder `place`, where they have a variable for it. What a project's own command line says
/// goes before.
pub fn report_variables(environment: &mut Environment, place: &Path) {
    let place = place.display();
    for (name, added) in [
        ("PYTEST_ADDOPTS", format!("--junitxml={place}/pytest.xml -o junit_family=xunit1")),
        ("SPEC_OPTS", format!("--format progress --format json --out {place}/rspec.json")),
    ] {
        let given = environment.get(&OsString::from(name)).map(|given| given.to_string_lossy().into_owned());
        let all = given.into_iter().filter(|given| !given.is_empty()).chain([added]).collect::<Vec<_>>().join(" ");
        environment.insert(name.into(), all.into());
    }
}

/// The tests of the reports in `place`, which are removed, and of those in the checks' folder.
pub(crate) fn reported(folder: &Path, place: &Path) -> TestResults {
    let mut found = Found::default();
    // A report that cannot be read tells nothing: the output may.
    if let Ok(place) = Folder::open(place) {
        found.take(&place, DEEP).ok();
        for entry in place.entries().unwrap_or_default() {
            place.removes(&entry.name()).ok();
        }
    }
    if let Ok(top) = Folder::open(folder) {
        found.modules(&top, DEEP).ok();
    }
    found.results
}

/// What was found.
#[derive(Default)]
struct Found {
    results: TestResults,
    folders: usize,
    reports: usize,
}

impl Found {
    /// Looks for reports of the module in `folder` and of those below it. No link is followed.
    fn modules(&mut self, folder: &Folder, deep: usize) -> io::Result<()> {
        self.folders += 1;
        for [first, inner @ ..] in FOLDERS {
            let mut place = folder.inner(first)?;
            for name in inner.iter().filter(|name| !name.is_empty()) {
                place = match place {
                    Some(here) => here.inner(*name)?,
                    None => None,
                };
            }
            if let Some(place) = place {
                self.take(&place, DEEP)?;
            }
        }
        for entry in folder.entries()?.into_iter().filter(Entry::is_folder) {
            let name = entry.name();
            if deep == 0 || self.folders > FOLDERS_MAX || PASSED_OVER.iter().any(|passed| name == *passed) {
                continue;
            }
            if let Some(inner) = folder.inner(name.as_os_str())? {
                self.modules(&inner, deep - 1)?;
            }
        }
        Ok(())
    }

    /// Reads the reports in a folder, and in those below it.
    fn take(&mut self, folder: &Folder, deep: usize) -> io::Result<()> {
        for entry in folder.entries()? {
            let name = entry.name();
            if entry.is_folder() {
                let inner = if deep > 0 { folder.inner(name.as_os_str())? } else { None };
                inner.map_or(Ok(()), |inner| self.take(&inner, deep - 1))?;
                continue;
            }
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if self.reports >= REPORTS_MAX || !matches!(ending, "xml" | "json") {
                continue;
            }
            self.reports += 1;
            let Some(text) = folder.text(name.as_os_str(), REPORT_MAX)? else { continue };
            let read = if ending == "xml" { junit(&text) } else { rspec(&text) };
            let all = std::mem::take(&mut self.results);
            self.results = all.and(read.unwrap_or_default());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hob_domain::TestEnd;

    use super::*;

    #[test]
    fn reports_of_modules_and_of_variables_are_read_and_no_link_is_followed() {
        let (folder, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let case = |name: &str| format!("<testsuite><testcase classname='a' name='{name}'/></testsuite>");
        let write = |path: &str, name: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, case(name)).unwrap();
        };
        write("core/target/surefire-reports/TEST-a.xml", "maven");
        write("build/test-results/test/TEST-b.xml", "gradle");
        write("docs/x.xml", "other");
        std::os::unix::fs::symlink(folder.path().join("docs"), folder.path().join("test-results")).unwrap();
        fs::write(place.path().join("pytest.xml"), case("pytest")).unwrap();
        let tests = reported(folder.path(), place.path()).tests;
        let named: Vec<_> = tests.keys().map(String::as_str).collect();
        assert_eq!(named, ["a.gradle", "a.maven", "a.pytest"]);
        assert!(tests.values().all(|end| *end == TestEnd::Passed));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "the next check writes its own");
    }

    #[test]
    fn what_a_user_gives_a_runner_stays() {
        let mut environment = Environment::from([("PYTEST_ADDOPTS".into(), "-x".into())]);
        report_variables(&mut environment, Path::new("/h/t"));
        let of = |name: &str| environment[&OsString::from(name)].to_string_lossy().into_owned();
        assert_eq!(of("PYTEST_ADDOPTS"), "-x --junitxml=/h/t/pytest.xml -o junit_family=xunit1");
        assert!(of("SPEC_OPTS").ends_with("--out /h/t/rspec.json"));
    }
}
