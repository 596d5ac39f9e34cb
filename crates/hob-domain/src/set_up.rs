//! Set-up steps that fit a repository by the files in its top folder.

/// A file that says what a project depends on, and the step that fetches that.
const KNOWN: [(&str, &str); 9] = [
    ("package-lock.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("uv.lock", "uv sync --frozen"),
    ("poetry.lock", "poetry install"),
    ("requirements.txt", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"),
    ("Cargo.lock", "cargo fetch --locked"),
    ("go.sum", "go mod download"),
    ("pom.xml", "mvn --batch-mode dependency:go-offline"),
];

/// The lines `setup` and `setup_key` of `.github/hob.toml` for a repository with these `names` in its top folder; none where
/// nothing there is known.
pub fn proposed_set_up<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    // The first lock file of a language decides; a list beside it is what the lock was made from.
    let has_lock = names.iter().any(|name| ["uv.lock", "poetry.lock"].contains(name));
    let fits = |file: &str| names.contains(&file) && !(has_lock && file == "requirements.txt");
    let found: Vec<_> = KNOWN.into_iter().filter(|(file, _)| fits(file)).collect();
    if found.is_empty() {
        return None;
    }
    let steps: Vec<&str> = found.iter().map(|(_, step)| *step).collect();
    let key: Vec<&str> = found.iter().map(|(file, _)| *file).collect();
    Some(format!("setup = {steps:?}, setup_key = {key:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_each_lock_file_once() {
        assert_eq!(proposed_set_up(["README.md", "src"]), None);
        let one = proposed_set_up(["src", "Cargo.lock", "package-lock.json"]).unwrap();
        let wanted = r#"setup = ["npm ci", "cargo fetch --locked"], setup_key = ["package-lock.json", "Cargo.lock"]"#;
        assert_eq!(one, wanted);
        assert!(!proposed_set_up(["uv.lock", "requirements.txt"]).unwrap().contains("requirements.txt"));
    }
}
