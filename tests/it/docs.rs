//! The documents match the code: settings and their defaults, exit codes, dependencies, the crate map, links, and that
//! the workflows are pinned.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use hob_config::{
    AgentSettings, DEFAULTS, McpSettings, ModelSettings, OF_BOTH, PriceSettings, RecipeSettings, RepositorySettings,
    Settings, ToolSettings, WorkspaceSettings, is_constant,
};
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The Markdown files that people read.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<_> = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
        .map(|name| root().join(name))
        .into();
    for folder in ["docs", "docs/design"] {
        found.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found
}

/// The rows of all tables of a Markdown text, as their cells; the `|` of a cell is written `\|`.
fn rows(markdown: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let inner = line.trim().trim_start_matches("//!").trim().strip_prefix('|')?.strip_suffix('|')?.to_owned();
        let inner = inner.replace("\\|", "\u{0}");
        Some(inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect())
    };
    markdown.lines().filter_map(cells).collect()
}

/// The text in the one pair of backticks of a cell, if there is nothing else.
fn code(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

/// A value as the documents write it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => format!("`{text}`"),
        Value::Array(list) if list.is_empty() => "empty".to_owned(),
        Value::Object(table) if table.is_empty() => "empty".to_owned(),
        other => format!("`{}`", other.to_string().replace(',', ", ")),
    }
}

fn leaves(prefix: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value.as_object().filter(|table| !table.is_empty()) {
        Some(table) => {
            for (key, value) in table {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                leaves(&path, value, found);
            }
        }
        None => drop(found.insert(prefix.to_owned(), shown(value))),
    }
}

/// Every setting with its default, as `docs/settings.md` has to write them.
fn settings() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    leaves("", &toml::from_str(DEFAULTS).unwrap(), &mut found);
    // The models with prices are data; the keys of a price are added below.
    found.retain(|key, _| !key.starts_with("model.prices."));
    for (prefix, section) in [
        ("agents.NAME", serde_json::to_value(AgentSettings::default()).unwrap()),
        ("recipes.NAME", serde_json::to_value(RecipeSettings::default()).unwrap()),
        ("tools.NAME", serde_json::to_value(ToolSettings::default()).unwrap()),
        ("mcp.NAME", serde_json::to_value(McpSettings::default()).unwrap()),
        ("model", serde_json::to_value(ModelSettings::default()).unwrap()),
    ] {
        leaves(prefix, &section, &mut found);
    }
    found.retain(|key, _| !is_constant(key));
    let prices = found.remove("model.prices");
    assert!(prices.is_some(), "prices are part of `[model]`");
    for (key, default) in
        [("input", "required"), ("output", "required"), ("cached_input", "`input`"), ("cache_write", "`input`")]
    {
        found.insert(format!("model.prices.MODEL.{key}"), default.to_owned());
    }
    for key in serde_json::to_value(RepositorySettings::default()).unwrap().as_object().unwrap().keys() {
        // They belong to another file, so they have their own table.
        found.insert(format!("{key} in `.github/hob.toml`"), String::new());
    }
    found
}

#[test]
fn every_setting_is_explained_with_its_default() {
    let page = text("docs/settings.md");
    let (own, repository) = page.split_once("\n## The repository's file").unwrap();
    let of = |part: &str, suffix: &str| -> Vec<(String, Vec<String>)> {
        let cells = rows(part).into_iter();
        cells.filter_map(|cells| Some((format!("{}{suffix}", code(cells.first()?)?), cells))).collect()
    };
    let all = of(own, "").into_iter().chain(of(repository, " in `.github/hob.toml`"));
    let documented: BTreeMap<String, Vec<String>> = all.collect();
    let mut wrong = Vec::new();
    for (key, default) in settings() {
        match documented.get(&key).map(|cells| cells.as_slice()) {
            None => wrong.push(format!("`{key}` is not there")),
            Some([_, shown, _, meaning]) if default.is_empty() || *shown == default => {
                if meaning.is_empty() {
                    wrong.push(format!("`{key}` has no meaning"));
                }
            }
            Some(cells) => wrong.push(format!("`{key}` has the default {default}, the row says {cells:?}")),
        }
    }
    assert!(wrong.is_empty(), "docs/settings.md:\n{}", wrong.join("\n"));
}

#[test]
fn what_a_repository_may_set_too_is_listed() {
    let page = text("docs/settings.md");
    let list = page.split_once("\nIt may also set these").unwrap().1.split_once(". They count").unwrap().0;
    let listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    assert_eq!(listed, OF_BOTH);
}

#[test]
fn no_setting_is_explained_that_is_not_there() {
    let known: BTreeSet<String> = settings().keys().map(|key| key.split(' ').next().unwrap().to_owned()).collect();
    let markdown = text("docs/settings.md");
    let stale: Vec<_> = rows(&markdown)
        .into_iter()
        .filter(|cells| cells.len() == 4)
        .filter_map(|cells| code(&cells[0]).map(str::to_owned))
        .filter(|key| !known.contains(key))
        .collect();
    assert!(stale.is_empty(), "docs/settings.md explains what is not a setting: {stale:?}");
}

#[test]
fn the_file_of_defaults_says_what_the_code_says() {
    let mut settings = Settings::load(None, [].into(), &[]).unwrap();
    assert_eq!(settings.workspace, WorkspaceSettings::default());
    settings.model.prices.clear();
    assert_eq!(settings.model, ModelSettings::default());
}

#[test]
fn a_price_is_documented_by_each_of_its_keys() {
    let price = serde_json::to_value(PriceSettings::default()).unwrap();
    let known = settings();
    for key in price.as_object().unwrap().keys() {
        assert!(known.contains_key(&format!("model.prices.MODEL.{key}")), "{key}");
    }
}

#[test]
fn the_readme_has_the_exit_codes_of_the_code() {
    let codes = |markdown: &str| -> Vec<Vec<String>> {
        rows(markdown).into_iter().filter(|cells| cells.len() == 2 && cells[0].parse::<u8>().is_ok()).collect()
    };
    let in_code = codes(&text("src/cli/exit.rs"));
    assert!(in_code.len() > 5, "{in_code:?}");
    assert_eq!(codes(&text("README.md")), in_code);
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let manifest: toml::Table = toml::from_str(&text("Cargo.toml")).unwrap();
    let named = manifest["workspace"]["dependencies"].as_table().unwrap();
    let wanted: BTreeSet<String> =
        named.iter().filter(|(_, from)| from.get("path").is_none()).map(|(name, _)| name.clone()).collect();
    let document = text("CONTRIBUTING.md");
    let table = rows(document.split_once("## Dependencies").unwrap().1);
    let explained: BTreeSet<String> =
        table.iter().filter(|cells| cells.len() == 2).filter_map(|cells| code(&cells[0]).map(str::to_owned)).collect();
    let missing: Vec<_> = wanted.difference(&explained).collect();
    let stale: Vec<_> = explained.difference(&wanted).collect();
    assert!(missing.is_empty() && stale.is_empty(), "CONTRIBUTING.md lacks {missing:?}; it explains {stale:?}");
}

#[test]
fn the_crate_map_is_the_one_that_is_enforced() {
    let enforced = text("tests/it/layering.rs");
    let document = text("docs/design/architecture.md");
    let map: Vec<_> = rows(document.split_once("## Crate map").unwrap().1.split_once("\n## ").unwrap().0)
        .into_iter()
        .filter(|cells| cells.len() == 3)
        .filter_map(|cells| Some((code(&cells[0])?.to_owned(), cells[1].clone())))
        .collect();
    for (name, needs) in &map {
        let names: Vec<_> = needs.split(", ").filter(|name| *name != "–").map(|name| format!("\"{name}\"")).collect();
        let line = format!("(\"{name}\", &[{}]),", names.join(", "));
        assert!(enforced.contains(&line), "docs/design/architecture.md says {line}");
    }
    let lines = enforced.lines().filter(|line| line.trim_start().starts_with("(\"")).count();
    assert_eq!(map.len(), lines, "docs/design/architecture.md has another number of crates");
}

#[test]
fn the_glossary_defines_each_word_once_and_in_order() {
    let words: Vec<String> =
        rows(&text("docs/glossary.md")).into_iter().skip(2).map(|cells| cells[0].to_lowercase()).collect();
    assert!(words.len() > 50, "{words:?}");
    let unordered: Vec<_> = words.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
    assert!(unordered.is_empty(), "docs/glossary.md is not in order: {unordered:?}");
}

/// The number of items in each of the five designs.
const ASKED: [(char, usize); 5] = [('A', 13), ('S', 8), ('P', 9), ('M', 10), ('G', 8)];

#[test]
fn everything_that_was_asked_for_is_answered_and_named_by_a_test() {
    let page = text("docs/design/asked-for.md");
    let rows: Vec<Vec<String>> = rows(&page).into_iter().filter(|cells| cells[0].len() > 1).collect();
    let is_id = |text: &str| text.chars().next().is_some_and(|c| ASKED.iter().any(|(kind, _)| *kind == c));
    let answered: Vec<&str> = rows.iter().map(|cells| cells[0].as_str()).filter(|id| is_id(id)).collect();
    let asked = ASKED.iter().flat_map(|(kind, count)| (1..=*count).map(move |n| format!("{kind}{n}")));
    assert_eq!(answered, asked.collect::<Vec<_>>(), "each row once, in order");
    let mut wrong = Vec::new();
    for cells in rows.iter().filter(|cells| is_id(&cells[0])) {
        let (id, tests) = (&cells[0], &cells[3]);
        let names: Vec<&str> = tests.split("::").skip(1).filter_map(|rest| rest.split('`').next()).collect();
        let files = links(tests);
        assert!(!names.is_empty() && names.len() == files.len(), "{id}: {tests}");
        for (name, file) in names.into_iter().zip(files) {
            let source = text(file.trim_start_matches("../"));
            let Some((before, _)) = source.split_once(&format!("fn {name}(")) else {
                wrong.push(format!("{id}: there is no test `{name}` in {file}"));
                continue;
            };
            // The comment and the attributes right above it; the last line is the beginning of its own.
            let above = before.lines().rev().skip(1).map(str::trim_start);
            let doc: String = above.take_while(|line| line.starts_with("///") || line.starts_with("#[")).collect();
            if !doc.split(|c: char| !c.is_alphanumeric()).any(|word| word == id) {
                wrong.push(format!("{id}: the comment of `{name}` does not name it"));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/design/asked-for.md:\n{}", wrong.join("\n"));
}

#[test]
fn the_readme_links_every_document() {
    let readme = text("README.md");
    let linked = links(&readme);
    for document in documents() {
        let name = document.strip_prefix(root()).unwrap().display().to_string();
        assert!(
            name == "README.md" || name == "CHANGELOG.md" || linked.contains(&name),
            "README.md does not link {name}"
        );
    }
}

/// The targets of Markdown links in `markdown`, code left out.
fn links(markdown: &str) -> Vec<String> {
    let prose: String = markdown.split("```").step_by(2).collect();
    prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors that GitHub makes of a document's headings.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let prose: String = markdown.split("```").step_by(2).collect();
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    let anchor = |heading: &str| {
        let kept: String = heading.trim().to_lowercase().chars().filter(|c| kept(*c)).collect();
        kept.replace(' ', "-")
    };
    prose.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let markdown = fs::read_to_string(&document).unwrap();
        for link in links(&markdown) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let leads = match (target.exists(), anchor) {
                (false, _) => false,
                (true, "") => true,
                (true, anchor) => anchors(&fs::read_to_string(&target).unwrap()).contains(anchor),
            };
            if !leads {
                broken.push(format!("{}: {link}", document.file_name().unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn rust_files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_pages_for_users_are_short() {
    let pages = [
        ("README.md", 900),
        ("docs/start.md", 600),
        ("docs/security.md", 2_000),
        ("docs/agents.md", 2_000),
        ("docs/specialists.md", 1_200),
        ("docs/actions.md", 1_300),
    ];
    for (page, most) in pages {
        // What a test writes into a page is looked up and not read.
        let words = text(page).split("<!-- table:").next().unwrap_or_default().split_whitespace().count();
        assert!(words <= most, "{page}: {words} words");
    }
}

#[test]
fn the_page_for_code_agents_fits_on_a_screen_or_two() {
    let lines = text("AGENTS.md").lines().count();
    assert!(lines <= 60, "{lines} lines");
}

/// What the page shows of tests is in them, whatever its indentation.
#[test]
fn the_page_on_the_harness_shows_real_tests_and_names_every_file() {
    let page = text("docs/design/harness.md");
    let plain = |code: &str| code.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let mut tests = Vec::new();
    rust_files(&root().join("tests/it/e2e"), &mut tests);
    let tests: Vec<String> = tests.iter().map(|test| plain(test)).collect();
    let shown: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(code, _)| code).collect();
    assert!(shown.len() > 1, "{shown:?}");
    for code in shown {
        assert!(tests.iter().any(|test| test.contains(&plain(code))), "no test has this:\n{code}");
    }
    let names = fs::read_dir(root().join("tests/it/harness")).unwrap();
    let files: BTreeSet<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let table = rows(page.split_once("\n## The files\n").unwrap().1);
    let named: BTreeSet<String> = table.iter().filter_map(|cells| code(&cells[0]).map(str::to_owned)).collect();
    assert_eq!(named, files, "docs/design/harness.md");
}

#[test]
fn every_attack_that_a_test_names_is_explained() {
    let mut sources = Vec::new();
    for folder in ["src", "crates", "lab", "tests/it"] {
        rust_files(&root().join(folder), &mut sources);
    }
    let named =
        sources.iter().flat_map(|source| source.lines()).filter_map(|line| line.split_once("/// Attack corpus "));
    let is_name = |word: &&str| {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word[1..].chars().all(|c| c.is_ascii_digit())
    };
    let names: BTreeSet<&str> =
        named.flat_map(|(_, rest)| rest.split(|c: char| !c.is_ascii_alphanumeric())).filter(is_name).collect();
    assert!(names.contains("A1"), "{names:?}");
    let explained: BTreeSet<String> =
        rows(&text("docs/design/attacks.md")).into_iter().filter_map(|cells| cells.into_iter().next()).collect();
    let missing: Vec<_> = names.into_iter().filter(|name| !explained.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/design/attacks.md does not say what {missing:?} mean");
}

/// The sections of docs/security.md that promise something.
const PROMISING: [&str; 6] =
    ["Who can direct Hob", "What an agent can do", "The sandbox", "What leaves", "Where secrets are", "What is pushed"];

/// The rows of tables and the points of lists in these sections of a Markdown text.
fn promises(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut lines = page.lines().skip_while(|line| !line.starts_with("## ")).peekable();
    let mut promises = false;
    while let Some(line) = lines.next() {
        if let Some(section) = line.strip_prefix("## ") {
            promises = PROMISING.contains(&section);
        } else if lines.peek().is_some_and(|next| next.starts_with("|---")) || line.starts_with("|---") {
            // A table's head.
        } else if promises && (line.starts_with("| ") || line.starts_with("- ")) {
            found.push(line.to_owned());
        } else if let Some(point) = found.last_mut().filter(|_| promises && line.starts_with("  ")) {
            *point = format!("{point} {}", line.trim());
        }
    }
    found
}

#[test]
fn each_promise_of_the_page_on_security_has_its_tests() {
    let table = text("docs/design/attacks.md");
    let section = table.split_once("\n## What security.md promises\n").unwrap().1;
    let kept = rows(section.split("\n## ").next().unwrap());
    let attacks: BTreeSet<String> =
        rows(&table).into_iter().filter(|cells| cells.len() == 2).map(|mut c| c.remove(0)).collect();
    let mut sources = Vec::new();
    for folder in ["crates", "tests/it"] {
        rust_files(&root().join(folder), &mut sources);
    }
    let is_test = |name: &str| {
        let function = format!("fn {}(", name.rsplit("::").next().unwrap());
        sources.iter().any(|source| source.contains(&function))
    };
    let promises = promises(&text("docs/security.md"));
    assert!(promises.len() > 40, "{promises:#?}");
    let mut wrong = Vec::new();
    for promise in &promises {
        let of_it = kept.iter().filter(|cells| promise.contains(&cells[0])).count();
        if of_it != 1 {
            wrong.push(format!("{of_it} rows are about: {promise}"));
        }
    }
    for cells in kept.iter().skip(2) {
        let [words, shown] = cells.as_slice() else { panic!("{cells:?}") };
        if !promises.iter().any(|promise| promise.contains(words)) {
            wrong.push(format!("docs/security.md does not say: {words}"));
        }
        for name in shown.split(", ").filter(|_| !shown.starts_with("not shown: ")) {
            if !code(name).map_or_else(|| attacks.contains(name), is_test) {
                wrong.push(format!("{words}: there is no {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/design/attacks.md:\n{}", wrong.join("\n"));
}

#[test]
fn releases_come_from_one_repository_and_its_release_workflow() {
    let source = text(".github/actions/hob/source");
    let source = source.trim();
    assert!(
        text("install.sh").contains(&format!("\nrepository={source}\n")),
        "install.sh is for another than {source}"
    );
    assert!(!text(".github/actions/hob/action.yml").contains("github.action_repository"));
    let releasing = text("docs/design/releasing.md").replace("\\\n", "");
    let verified: Vec<&str> = releasing.lines().filter(|line| line.starts_with("gh attestation verify ")).collect();
    let signer = format!("--signer-workflow {source}/.github/workflows/release.yml");
    assert!(verified.len() == 2 && verified.iter().all(|line| line.contains(&signer)), "{verified:?}");
}

/// Attack corpus I104: no workflow runs a stranger's code with this repository's rights.
#[test]
fn every_workflow_is_pinned_and_keeps_no_credentials() {
    let found = |folder: &str, name: Option<&str>| {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| name.map_or(path.clone(), |name| path.join(name))).collect::<Vec<_>>()
    };
    let actions = found(".github/actions", Some("action.yml"));
    let workflows = found(".github/workflows", None);
    assert!(!actions.is_empty() && workflows.len() > 1);
    for path in actions.iter().chain(&workflows) {
        let workflow = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = workflow.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        let has = |part: &str| lines.iter().any(|line| line.contains(part));
        assert!(!has("pull_request_target"), "{}", path.display());
        // An action has the rights of the job that uses it.
        assert!((has("permissions:") || actions.contains(path)) && !has("write-all"), "{}", path.display());
        assert!(!has("actions/cache") && !has("cache:"), "{}", path.display());
        // Another compiler than yesterday's is a change, too.
        assert!(!has("toolchain install stable"), "{}", path.display());
        let uses = |line: &&str| line.trim_start().trim_start_matches("- ").starts_with("uses:");
        // A reference that begins so is of the same repository and the same commit.
        let is_own = |line: &str| line.contains("uses: $/.github/");
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| uses(line) && !is_own(line)) {
            let (hash, version) = line.split_once('@').and_then(|(_, pin)| pin.split_once(" # ")).unwrap_or(("", ""));
            let pinned = hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit()) && version.starts_with('v');
            assert!(pinned, "{}: {line}", path.display());
            if line.contains("actions/checkout@") {
                let next = lines[at..].iter().take(4).any(|line| line.contains("persist-credentials: false"));
                assert!(next, "{}: {line}", path.display());
            }
        }
    }
}

/// The jobs of a workflow, by name. Everything before all jobs applies to each.
fn jobs(workflow: &str) -> (String, BTreeMap<String, String>) {
    let told: Vec<&str> = workflow.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let workflow = told.join("\n");
    let (head, rest) = workflow.split_once("\njobs:\n").unwrap();
    let mut jobs: Vec<(String, String)> = Vec::new();
    for line in rest.lines() {
        let begins = line.starts_with("  ") && !line.starts_with("   ");
        match line.trim().strip_suffix(':').filter(|_| begins) {
            Some(name) => jobs.push((name.to_owned(), String::new())),
            None => jobs.last_mut().unwrap().1.extend([line, "\n"]),
        }
    }
    (head.to_owned(), jobs.into_iter().collect())
}

/// Whether a part of a workflow has something that its build scripts could take.
fn holds_a_right(part: &str) -> bool {
    ["secrets.", "secrets[", "secrets: inherit", "toJSON(secrets", "github.token", ": write"]
        .iter()
        .any(|right| part.contains(right))
}

/// Whether a job runs code that it fetched: a compiler runs the build scripts of all dependencies.
fn builds(job: &str) -> bool {
    [
        "cargo ",
        "rustup ",
        "rustc ",
        "make ",
        "npm ",
        "pip install",
        ".ci/run",
        "docker build",
        "buildah build",
        "release.sh --target",
        "release_check.sh",
    ]
    .iter()
    .any(|tool| job.contains(tool))
}

/// Attack corpus I104: a build script of a dependency in a job that has a token or a key.
#[test]
fn no_job_has_both_a_build_and_a_secret() {
    let mut seen = (0, 0);
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let (head, jobs) = jobs(&fs::read_to_string(&path).unwrap());
        assert!(!holds_a_right(&head), "{}: a right of all jobs", path.display());
        for (name, job) in jobs {
            let (builds, holds) = (builds(&job), holds_a_right(&job));
            assert!(!(builds && holds), "{}: the job `{name}` builds and has a secret", path.display());
            seen = (seen.0 + usize::from(builds), seen.1 + usize::from(holds));
        }
    }
    assert!(seen.0 >= 2 && seen.1 >= 1, "{seen:?}");
    // The test finds what it looks for.
    let bad =
        "on: push\njobs:\n  one:\n    env:\n      KEY: ${{ secrets.KEY }}\n    steps:\n      - run: cargo build\n";
    let (_, found) = jobs(bad);
    assert!(builds(&found["one"]) && holds_a_right(&found["one"]));
}

/// Attack corpus J121: after the last command no shell is left that has the token in its environment.
#[test]
fn the_step_with_the_token_becomes_hob() {
    let action = text(".github/actions/hob/action.yml");
    let (_, steps) = action.split_once("\n  steps:\n").unwrap();
    let with_token: Vec<&str> = steps.split("    - name: ").filter(|step| step.contains("GITHUB_TOKEN")).collect();
    let [step] = with_token.as_slice() else { panic!("{with_token:?}") };
    assert!(step.contains("\n      run: exec bash \"$GITHUB_ACTION_PATH/run.sh\""), "{step}");
    let script = text(".github/actions/hob/run.sh");
    let runs: Vec<&str> = script.lines().map(str::trim).filter(|line| line.contains("\"$HOB_FOLDER/hob\"")).collect();
    assert!(runs.len() == 2 && runs.iter().all(|line| line.starts_with("exec ")), "{runs:?}");
    // The steps that make a box possible are over before it, and got nothing of the job's environment.
    let (before, _) = steps.split_once("GITHUB_TOKEN").unwrap();
    let start = "run: exec env -i PATH=\"$PATH\" HOB_COMMAND=\"$HOB_COMMAND\" bash \"$GITHUB_ACTION_PATH/box.sh\"";
    assert!(before.contains(start), "{before}");
    // The one command of the workflow's own is what the caller prepares with: before that step, and without anything of it.
    for (name, job) in jobs(&text(".github/workflows/work.yml")).1 {
        let steps: Vec<&str> = job.split("      - name: ").skip(1).collect();
        let commands: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].contains("\n        run:")).collect();
        assert_eq!(commands, if name == "summary" { vec![] } else { vec![0] }, "{name}");
        assert!(commands.iter().all(|at| steps[*at].starts_with("Prepare\n") && !holds_a_right(steps[*at])), "{name}");
    }
}

#[test]
fn the_workflow_that_is_proposed_names_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text(".github/actions/hob/version").trim(), version);
    for example in ["examples/workflow.yml", "examples/schedule.yml"] {
        let workflow = text(example);
        let line = format!("uses: hob-worker/hob/.github/workflows/work.yml@v{version} # zizmor");
        assert_eq!(workflow.matches(&line).count(), 1, "{workflow}");
    }
}

/// Facts A7 and A10: GitHub refuses a run whose caller grants less than a job declares, and cancels calls that wait in
/// a group. So the permissions of each reusable workflow are a part of its interface, and none has a group.
#[test]
fn what_a_caller_has_to_grant_stays_as_it_is() {
    let own = ["contents: write", "issues: write", "pull-requests: write", "statuses: write"];
    let (reads, seen) = (["checks: read", "actions: read"], ["contents", "issues", "pull-requests"]);
    let seen = seen.map(|name| format!("{name}: read"));
    let works = |reads: &[&str]| [own.as_slice(), reads].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let attests = ["id-token: write", "attestations: write", "contents: read"].map(str::to_owned);
    for (name, works, attests) in [
        ("work.yml", works(&[]), None),
        ("work-checks.yml", works(&reads), None),
        ("work-attested.yml", works(&reads), Some(attests.to_vec())),
    ] {
        let (head, jobs) = jobs(&text(&format!(".github/workflows/{name}")));
        assert!(head.contains("\npermissions: {}\n") && head.contains("\ncache-mode: none\n"), "{name}");
        assert!(!head.contains("concurrency:"), "{name}");
        let asked: BTreeMap<&str, Vec<String>> =
            jobs.iter().map(|(job, text)| (job.as_str(), permissions(text))).collect();
        let mut wanted: BTreeMap<&str, Vec<String>> =
            [("find", works.clone()), ("work", works), ("summary", seen.to_vec())].into();
        wanted.extend(attests.map(|asked| ("attest", asked)));
        assert_eq!(asked, wanted, "{name}");
    }
}

/// The permissions of a job, without what is said of them.
fn permissions(job: &str) -> Vec<String> {
    let (_, below) = job.split_once("\n    permissions:\n").unwrap_or_default();
    let lines = below.lines().take_while(|line| line.starts_with("      "));
    lines.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}
