//! The body of a pull request: what changed, the proof, what is open, and, folded, the reasons, cost and limits.

use hob_domain::{
    ChangeText, CheckResult, Conflict, Diff, Evidence, LastLines, LeftOut, Notable, Record, Sha, Shown, Verdict,
    exit_word, left_out, run_unasked,
};
use hob_text::{
    clip, count, inert, inert_line,
    markup::{code_span, code_spans, folded, line, person},
    title,
};

use crate::{
    PullTemplate, ReviewerReport,
    answered::answered,
    notable_words::{all_first, first_section},
    pull_template::{Parts, filled},
    shown_words::shown_sentence,
};

/// Characters a body may have on the forge, with room to spare.
pub(super) const BODY_MAX: usize = 60_000;
/// Changed files that are named.
const FILES_SHOWN: usize = 20;
/// Changed files that are shown without unfolding.
const FILES_OPEN: usize = 5;

/// The contents of a pull request's body.
#[derive(Debug, Clone)]
pub struct PullReport<'a> {
    /// The issue's ledger.
    pub record: &'a Record,
    /// The issue's title.
    pub issue_title: &'a str,
    /// The agent's own words about its work.
    pub change: &'a ChangeText,
    /// The agent's name.
    pub agent: &'a str,
    /// The checks on base and head.
    pub evidence: &'a Evidence,
    /// What the runs between base and head show.
    pub shown: &'a Shown,
    /// What else a person should see first.
    pub notable: &'a Notable,
    /// The conflicts with the base that the agent resolved.
    pub conflicts: &'a [Conflict],
    /// The base branch, if it has moved on meanwhile.
    pub moved: Option<&'a MovedBase>,
    /// The reviewer's result. `None` if no review was wanted.
    pub reviewer: Option<&'a ReviewerReport>,
    /// What changed.
    pub diff: &'a Diff,
    /// The parts of the work that are in no commit.
    pub left_out: &'a [LeftOut],
    /// The limits, in one sentence.
    pub limits: &'a str,
    /// What came of the attempt's candidates; `None` if there was one alone.
    pub candidates: Option<&'a str>,
    /// The repository's template, if it has one.
    pub template: Option<PullTemplate<'a>>,
}

/// A base branch that has moved on since the work on it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedBase {
    /// Its name.
    pub name: String,
    /// The commit that the work began from.
    pub from: Sha,
    /// Its commit now.
    pub to: Sha,
}

/// How people talk to Hob on its pull request.
const TALK: &str = "To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. \
     `/hob cancel` ends the work.";

/// Why the pull request is a draft, below what leads it, and what to do about it.
const DRAFT: &str = "This is a draft because of that. If all of it is meant, mark it as ready for review.\n\n";

/// The pull request's body, in the repository's template if it has one.
pub fn pull_body(report: &PullReport<'_>) -> String {
    let record = report.record;
    let evidence = evidence_table(report.evidence, report.shown) + &last_lines(report.evidence);
    let parts = Parts { issue: record.issue, changed: changed(report), evidence };
    let mut text = match report.template {
        Some(template) => filled(template, &parts, report.evidence),
        None => {
            let Parts { issue, changed, evidence } = &parts;
            format!("Fixes #{issue}\n\n## What changed\n\n{changed}\n## Evidence\n\n{evidence}")
        }
    };
    if report.notable.makes_a_draft(report.shown) {
        text.insert_str(0, DRAFT);
    }
    text.insert_str(0, &first_section(&all_first(report.shown, report.notable)));
    line(&mut text, &format!("\n## Open\n\n{}\n", open(report)));
    text.push_str(&report.reviewer.map(ReviewerReport::section).unwrap_or_default());
    line(&mut text, &format!("{TALK}\n"));
    text.push_str(&folded("Why, cost and limits", &background(report)));
    clip(&text, BODY_MAX)
}

/// What was done, in the agent's words, and the files.
fn changed(report: &PullReport<'_>) -> String {
    let (summary, shortened) = report.change.in_pull_request();
    let mut text = if summary.trim().is_empty() { String::new() } else { format!("{}\n\n", inert(&summary)) };
    if let Some(bytes) = shortened {
        line(
            &mut text,
            &format!("*Shortened: `hob session show {}` has {bytes}, on the worker's machine.*\n", report.record.issue),
        );
    }
    text.push_str(&files(report.diff));
    if !report.left_out.is_empty() {
        line(&mut text, &format!("\n{}", left_out(report.left_out)));
    }
    text
}

/// The changed files, folded if there are many.
fn files(diff: &Diff) -> String {
    let totals = format!(
        "{} changed, {} added, {} removed",
        count(diff.files.len(), "file"),
        count(diff.additions(), "line"),
        diff.deletions()
    );
    let mut list = String::new();
    for file in diff.files.iter().take(FILES_SHOWN) {
        line(&mut list, &format!("- {} (+{} −{})", code_span(&file.path), file.additions, file.deletions));
    }
    if diff.files.len() > FILES_SHOWN {
        line(&mut list, &format!("- and {} more", diff.files.len() - FILES_SHOWN));
    }
    if diff.files.len() > FILES_OPEN { folded(&totals, &list) } else { format!("{totals}:\n\n{list}") }
}

/// What a person still has to decide.
fn open(report: &PullReport<'_>) -> String {
    let mut open = Vec::new();
    let unasked = run_unasked(report.diff);
    if !unasked.is_empty() {
        let files = paths(unasked.iter().copied());
        open.push(format!(
            "Installing, building, committing or opening this change runs code that these files name or bring in: {files}. Read them first."
        ));
    }
    if !report.conflicts.is_empty() {
        let files = paths(report.conflicts.iter().map(|file| file.path.as_str()));
        open.push(format!(
            "The base branch had changed the same places meanwhile, and the agent resolved the conflicts in {files}: look there first."
        ));
    }
    if let Some(plan) = report.record.approved_plan() {
        let outside = plan.outside(report.diff);
        if !outside.is_empty() {
            let files = paths(outside.into_iter());
            open.push(format!("The approved plan did not name {files}."));
        }
    }
    if let Some(MovedBase { name, from, to }) = report.moved {
        open.push(format!(
            "{} has moved on from {} to {} since these checks ran: run them again before you merge.",
            code_span(name),
            from.short(),
            to.short()
        ));
    }
    open.extend(unproven(report.evidence));
    open.extend(report.reviewer.and_then(ReviewerReport::open));
    if !open.is_empty() {
        return open.join(" ");
    }
    let leads = report.notable.makes_a_draft(report.shown);
    if leads { "What leads this text, and the review.".to_owned() } else { "Only the review.".to_owned() }
}

/// What the checks do not show.
fn unproven(evidence: &Evidence) -> Option<String> {
    Some(match evidence.verdict() {
        Verdict::Green | Verdict::RedToGreen { .. } => return None,
        Verdict::NoChecks => "No check has run this change: try it before you merge it.".to_owned(),
        Verdict::StillRed { commands: red } => {
            let (refused, red) = by_refusal(evidence, red);
            let verb = if red.len() == 1 { "does" } else { "do" };
            let of_the_work =
                (!red.is_empty()).then(|| format!("{} failed before this change and still {verb}.", code_spans(&red)));
            let refused: Vec<_> = refused.into_iter().map(|(command, _)| command).collect();
            let of_the_place = (!refused.is_empty())
                .then(|| format!("{} could not pass in Hob's sandbox: run it elsewhere.", code_spans(&refused)));
            [of_the_work, of_the_place].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        // Such work is sent back or blocked, never published.
        Verdict::Broken { commands: red } => format!("This change breaks {}.", code_spans(&red)),
        Verdict::Undecided { commands: open } => format!("Whether {} passes.", code_spans(&open)),
    })
}

/// The files, up to the number that is shown.
fn paths<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = paths.len().saturating_sub(FILES_SHOWN);
    let mut shown: Vec<String> = paths.take(FILES_SHOWN).map(code_span).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

/// Why the work was done, what it cost and could have cost, and where its history is.
fn background(report: &PullReport<'_>) -> String {
    let record = report.record;
    let actor = record.trigger.as_ref().map_or_else(|| "A maintainer".to_owned(), |trigger| person(&trigger.actor));
    let mut text =
        format!("{actor} asked Hob to work on the issue “{}”.\n", inert_line(&title(report.issue_title, 200)));
    if let Some(answer) = &record.answer {
        // A paragraph of its own, so that a back-tick in the title has no partner here.
        line(&mut text, &format!("\n{}", answered(answer)));
    }
    let attempts = count(record.attempts.ever, "attempt");
    let agent = code_span(report.agent);
    line(&mut text, &format!("\nCost: {} over {attempts}, by the agent {agent}. {}", record.spend, report.limits));
    if let Some(candidates) = report.candidates {
        line(&mut text, &format!("\n{candidates}"));
    }
    if !record.chain.links().is_empty() {
        let links: Vec<String> = record.chain.links().iter().map(|link| format!("- {}", link.line())).collect();
        line(&mut text, &format!("\nThe work went from one profile to another:\n\n{}", links.join("\n")));
    }
    line(&mut text, &format!("\n`hob explain {} --history` prints each step.", record.issue));
    text
}

/// What is shown in a sentence, and a table of the checks before and after.
pub fn evidence_table(evidence: &Evidence, shown: &Shown) -> String {
    let mut text = match evidence.verdict() {
        Verdict::NoChecks => {
            return "**Not verified**: `.github/hob.toml` on the base branch names no checks. Add \
                    `checks = [\"…\"]` there, and Hob runs them on the base and on the head.\n"
                .to_owned();
        }
        Verdict::Green | Verdict::RedToGreen { .. } => {
            let told = shown_sentence(shown).unwrap_or_else(|| "**Green**: the checks pass.".to_owned());
            format!("{told}\n")
        }
        Verdict::Broken { commands: broken } => format!("**The work breaks** {}.\n", code_spans(&broken)),
        Verdict::StillRed { commands: red } => still_red(evidence, red),
        Verdict::Undecided { commands: open } => format!("**No answer in time** of {}.\n", code_spans(&open)),
    };
    text.push_str("\n| check | base | head |\n|---|---|---|\n");
    for head in &evidence.head {
        let base =
            evidence.base.iter().find(|base| base.command == head.command).map_or("not run".to_owned(), exit_word);
        line(
            &mut text,
            &format!("| {} | {base} | {} |", code_span(&head.command).replace('|', "\\|"), exit_word(head)),
        );
    }
    text
}

/// The last output of the checks that fail on the work, folded.
fn last_lines(evidence: &Evidence) -> String {
    let failed = evidence.head.iter().filter(|check| check.failed());
    failed.filter_map(LastLines::from_check).map(|last| last.shown()).collect()
}

/// The sentence about checks that fail on the base and on the work. Checks that the sandbox kept from passing prove
/// nothing about either.
fn still_red(evidence: &Evidence, red: Vec<String>) -> String {
    let (refused, red) = by_refusal(evidence, red);
    let mut text = String::new();
    if !red.is_empty() {
        line(
            &mut text,
            &format!(
                "**Red before, red after**: {} failed on the base already. Nothing that passed there fails on the work.",
                code_spans(&red)
            ),
        );
    }
    for (command, what) in refused {
        let (name, what) = (code_span(&command), code_span(what));
        line(
            &mut text,
            &format!(
                "**Not decided**: the sandbox kept {name} from passing. It refused {what}; `hob doctor` says what helps."
            ),
        );
    }
    text
}

/// Of these checks, those that the sandbox kept from passing, each with what it refused; and the others.
fn by_refusal(evidence: &Evidence, red: Vec<String>) -> (Vec<(String, &str)>, Vec<String>) {
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    for command in red {
        match evidence.head.iter().find(|head| head.command == command).and_then(CheckResult::refusal) {
            Some(refused) => kept.push((command, refused)),
            None => others.push(command),
        }
    }
    (kept, others)
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        Answer, ChangeKind, CheckExit, CheckRun, ConflictKind, FileChange, FileMode, Spend, State, Word, failed_checks,
    };

    use super::*;
    use crate::{fixtures::record_at, shown_words::tests::shown};

    fn check(command: &str, exit: CheckExit) -> CheckResult {
        CheckResult {
            command: command.to_owned(),
            exit,
            output: String::new(),
            seconds: 2,
            run: CheckRun::Now,
            refused: None,
            tests: hob_domain::TestResults::default(),
        }
    }

    fn diff(files: usize) -> Diff {
        let file = |n| FileChange {
            path: format!("src/part{n}.rs"),
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 1,
            deletions: 2,
            size: 10,
        };
        Diff { files: (1..=files).map(file).collect(), ..Diff::default() }
    }

    fn record() -> Record {
        let answer = Answer {
            actor: "ann".into(),
            text: "use UTC\n```\nfrom now on".to_owned(),
            question: None,
            comment: None,
            event: None,
        };
        let spend = Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 };
        Record { answer: Some(answer), spend, ..record_at(State::InProgress) }
    }

    fn body(record: &Record, change: &ChangeText, evidence: &Evidence, files: usize) -> String {
        body_of(record, change, evidence, Diffed { files, shown: &shown(Word::NoTests) })
    }

    /// How many files changed, and what is shown of that.
    struct Diffed<'a> {
        files: usize,
        shown: &'a Shown,
    }

    fn body_of(record: &Record, change: &ChangeText, evidence: &Evidence, diffed: Diffed<'_>) -> String {
        let body = pull_body(&PullReport {
            record,
            issue_title: "Fix [it] @all",
            change,
            agent: "native",
            evidence,
            shown: diffed.shown,
            notable: &Notable::default(),
            conflicts: &[],
            moved: None,
            reviewer: None,
            diff: &diff(diffed.files),
            left_out: &[],
            limits: "An attempt may take 30m.",
            candidates: None,
            template: None,
        });
        // Characters that prevent mentions are invisible; a snapshot has to show them.
        body.replace('\u{200b}', "<zwsp>")
    }

    fn red_to_green() -> Evidence {
        let red = CheckExit::Failed { code: 1 };
        Evidence { base: vec![check("./test.sh", red)], head: vec![check("./test.sh", CheckExit::Passed)] }
    }

    #[test]
    fn a_draft_says_why_it_is_one_and_what_ends_that() {
        let judged = Shown { judges: ["Makefile".to_owned()].into_iter().collect(), ..shown(Word::NoTests) };
        let body = body_of(&record(), &ChangeText::untitled(""), &red_to_green(), Diffed { files: 1, shown: &judged });
        insta::assert_snapshot!(body.split_once("## What changed").unwrap().0, @"
        **Look here first**

        - What the checks run is decided in `Makefile`, which changed: read that before you trust their result.

        This is a draft because of that. If all of it is meant, mark it as ready for review.

        Fixes #1
        ");
    }

    #[test]
    fn a_pull_request_says_what_changed_its_proof_and_what_is_open() {
        let change = ChangeText::untitled(
            "Reads the zone from `TZ`, as `@scope/clock` does.\n\nCloses #1. ![beacon](http://x) <b>",
        );
        insta::assert_snapshot!(body(&record(), &change, &red_to_green(), 1), @r"
        Fixes #1

        ## What changed

        Reads the zone from `TZ`, as `@scope/clock` does.

        Closes #<zwsp>1. !\[beacon](http://x) &lt;b>

        1 file changed, 1 line added, 2 removed:

        - `src/part1.rs` (+1 −2)

        ## Evidence

        **No tests**: the checks pass, and no test changed or was repaired.

        | check | base | head |
        |---|---|---|
        | `./test.sh` | failed (exit code 1) | passed (2 s) |

        ## Open

        Only the review.

        To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

        <details><summary>Why, cost and limits</summary>

        A maintainer asked Hob to work on the issue “Fix [it] @<zwsp>all”.

        `ann` answered: “use UTC ``` from now on”

        Cost: $0.12, 1000 tokens, 1 min 1 s over 1 attempt, by the agent `native`. An attempt may take 30m.

        `hob explain 1 --history` prints each step.

        </details>
        ");
    }

    #[test]
    fn a_long_summary_and_a_long_list_of_files_are_shortened() {
        let log: String = (1..=200).map(|n| format!("step {n}\n")).collect();
        let body = body(&record(), &ChangeText::untitled(log), &red_to_green(), 25);
        let what = body.split("## Evidence").next().unwrap();
        assert!(what.lines().filter(|line| line.starts_with("step")).count() == 30, "{what}");
        insta::assert_snapshot!(what.split("step 30\n").last().unwrap(), @r"
        *Shortened: `hob session show 1` has 170 more lines, on the worker's machine.*

        <details><summary>25 files changed, 25 lines added, 50 removed</summary>

        - `src/part1.rs` (+1 −2)
        - `src/part2.rs` (+1 −2)
        - `src/part3.rs` (+1 −2)
        - `src/part4.rs` (+1 −2)
        - `src/part5.rs` (+1 −2)
        - `src/part6.rs` (+1 −2)
        - `src/part7.rs` (+1 −2)
        - `src/part8.rs` (+1 −2)
        - `src/part9.rs` (+1 −2)
        - `src/part10.rs` (+1 −2)
        - `src/part11.rs` (+1 −2)
        - `src/part12.rs` (+1 −2)
        - `src/part13.rs` (+1 −2)
        - `src/part14.rs` (+1 −2)
        - `src/part15.rs` (+1 −2)
        - `src/part16.rs` (+1 −2)
        - `src/part17.rs` (+1 −2)
        - `src/part18.rs` (+1 −2)
        - `src/part19.rs` (+1 −2)
        - `src/part20.rs` (+1 −2)
        - and 5 more

        </details>
        ");
    }

    #[test]
    fn conflicts_that_the_agent_resolved_are_open() {
        let conflicts = [Conflict { path: "src/a.rs".to_owned(), kind: ConflictKind::Lines }];
        let (record, change, diff) = (record(), ChangeText::untitled("Did it."), Diff::default());
        let says = |evidence: &Evidence| {
            let (issue_title, agent, limits) = ("Fix it", "native", "");
            let (record, change, diff) = (&record, &change, &diff);
            let conflicts = &conflicts;
            let (moved, reviewer, template) = (None, None, None);
            open(&PullReport {
                record,
                issue_title,
                change,
                agent,
                evidence,
                shown: &shown(Word::NoTests),
                notable: &Notable::default(),
                conflicts,
                moved,
                reviewer,
                diff,
                left_out: &[],
                limits,
                template,
                candidates: None,
            })
        };
        let merged = "The base branch had changed the same places meanwhile, and the agent resolved the conflicts in `src/a.rs`: look \
                      there first.";
        assert_eq!(says(&red_to_green()), merged);
        let unproven = format!("{merged} No check has run this change: try it before you merge it.");
        assert_eq!(says(&Evidence::default()), unproven);
    }

    /// Attack corpus B18, D45.
    #[test]
    fn a_base_that_moved_on_and_files_that_run_unasked_are_open() {
        let file = |path: &str| FileChange { path: path.to_owned(), ..diff(1).files[0].clone() };
        let diff = Diff { files: ["a.rs", "package.json", "build.rs"].map(file).to_vec(), ..Diff::default() };
        let moved = MovedBase { name: "main".to_owned(), from: "1111111111aa".into(), to: "2222222222bb".into() };
        let (record, change, evidence) = (record(), ChangeText::untitled("Did it."), red_to_green());
        let (record, change, evidence) = (&record, &change, &evidence);
        let (issue_title, agent, limits, conflicts, moved) = ("Fix it", "native", "", &[], Some(&moved));
        let (diff, template) = (&diff, None);
        let said = open(&PullReport {
            record,
            issue_title,
            change,
            agent,
            evidence,
            shown: &shown(Word::NoTests),
            notable: &Notable::default(),
            conflicts,
            moved,
            reviewer: None,
            diff,
            left_out: &[],
            limits,
            template,
            candidates: None,
        });
        assert_eq!(
            said,
            "Installing, building, committing or opening this change runs code that these files name or bring in: \
             `package.json`, `build.rs`. Read them first. `main` has moved on from 1111111111 to 2222222222 since these checks ran: run them again \
             before you merge."
        );
    }

    #[test]
    fn what_is_open_follows_from_the_checks() {
        let red = CheckExit::Failed { code: 1 };
        let green = CheckExit::Passed;
        let told: Vec<String> = [
            ("no checks", Evidence::default()),
            ("green", Evidence { base: vec![check("make", green)], head: vec![check("make", green)] }),
            ("green, with no run on the base", Evidence { base: Vec::new(), head: vec![check("a | b", green)] }),
            ("red on the base", Evidence { base: vec![check("make", red)], head: vec![check("make", red)] }),
            ("broken", Evidence { base: vec![check("make", green)], head: vec![check("make", red)] }),
            ("out of time", Evidence { base: Vec::new(), head: vec![check("make", CheckExit::OutOfTime)] }),
        ]
        .into_iter()
        .map(|(name, evidence)| {
            let body = body(&record(), &ChangeText::default(), &evidence, 1);
            let (_, rest) = body.split_once("## Evidence\n\n").unwrap();
            format!("== {name}\n{}", rest.split(TALK).next().unwrap())
        })
        .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        == no checks
        **Not verified**: `.github/hob.toml` on the base branch names no checks. Add `checks = ["…"]` there, and Hob runs them on the base and on the head.

        ## Open

        No check has run this change: try it before you merge it.


        == green
        **No tests**: the checks pass, and no test changed or was repaired.

        | check | base | head |
        |---|---|---|
        | `make` | passed (2 s) | passed (2 s) |

        ## Open

        Only the review.


        == green, with no run on the base
        **No tests**: the checks pass, and no test changed or was repaired.

        | check | base | head |
        |---|---|---|
        | `a \| b` | not run | passed (2 s) |

        ## Open

        Only the review.


        == red on the base
        **Red before, red after**: `make` failed on the base already. Nothing that passed there fails on the work.

        | check | base | head |
        |---|---|---|
        | `make` | failed (exit code 1) | failed (exit code 1) |

        ## Open

        `make` failed before this change and still does.


        == broken
        **The work breaks** `make`.

        | check | base | head |
        |---|---|---|
        | `make` | passed (2 s) | failed (exit code 1) |

        ## Open

        This change breaks `make`.


        == out of time
        **No answer in time** of `make`.

        | check | base | head |
        |---|---|---|
        | `make` | not run | timed out after 2 s (`check_time`) |

        ## Open

        Whether `make` passes.
        "#);
    }

    #[test]
    fn a_failed_check_shows_its_output() {
        let mut failed = check("make test", CheckExit::Failed { code: 2 });
        failed.output = "tests/parse.rs:3: @team ``` #1\n\u{1b}[31m".to_owned();
        let results = [failed, check("true", CheckExit::Passed), check("slow", CheckExit::OutOfTime)];
        insta::assert_snapshot!(failed_checks(&results), @r"
        `make test`: failed (exit code 2)

        ```text
        tests/parse.rs:3: @team ''' #1
        \u{1b}[31m
        ```

        `slow`: timed out after 2 s (`check_time`)
        ");
    }
}
