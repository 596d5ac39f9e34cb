//! The words about what the four runs show: for people, one sentence and what to look at first; for the agent, what it can
//! mend.

use hob_domain::{Closeness, Names, NeedUnknown, NotMade, Record, Shown, Word};
use hob_text::markup::{code_span, count};

/// Names in one sentence.
const NAMED: usize = 5;

/// The word and its reason, in a sentence or two. `None` where the checks alone say what there is to say.
pub(crate) fn shown_sentence(shown: &Shown) -> Option<String> {
    let says = match &shown.word {
        Word::Proven => {
            let (fail, pass) = if shown.needed.all == 1 { ("fails", "passes") } else { ("fail", "pass") };
            let needed = names(&shown.needed);
            match shown.by {
                Closeness::Tests => {
                    format!(": {needed} {fail} without this change and {pass} with it, and the old tests still pass.")
                }
                Closeness::Checks => format!(
                    ", by check and not by test: {needed} {fail} without this change and {pass} with it, and with the old \
                     tests, too."
                ),
            }
        }
        Word::NeedNotShown { why } => {
            format!(": the checks and the old tests pass, but {}.", need_unknown(why, shown))
        }
        Word::OldTestsChanged => {
            let broken = names(&shown.broken);
            let what = match shown.by {
                Closeness::Tests => {
                    format!("as they were before this change, these tests fail on the new code: {broken}")
                }
                Closeness::Checks => {
                    format!("with the tests as they were before this change, {broken} fails on the new code")
                }
            };
            format!(": the checks pass, but {what}.")
        }
        Word::KeptNotShown { why } => {
            format!(": the checks pass. Whether the old tests do was not found out: {}.", not_made(why))
        }
        Word::OnlyTests => ": the checks pass.".to_owned(),
        Word::NoTests => ": the checks pass, and no test changed or was repaired.".to_owned(),
        Word::Unshown => return None,
    };
    Some(format!("**{}**{says}", word_of(shown)?))
}

/// What to look at first in the work that was published last, as far as its tests show it.
pub(crate) fn published_look(record: &Record) -> Option<String> {
    look_first(&record.work.proof.as_ref()?.statement().predicate.shown).into_iter().next()
}

/// The word of the work that was published last. `None` where the checks alone say what there is to say.
pub(crate) fn published_word(record: &Record) -> Option<&'static str> {
    word_of(&record.work.proof.as_ref()?.statement().predicate.shown)
}

/// The word for people. `None` where the checks alone say what there is to say.
pub fn word_of(shown: &Shown) -> Option<&'static str> {
    Some(match shown.word {
        Word::Proven => "Proven",
        Word::NeedNotShown { .. } => "Green, need not shown",
        Word::OldTestsChanged => "Green, old tests changed",
        Word::KeptNotShown { .. } => "Green, old tests not run",
        Word::OnlyTests => "Only tests changed",
        Word::NoTests => "No tests",
        Word::Unshown => return None,
    })
}

fn need_unknown(why: &NeedUnknown, shown: &Shown) -> String {
    match why {
        // Tests only changed, or what the checks run did.
        NeedUnknown::PassesWithout if shown.new.is_empty() => "they also pass without the change".to_owned(),
        NeedUnknown::PassesWithout => "the new tests also pass without the change".to_owned(),
        NeedUnknown::CannotRun => {
            "the new tests cannot run without the change: they do not compile, or name what only the change adds"
                .to_owned()
        }
        NeedUnknown::NotMade(why) => {
            format!("whether the new tests fail without the change was not found out: {}", not_made(why))
        }
    }
}

fn not_made(why: &NotMade) -> String {
    match why {
        NotMade::NoTime => "the time for it (`proof_time`) was over".to_owned(),
        NotMade::Mixed { files } => {
            let verb = if files.all == 1 { "holds" } else { "hold" };
            format!("{} {verb} code and tests that cannot be told apart", names(files))
        }
        NotMade::SetUpFailed => "a set-up step failed".to_owned(),
        NotMade::Refused => "the sandbox kept a check from passing".to_owned(),
        NotMade::Off => "`proof_time` is 0s".to_owned(),
    }
}

/// What a person should look at before the change itself, a sentence each.
pub(crate) fn look_first(shown: &Shown) -> Vec<String> {
    let mut told = Vec::new();
    if !shown.judges.is_empty() {
        let judges = names(&shown.judges);
        told.push(format!(
            "What the checks run is decided in {judges}, which changed: read that before you trust their result."
        ));
    }
    if !shown.broken.is_empty() {
        let what = match (shown.by, shown.broken.all) {
            (Closeness::Tests, 1) => "An old test fails on the new code",
            (Closeness::Tests, _) => "Old tests fail on the new code",
            (Closeness::Checks, _) => "With the old tests, the new code fails",
        };
        told.push(format!("{what}: {}. Was it meant to behave differently?", names(&shown.broken)));
    }
    let removed = shown.removed.without(&shown.broken);
    if !removed.is_empty() {
        told.push(format!("{} removed: {}.", were(&removed), names(&removed)));
    }
    if !shown.skipped.is_empty() {
        told.push(format!("{} now skipped: {}.", are(&shown.skipped), names(&shown.skipped)));
    }
    told
}

fn were(tests: &Names) -> String {
    format!("{} {}", count(tests.all, "test"), if tests.all == 1 { "was" } else { "were" })
}

fn are(tests: &Names) -> String {
    format!("{} {}", count(tests.all, "test"), if tests.all == 1 { "is" } else { "are" })
}

/// The one line of the commit status: what to look at first, else the word and its reason.
pub fn status_line(shown: &Shown) -> String {
    let said = match look_first(shown).first() {
        Some(first) => format!("Look here first: {first}"),
        None => shown_sentence(shown).unwrap_or_else(|| "The checks do not pass, or there are none.".to_owned()),
    };
    said.replace("**", "").replace('`', "")
}

/// The first names, as code.
pub(crate) fn names(names: &Names) -> String {
    let mut shown: Vec<String> = names.first.iter().take(NAMED).map(|name| code_span(name)).collect();
    if names.all > shown.len() {
        shown.push(format!("{} more", names.all - shown.len()));
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What is shown with this word, and nothing else.
    pub(crate) fn shown(word: Word) -> Shown {
        let none = Names::default;
        Shown {
            word,
            by: Closeness::Tests,
            needed: none(),
            broken: none(),
            removed: none(),
            skipped: none(),
            new: none(),
            judges: none(),
        }
    }

    fn some(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_word_says_what_was_shown_and_nothing_more() {
        let mixed = NotMade::Mixed { files: some(&["a.py", "b.py"]) };
        let many: Names = (0..30).map(|n| format!("t{n}")).collect();
        let all = [
            Shown { needed: some(&["money::rounds"]), ..shown(Word::Proven) },
            Shown { needed: many, ..shown(Word::Proven) },
            Shown { needed: some(&["make test"]), by: Closeness::Checks, ..shown(Word::Proven) },
            shown(Word::NeedNotShown { why: NeedUnknown::PassesWithout }),
            Shown { new: some(&["a"]), ..shown(Word::NeedNotShown { why: NeedUnknown::PassesWithout }) },
            shown(Word::NeedNotShown { why: NeedUnknown::CannotRun }),
            shown(Word::NeedNotShown { why: NeedUnknown::NotMade(NotMade::NoTime) }),
            shown(Word::NeedNotShown { why: NeedUnknown::NotMade(mixed) }),
            Shown { broken: some(&["a", "b"]), ..shown(Word::OldTestsChanged) },
            Shown { broken: some(&["make test"]), by: Closeness::Checks, ..shown(Word::OldTestsChanged) },
            shown(Word::KeptNotShown { why: NotMade::SetUpFailed }),
            shown(Word::KeptNotShown { why: NotMade::Refused }),
            shown(Word::KeptNotShown { why: NotMade::Off }),
            shown(Word::OnlyTests),
            shown(Word::NoTests),
        ];
        let told: Vec<String> = all.iter().filter_map(shown_sentence).collect();
        insta::assert_snapshot!(told.join("\n"), @"
        **Proven**: `money::rounds` fails without this change and passes with it, and the old tests still pass.
        **Proven**: `t0`, `t1`, `t2`, `t3`, `t4` and 25 more fail without this change and pass with it, and the old tests still pass.
        **Proven**, by check and not by test: `make test` fails without this change and passes with it, and with the old tests, too.
        **Green, need not shown**: the checks and the old tests pass, but they also pass without the change.
        **Green, need not shown**: the checks and the old tests pass, but the new tests also pass without the change.
        **Green, need not shown**: the checks and the old tests pass, but the new tests cannot run without the change: they do not compile, or name what only the change adds.
        **Green, need not shown**: the checks and the old tests pass, but whether the new tests fail without the change was not found out: the time for it (`proof_time`) was over.
        **Green, need not shown**: the checks and the old tests pass, but whether the new tests fail without the change was not found out: `a.py` and `b.py` hold code and tests that cannot be told apart.
        **Green, old tests changed**: the checks pass, but as they were before this change, these tests fail on the new code: `a` and `b`.
        **Green, old tests changed**: the checks pass, but with the tests as they were before this change, `make test` fails on the new code.
        **Green, old tests not run**: the checks pass. Whether the old tests do was not found out: a set-up step failed.
        **Green, old tests not run**: the checks pass. Whether the old tests do was not found out: the sandbox kept a check from passing.
        **Green, old tests not run**: the checks pass. Whether the old tests do was not found out: `proof_time` is 0s.
        **Only tests changed**: the checks pass.
        **No tests**: the checks pass, and no test changed or was repaired.
        ");
        assert_eq!(shown_sentence(&shown(Word::Unshown)), None);
    }

    #[test]
    fn a_commit_status_says_it_in_one_plain_line() {
        let judged = Shown { judges: some(&["Makefile"]), ..shown(Word::Proven) };
        let proven = Shown { needed: some(&["money::rounds"]), ..shown(Word::Proven) };
        let told = [judged, proven, shown(Word::NoTests), shown(Word::Unshown)].map(|shown| status_line(&shown));
        insta::assert_snapshot!(told.join("\n"), @"
        Look here first: What the checks run is decided in Makefile, which changed: read that before you trust their result.
        Proven: money::rounds fails without this change and passes with it, and the old tests still pass.
        No tests: the checks pass, and no test changed or was repaired.
        The checks do not pass, or there are none.
        ");
    }
}
