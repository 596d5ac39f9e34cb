//! Runners that put a mark before each test: jest, vitest, mocha, node's `spec`, PHPUnit's `--testdox`. The lines above that
//! are indented less name its suites. Without marks, jest, vitest and mocha name what failed, each in its own way.

use std::collections::BTreeSet;

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

/// The longest line that may name a suite, in characters.
const SUITE_MAX: usize = 160;
/// The marks of tests.
const MARKS: [char; 10] = ['✓', '✔', '✕', '✖', '✗', '✘', '×', '○', '﹣', '↓'];
/// Lines after the name of a failed test within which its reason is.
const REASON_WITHIN: usize = 6;

pub(super) fn marks(output: &str) -> TestResults {
    let lines: Vec<&str> = output.lines().collect();
    let mut reader = Reader::default();
    for (at, line) in lines.iter().enumerate() {
        // node repeats its failures below this, without their suites.
        if line.starts_with("✖ failing tests:") {
            break;
        }
        reader.take(line, &lines[at + 1..]);
    }
    let Reader { mut results, by_files, failures, .. } = reader;
    let passed = results.ended(TestEnd::Passed).next().is_some();
    results.names_failures_alone = by_files || failures && !passed;
    results
}

#[derive(Default)]
struct Reader<'a> {
    results: TestResults,
    /// The suites that are open: their indentation and name.
    open: Vec<(usize, &'a str)>,
    /// Suites as node ends them, with a mark.
    suites: BTreeSet<&'a str>,
    /// The file of the tests, in jest's words.
    file: &'a str,
    /// The indentation of a file of which vitest tells the tests by halves.
    half_told: Option<usize>,
    /// Whether vitest told files and not tests.
    by_files: bool,
    /// Whether failures were named beside marks.
    failures: bool,
}

impl<'a> Reader<'a> {
    /// Takes a line, of which `after` are those that follow.
    fn take(&mut self, line: &'a str, after: &[&'a str]) {
        let text = line.trim();
        let indent = line.chars().count() - line.trim_start().chars().count();
        if text.is_empty() {
            return;
        }
        if let Some(file) = jests_file(line) {
            (self.file, self.half_told) = (file, None);
            self.open.clear();
            return;
        }
        if self.half_told.is_some_and(|of| indent > of) {
            return;
        }
        self.half_told = None;
        if self.failure(line, text, after) {
            return;
        }
        self.open.retain(|(of, _)| *of < indent);
        match test(text) {
            Some((name, _)) if is_vitests_file(name) => {
                (self.half_told, self.by_files) = (Some(indent), true);
            }
            Some((name, _)) if self.suites.contains(without_time(name)) => {}
            // A list of something has no suite above it, or is further to the left than mocha's tests.
            Some(_) if !text.starts_with(MARKS) && (self.open.is_empty() || indent < 4) => {}
            Some((name, end)) => {
                let end = if end == TestEnd::Failed { reason(after) } else { end };
                self.add(&[without_time(name)], end);
            }
            None if text.starts_with('❯') => (self.half_told, self.by_files) = (Some(indent), is_vitests_file(text)),
            None if text.chars().count() <= SUITE_MAX => {
                let suite = text.strip_prefix("▶ ");
                self.suites.extend(suite.map(without_time));
                self.open.push((indent, without_time(suite.unwrap_or(text))));
            }
            None => {}
        }
    }

    fn add(&mut self, name: &[&str], end: TestEnd) {
        let file = Some(self.file).filter(|file| !file.is_empty());
        let suites = self.open.iter().map(|(_, suite)| *suite);
        let name: Vec<&str> = file.into_iter().chain(suites).chain(name.iter().copied()).collect();
        self.results.add(name.join(" › "), end);
    }

    /// Takes the name of a failure, which is above the reason.
    fn failure(&mut self, line: &'a str, text: &'a str, after: &[&'a str]) -> bool {
        // jest: `  ● slug › keeps accents`.
        if let Some(name) = line.strip_prefix("  ● ") {
            self.open.clear();
            self.add(&[name.trim()], reason(after));
            self.failures = true;
            return true;
        }
        // vitest: ` FAIL  src/a.test.ts > slug > keeps accents`.
        if let Some(name) = text.strip_prefix("FAIL ").filter(|name| name.contains(" > ")) {
            self.results.add(name.trim(), reason(after));
            self.failures = true;
            return true;
        }
        // PHPUnit: `1) SlugTest::testKeepsAccents`.
        let numbered = line.split_once(") ").filter(|(number, _)| number.parse::<u32>().is_ok());
        if let Some((_, name)) = numbered.filter(|(_, name)| name.contains("::") && !name.contains(' ')) {
            self.results.add(name, reason(after));
            self.failures = true;
            return true;
        }
        // mocha: `  1) slug`, and below it, indented, the rest of the name with a colon.
        let below = after.first().filter(|next| next.starts_with("       ") && !next.trim().is_empty());
        if let (Some((number, first)), Some(_)) = (line.trim_start().split_once(") "), below)
            && line.starts_with("  ")
            && number.parse::<u32>().is_ok()
        {
            let names: Vec<&str> = after.iter().map(|next| next.trim()).take_while(|next| !next.is_empty()).collect();
            if let Some(last) = names.iter().position(|name| name.ends_with(':')) {
                self.open.clear();
                let rest = names[..=last].iter().map(|name| name.trim_end_matches(':'));
                let name: Vec<&str> = [first.trim()].into_iter().chain(rest).collect();
                self.add(&name, reason(&after[last + 1..]));
                self.failures = true;
                return true;
            }
        }
        false
    }
}

/// The end of a failed test by the lines below its name, up to the next test.
fn reason(after: &[&str]) -> TestEnd {
    let is_of_it = |line: &&&str| test(line.trim()).is_none() && !line.starts_with("  ● ");
    let said: Vec<&str> = after.iter().take(REASON_WITHIN).take_while(is_of_it).copied().collect();
    failed(&said.join("\n"))
}

/// The name and the end that a line says.
fn test(text: &str) -> Option<(&str, TestEnd)> {
    let (mark, rest) = text.split_once(' ')?;
    let end = match mark {
        "✓" | "✔" => TestEnd::Passed,
        "✕" | "✖" | "✗" | "✘" | "×" => TestEnd::Failed,
        "○" | "﹣" | "-" | "↓" | "↩" | "∅" => TestEnd::Skipped,
        // mocha's number of a failure.
        number if number.strip_suffix(')').is_some_and(|number| number.parse::<u32>().is_ok()) => TestEnd::Failed,
        _other => return None,
    };
    let rest = rest.trim_start();
    Some((rest.strip_prefix("skipped ").filter(|_| mark == "○").unwrap_or(rest), end))
}

/// The file that jest names above its tests.
fn jests_file(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL "))?;
    let file = without_time(rest.trim());
    (!file.contains(' ') && file.contains('.')).then_some(file)
}

/// Whether a line of vitest is about a file: `src/a.test.ts (3 tests) 5ms`.
fn is_vitests_file(name: &str) -> bool {
    name.split_once(" (").is_some_and(|(_, rest)| {
        let word = rest.split([' ', ')']).nth(1).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_digit()) && matches!(word, "test" | "tests")
    })
}

/// A name without the time and note behind it.
fn without_time(name: &str) -> &str {
    let name = name.split_once(" # ").map_or(name, |(name, _)| name).trim_end();
    let bracketed = name.rsplit_once(" (").filter(|(_, time)| is_time(time.trim_end_matches(')')));
    let bare = name.rsplit_once(' ').filter(|(_, time)| is_time(time));
    bracketed.or(bare).map_or(name, |(name, _)| name).trim_end()
}

fn is_time(text: &str) -> bool {
    let number = text.trim_end_matches("ms").trim_end_matches('s').trim();
    text.ends_with('s') && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}
