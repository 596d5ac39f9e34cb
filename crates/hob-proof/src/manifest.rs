//! The parts of a manifest that say what is tested: `scripts` of a `package.json`, `tool.pytest` of a `pyproject.toml`. The
//! rest of such a file is code.

use serde_json::Value;

/// Keys of a `package.json`.
const OF_PACKAGE: [&str; 10] = ["ava", "c8", "jest", "mocha", "nyc", "scripts", "tap", "vitest", "workspaces", "xo"];
/// Tools of a `pyproject.toml`.
const OF_PYPROJECT: [&str; 9] = ["coverage", "hatch", "nox", "pdm", "poe", "pytest", "taskipy", "tox", "unittest"];
/// Keys of a `Cargo.toml`.
const OF_CARGO: [&str; 3] = ["test", "bench", "example"];

/// A manifest that was read.
enum Manifest {
    Json(Value),
    Toml(toml::Table),
    /// Lines, for files of sections.
    Sections(String),
}

/// The kind of a manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Package,
    Composer,
    Deno,
    Pyproject,
    Cargo,
    SetupCfg,
}

impl Kind {
    fn of(path: &str) -> Option<Self> {
        match path.rsplit('/').next().unwrap_or(path) {
            "package.json" => Some(Self::Package),
            "composer.json" => Some(Self::Composer),
            "deno.json" | "deno.jsonc" => Some(Self::Deno),
            "pyproject.toml" => Some(Self::Pyproject),
            "Cargo.toml" => Some(Self::Cargo),
            "setup.cfg" => Some(Self::SetupCfg),
            _other => None,
        }
    }

    fn read(self, text: &str) -> Option<Manifest> {
        match self {
            Self::Package | Self::Composer | Self::Deno => serde_json::from_str(text).ok().map(Manifest::Json),
            Self::Pyproject | Self::Cargo => toml::from_str(text).ok().map(Manifest::Toml),
            Self::SetupCfg => Some(Manifest::Sections(text.to_owned())),
        }
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Package => &OF_PACKAGE,
            Self::Composer => &["scripts"],
            Self::Deno => &["tasks", "test"],
            Self::Pyproject => &OF_PYPROJECT,
            Self::Cargo => &OF_CARGO,
            Self::SetupCfg => &["[tool:pytest]", "[aliases]", "[coverage:run]", "[tox:tox]"],
        }
    }
}

/// Whether the parts of a manifest that say what is tested differ. A manifest that cannot be read differs from all others.
pub fn judges_otherwise(path: &str, before: &str, after: &str) -> bool {
    let Some(kind) = Kind::of(path) else { return false };
    before != after && {
        let part = |text: &str| kind.read(text).map(|manifest| parts(kind, &manifest));
        part(before).zip(part(after)).is_none_or(|(before, after)| before != after)
    }
}

/// The manifest `own` with the parts of `judge` that say what is tested. `None` if one cannot be read.
pub fn judged_by(path: &str, own: &str, judge: &str) -> Option<String> {
    let kind = Kind::of(path)?;
    let (own, judge) = (kind.read(own)?, kind.read(judge)?);
    match (own, judge) {
        (Manifest::Json(mut own), Manifest::Json(judge)) => {
            let (into, from) = (own.as_object_mut()?, judge.as_object()?);
            for key in kind.keys() {
                match from.get(*key) {
                    Some(value) => drop(into.insert((*key).to_owned(), value.clone())),
                    None => drop(into.remove(*key)),
                }
            }
            serde_json::to_string_pretty(&own).ok()
        }
        (Manifest::Toml(mut own), Manifest::Toml(judge)) => {
            let empty = toml::Table::new();
            let from = tools(kind, &judge).unwrap_or(&empty).clone();
            let into = match kind {
                Kind::Pyproject => own.entry("tool").or_insert_with(|| toml::Table::new().into()).as_table_mut()?,
                Kind::Package | Kind::Composer | Kind::Deno | Kind::Cargo | Kind::SetupCfg => &mut own,
            };
            for key in kind.keys() {
                match from.get(*key) {
                    Some(value) => drop(into.insert((*key).to_owned(), value.clone())),
                    None => drop(into.remove(*key)),
                }
            }
            toml::to_string(&own).ok()
        }
        (Manifest::Sections(own), Manifest::Sections(judge)) => {
            let (_, rest) = sections(kind, &own);
            let (judge, _) = sections(kind, &judge);
            Some(format!("{rest}\n{judge}"))
        }
        (Manifest::Json(_) | Manifest::Toml(_) | Manifest::Sections(_), _) => None,
    }
}

/// The table that has the keys.
fn tools(kind: Kind, table: &toml::Table) -> Option<&toml::Table> {
    if kind == Kind::Pyproject { table.get("tool")?.as_table() } else { Some(table) }
}

/// The parts as one text.
fn parts(kind: Kind, manifest: &Manifest) -> String {
    match manifest {
        Manifest::Json(value) => {
            kind.keys().iter().filter_map(|key| Some(format!("{key}={}\n", value.get(*key)?))).collect()
        }
        Manifest::Toml(table) => {
            let table = tools(kind, table);
            kind.keys().iter().filter_map(|key| Some(format!("{key}={}\n", table?.get(*key)?))).collect()
        }
        Manifest::Sections(text) => sections(kind, text).0,
    }
}

/// The lines of the sections that say what is tested, and the others.
fn sections(kind: Kind, text: &str) -> (String, String) {
    let (mut judging, mut rest, mut is_judge) = (String::new(), String::new(), false);
    for line in text.lines() {
        if line.starts_with('[') {
            is_judge = kind.keys().contains(&line.trim_end());
        }
        let part = if is_judge { &mut judging } else { &mut rest };
        part.push_str(line);
        part.push('\n');
    }
    (judging, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(&str, &str, &str, &str); 4] = [
        (
            "web/package.json",
            r#"{"dependencies":{"a":"1"},"scripts":{"test":"jest"}}"#,
            r#"{"dependencies":{"a":"2"},"scripts":{"test":"jest"}}"#,
            r#"{"dependencies":{"a":"2"},"scripts":{"test":"true"}}"#,
        ),
        (
            "pyproject.toml",
            "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n",
            "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '-q'\n",
            "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '--co'\n",
        ),
        (
            "setup.cfg",
            "[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n[x]\n",
            "[metadata]\nname = b\n[tool:pytest]\naddopts = -q\n[x]\n",
            "[metadata]\nname = b\n[tool:pytest]\naddopts = --co\n[x]\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = 'a'\n",
            "[package]\nname = 'b'\n",
            "[package]\nname = 'b'\n[[test]]\nname = 'it'\ntest = false\n",
        ),
    ];

    #[test]
    fn a_dependency_is_code_and_a_test_script_is_the_judge() {
        for (path, before, code, judge) in CASES {
            assert!(!judges_otherwise(path, before, code), "{path}");
            assert!(judges_otherwise(path, before, judge), "{path}");
        }
        assert!(judges_otherwise("package.json", "{}", "{"));
        assert!(!judges_otherwise("a.json", "{}", "{"));
    }

    #[test]
    fn the_code_of_one_manifest_is_judged_by_another() {
        for (path, before, _code, after) in CASES {
            let mixed = judged_by(path, after, before).unwrap();
            assert!(!judges_otherwise(path, before, &mixed), "{path}: {mixed}");
            let new = if path.ends_with("json") { "\"2\"" } else { "b" };
            assert!(mixed.contains(new), "{path}: {mixed}");
        }
        assert_eq!(judged_by("package.json", "{", "{}"), None);
    }
}
