//! The words about what a person should see of a change first, beside how it is tested.

use hob_domain::{DependencyChange, Emptied, NeedUnknown, Notable, Shown, Sweeping, Undone, Word};
use hob_text::{
    inert_line,
    markup::{code_span, count},
    title,
};

use crate::shown_words::{look_first, names};

/// Packages that are named, a line each.
const PACKAGES: usize = 10;
/// The longest name or version, in characters.
const NAME: usize = 80;
/// The longest subject or summary, in characters.
const LINE: usize = 100;
/// Files that differ in blank space alone and are nothing to tell among others.
const BLANK_FEW: usize = 3;

/// What a person should see first, a line each: the worst first.
pub(crate) fn all_first(shown: &Shown, notable: &Notable) -> Vec<String> {
    let mut told = shape(notable);
    told.extend(look_first(shown));
    told.extend(undone(notable));
    told.extend(dependencies(notable));
    if !notable.generated.is_empty() {
        let verb = if notable.generated.all == 1 { "is" } else { "are" };
        told.push(format!(
            "{} {verb} written by a program: see that what writes it changed too.",
            names(&notable.generated)
        ));
    }
    told
}

/// Whether nothing leads the text of such a change.
pub fn nothing_first(shown: &Shown, notable: &Notable) -> bool {
    all_first(shown, notable).is_empty()
}

/// What the agent is told once about its work, because it may have a reason or a remedy. `None` if there is nothing.
pub fn for_the_agent(shown: &Shown, notable: &Notable) -> Option<String> {
    let mut told = look_first(shown);
    told.extend(undone(notable));
    if let Word::NeedNotShown { why: NeedUnknown::PassesWithout } = &shown.word {
        let what = if shown.new.is_empty() { "The checks" } else { "The new tests" };
        told.push(format!("{what} also pass without the change, so they do not show that it is needed."));
    }
    (!told.is_empty()).then(|| told.join("\n"))
}

/// The commits of people that the change undoes.
fn undone(notable: &Notable) -> Vec<String> {
    let one = |undone: &Undone| {
        let Undone { commit, author, subject, files, whole } = undone;
        let (author, subject) = (inert_line(&title(author, NAME)), inert_line(&title(subject, LINE)));
        let place = if *whole { String::new() } else { format!(" in {}", names(files)) };
        format!("This undoes the commit {} by {author}, “{subject}”{place}.", commit.short())
    };
    notable.undone.iter().map(one).collect()
}

/// What is odd about the diff as a whole.
fn shape(notable: &Notable) -> Vec<String> {
    let Notable { blank, emptied, sweeping, files, .. } = notable;
    let mut told = Vec::new();
    for Emptied { folder, lost, had } in emptied {
        let place = if folder.is_empty() { "the repository".to_owned() } else { code_span(folder) };
        told.push(format!("{lost} of the {had} files in {place} are deleted."));
    }
    if let Some(Sweeping { files, named }) = sweeping {
        let named = if *named == 0 { "none".to_owned() } else { format!("only {named}") };
        told.push(format!("{} changed, and the issue names {named} of them.", count(*files, "file")));
    }
    if blank.all > 0 && blank.all == *files {
        told.push("All of this change is blank space and line ends.".to_owned());
    } else if blank.all > BLANK_FEW {
        told.push(format!(
            "{} of {files} files differ only in blank space and line ends: {}.",
            blank.all,
            names(blank)
        ));
    }
    told
}

fn dependencies(notable: &Notable) -> Vec<String> {
    let found = &notable.dependencies;
    // What is known to be weak is never cut off.
    let (weak, others): (Vec<_>, Vec<_>) = found.first.iter().partition(|change| !change.advisories.is_empty());
    let mut told: Vec<String> = weak.into_iter().chain(others).take(PACKAGES).map(package).collect();
    if found.all > told.len() {
        told.push(format!("{} changed.", count(found.all - told.len(), "more package")));
    }
    if !found.unread.is_empty() {
        told.push(format!("{} changed, and which packages that brings could not be read.", names(&found.unread)));
    }
    told
}

fn package(change: &DependencyChange) -> String {
    let short = |text: &String| code_span(&title(text, NAME));
    let DependencyChange { name, from, to, file, advisories, .. } = change;
    let name = short(name);
    let what = match (from, to) {
        (Some(from), Some(to)) => format!("Dependency: {name} {} → {}", short(from), short(to)),
        (None, Some(to)) => format!("New dependency: {name} {}", short(to)),
        (Some(from), None) => format!("Dependency removed: {name} {}", short(from)),
        (None, None) => format!("Dependency: {name}"),
    };
    let known: Vec<String> = advisories
        .iter()
        .map(|known| {
            let [id, severity, summary] =
                [&known.id, &known.severity, &known.summary].map(|text| inert_line(&title(text, LINE)));
            format!(" **{severity}: {id}**, {summary}.")
        })
        .collect();
    format!("{what} ({}).{}", code_span(file), known.concat())
}

/// What the answers of a round begin with; empty if there is nothing to see.
pub fn undone_first(notable: &Notable) -> String {
    first_section(&undone(notable))
}

/// The list at the head of a text; empty if there is nothing to see.
pub(crate) fn first_section(told: &[String]) -> String {
    if told.is_empty() {
        return String::new();
    }
    let list: String = told.iter().map(|one| format!("- {one}\n")).collect();
    format!("**Look here first**\n\n{list}\n")
}

#[cfg(test)]
mod tests {
    use hob_domain::{Advisory, Dependencies, Names, Sha};

    use super::*;
    use crate::shown_words::tests::shown;

    fn some(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn package(name: &str, from: Option<&str>, to: Option<&str>) -> DependencyChange {
        let text = |text: Option<&str>| text.map(str::to_owned);
        DependencyChange {
            name: name.to_owned(),
            from: text(from),
            to: text(to),
            file: "Cargo.lock".to_owned(),
            wanted: false,
            advisories: Vec::new(),
        }
    }

    #[test]
    fn what_a_person_should_see_first_is_told_in_a_line_each() {
        let known = Advisory { id: "GHSA-1".into(), severity: "high".into(), summary: "Runs <b>code</b>".into() };
        let weak = DependencyChange { advisories: vec![known], ..package("weak", Some("1.0"), Some("1.1")) };
        let first = vec![package("`new`", None, Some("2.0")), package("gone", Some("3.0"), None), weak];
        let notable = Notable {
            dependencies: Dependencies { first, all: 3, unread: some(&["bun.lock"]) },
            undone: vec![Undone {
                commit: Sha::from("0123456789abcdef"),
                author: "<b>ann".into(),
                subject: "Guard the door".into(),
                files: some(&["door.rs"]),
                whole: false,
            }],
            generated: some(&["a.pb.go", "b.pb.go"]),
            blank: some(&["a", "b", "c", "d"]),
            emptied: vec![Emptied { folder: "src".into(), lost: 9, had: 10 }],
            sweeping: Some(Sweeping { files: 120, named: 1 }),
            files: 130,
        };
        let judged = Shown { judges: some(&["Makefile"]), ..shown(Word::NoTests) };
        insta::assert_snapshot!(all_first(&judged, &notable).join("\n"), @"
        9 of the 10 files in `src` are deleted.
        120 files changed, and the issue names only 1 of them.
        4 of 130 files differ only in blank space and line ends: `a`, `b`, `c` and `d`.
        What the checks run is decided in `Makefile`, which changed: read that before you trust their result.
        This undoes the commit 0123456789 by &lt;b>ann, “Guard the door” in `door.rs`.
        Dependency: `weak` `1.0` → `1.1` (`Cargo.lock`). **high: GHSA-1**, Runs &lt;b>code&lt;/b>.
        New dependency: `` `new` `` `2.0` (`Cargo.lock`).
        Dependency removed: `gone` `3.0` (`Cargo.lock`).
        `bun.lock` changed, and which packages that brings could not be read.
        `a.pb.go` and `b.pb.go` are written by a program: see that what writes it changed too.
        ");
        let all_blank = Notable { blank: some(&["a"]), files: 1, ..Notable::default() };
        let whole = Emptied { folder: String::new(), lost: 30, had: 40 };
        let none_named =
            Notable { emptied: vec![whole], sweeping: Some(Sweeping { files: 30, named: 0 }), ..Notable::default() };
        let told = [all_blank, none_named].map(|notable| all_first(&shown(Word::NoTests), &notable).join("\n"));
        insta::assert_snapshot!(told.join("\n"), @"
        All of this change is blank space and line ends.
        30 of the 40 files in the repository are deleted.
        30 files changed, and the issue names none of them.
        ");
        assert!(first_section(&all_first(&shown(Word::NoTests), &Notable::default())).is_empty());
        let few = Notable { blank: some(&["a", "b", "c"]), files: 4, ..Notable::default() };
        assert!(all_first(&shown(Word::NoTests), &few).is_empty());
    }

    #[test]
    fn many_packages_are_counted_and_those_with_advisories_come_first() {
        let mut first: Vec<_> = (0..50).map(|n| package(&format!("p{n}"), None, Some("1"))).collect();
        let known = Advisory { id: "GHSA-2".into(), severity: "low".into(), summary: "x".into() };
        first[40].advisories.push(known);
        let notable =
            Notable { dependencies: Dependencies { first, all: 400, unread: Names::default() }, ..Notable::default() };
        let told = all_first(&shown(Word::Proven), &notable);
        assert_eq!(told.len(), 11);
        assert!(told[0].contains("GHSA-2") && told[10] == "390 more packages changed.", "{told:?}");
    }

    #[test]
    fn what_to_look_at_first_is_named_and_told_to_the_agent() {
        let bent = Shown {
            judges: some(&["Makefile"]),
            broken: some(&["a"]),
            removed: some(&["b", "c"]),
            skipped: some(&["d"]),
            ..shown(Word::OldTestsChanged)
        };
        let undone = Undone {
            commit: Sha::from("0123456789abcdef"),
            author: "ann".into(),
            subject: "Guard the door".into(),
            files: some(&["door.rs"]),
            whole: true,
        };
        let undone = Notable { undone: vec![undone], ..Notable::default() };
        insta::assert_snapshot!(for_the_agent(&bent, &undone).unwrap(), @"
        What the checks run is decided in `Makefile`, which changed: read that before you trust their result.
        An old test fails on the new code: `a`. Was it meant to behave differently?
        2 tests were removed: `b` and `c`.
        1 test is now skipped: `d`.
        This undoes the commit 0123456789 by ann, “Guard the door”.
        ");
        let passes = shown(Word::NeedNotShown { why: NeedUnknown::PassesWithout });
        assert!(for_the_agent(&passes, &Notable::default()).unwrap().contains("do not show that it is needed"));
        assert!(look_first(&passes).is_empty());
        for word in [Word::Proven, Word::NoTests, Word::NeedNotShown { why: NeedUnknown::CannotRun }] {
            assert_eq!(for_the_agent(&shown(word), &Notable::default()), None);
        }
    }
}
