//! One day of a repository: thirty issues, five people, one worker. What all of them said is a snapshot to be read from
//! its start to its end, as one of them.

mod afternoon;
mod evening;
mod morning;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Gate, World};

/// The issues, in their order: the numbers of the agent's script.
const ISSUES: [(&str, &str, &str); 30] = [
    ("ann", "Fix the typo in the footer", "It says `Contcat`."),
    ("ann", "Drop the old logo", "The file is not used anywhere."),
    ("wil", "Sort the menu by name", "Today it has the order of the database."),
    ("ann", "Show the time of the last import", "On the page of reports."),
    ("wil", "Rename the CSV export", "`data.csv` says nothing about what is in it."),
    ("ann", "Move to the new mailer", "The old one is not maintained."),
    ("wil", "Split the settings page", "It has sixty fields."),
    ("ann", "Raise the upload limit", "10 MB are not enough."),
    ("ann", "Translate the help page", "Into French."),
    ("ann", "Speed up the search", "It takes four seconds."),
    ("rob", "Dark mode", "My eyes hurt."),
    ("ann", "Rotate the logs", "The disk was full on Sunday."),
    ("wil", "Escape titles in the feed", "`Q&A` breaks it."),
    ("ann", "Cache the avatars", "They are loaded on every page."),
    ("wil", "Sort names as French does", "`É` comes after `Z`."),
    ("ann", "Import the old wiki", "All 400 pages."),
    ("rob", "Show the version", "In the footer, please."),
    ("wil", "Retry the webhook", "It is lost if the receiver restarts."),
    ("ann", "Export as JSON", "Beside CSV."),
    ("wil", "Print styles", "Reports are printed every Monday."),
    ("ann", "Set the page size", "The list is too long."),
    ("ann", "Update the year of the licence", ""),
    ("wil", "Paginate the audit log", "It loads 90,000 rows."),
    ("tess", "Show who is online", "A dot beside the name would do."),
    ("ann", "Validate the e-mail field", "It accepts `a@`."),
    ("ann", "Remove the beta banner", "Beta ended in May."),
    ("ann", "Limit the rate of logins", "We had 3,000 attempts last night."),
    ("wil", "Use the new font", "Marketing has sent it."),
    ("ann", "Upgrade the parser", "To version 4."),
    ("wil", "Add shortcuts", "For the three most used pages."),
];

/// What the agent does in the run `$n` of each issue. Two of them wait at the gate for what people say meanwhile.
const AGENT: &str = r#"
asks() { printf '{"outcome":"question","question":"%s"}\n' "$1"; }
did() { echo "$1" > page-$HOB_ISSUE.txt; printf '{"outcome":"done","summary":"%s","usd":0.10}\n' "$1"; }
told() { grep -q "$1" {DIR}/briefs/$HOB_ISSUE-$n; }
if [ "$HOB_PURPOSE" = plan ]; then
    case $HOB_ISSUE-$n in
    7-*) printf 'Summary: One page for each group of settings.\nSteps:\n- Group the fields\n- Make the pages\nFiles:\n- page-7.txt\n';;
    27-0) printf 'Summary: Count the attempts in Redis.\nSteps:\n- Add Redis\n- Count\nFiles:\n- page-27.txt\n';;
    27-*) printf 'Summary: Count the attempts in the database.\nSteps:\n- Add a table\n- Count\nFiles:\n- page-27.txt\n';;
    esac
    exit
fi
case $HOB_ISSUE-$n in
4-0) asks 'Which time zone should the page show?';;
5-1) asks 'Should the name have the date or the name of the report?';;
5-2) did 'Names the file after its report.';;
6-0) asks 'Which of the two mailers of the design document is meant?';;
11-0) asks 'Should it follow the system or be a switch?';;
12-0) echo > {DIR}/arrived; read line < {DIR}/go; did 'Rotates the logs once a week.';;
12-*) did 'Rotates the logs once a day.';;
13-1) printf 'a\n' > page-13.txt; printf '{"outcome":"done","summary":"Titles are escaped in the Atom feed, too.\\n\\nT1: Done, with the function of the RSS feed."}\n';;
14-1) did 'Caches the avatars for an hour, with a test.';;
15-*) if told LC_ALL; then rm -f broken.txt; did 'Sorts names with LC_ALL=fr_FR.'; else echo "É > Z" > broken.txt; fi;;
16-2) rm -f broken.txt; did 'Imported all pages.';;
16-*) echo "$n" > broken.txt; printf '{"outcome":"done","summary":"Imported some of the pages.","usd":3.0}\n';;
18-0) asks 'How often should it be tried?';;
19-0) asks 'Which fields should the export have?';;
20-0) asks 'Should the header be printed?';;
21-0) asks 'How many rows should a page have?';;
25-1) did 'Wants a domain after the @, and has the test of the form.';;
26-*) printf '{"outcome":"done","summary":"The banner is gone already."}\n';;
28-0) echo > {DIR}/arrived; read line < {DIR}/go; did 'Uses the new font.';;
30-0) asks 'Which keys?';;
*) did 'Did what the issue asks for.';;
esac"#;

/// What a message has to lead to.
#[derive(Debug, Clone)]
enum Effect {
    /// A later brief of this issue has the words.
    Read(u64),
    /// Hob replies below it.
    Reply,
    /// The ledger of this issue says so.
    Done(u64, &'static str),
}

/// What an authorized person said to Hob, and what has to become of it.
#[derive(Debug)]
struct Message {
    login: &'static str,
    on: u64,
    words: &'static str,
    receipt: &'static str,
    effect: Effect,
}

/// The day so far.
struct Day {
    world: World,
    messages: Vec<Message>,
    /// By the place and the mark of a question: where it was asked, and whom it called while it was open.
    asked: BTreeMap<String, BTreeSet<(u64, String)>>,
}

impl Day {
    async fn begins() -> Self {
        let world = World::with_agent(AGENT)
            .check("test ! -f broken.txt")
            .set("jobs", "1")
            .set("publish.reviewers", "actor")
            .set("budget.issue", "5.0")
            .set("budget.comment_max", "20")
            .start()
            .await;
        for (number, (login, title, body)) in (1..).zip(ISSUES) {
            assert_eq!(world.opens(login, title, body, &[]).await, number);
        }
        Self { world, messages: Vec::new(), asked: BTreeMap::new() }
    }

    /// A comment that is for Hob: its receipt, and what it leads to.
    async fn says(&mut self, login: &'static str, on: u64, words: &'static str, receipt: &'static str, effect: Effect) {
        self.world.comments(login, on, words).await;
        self.messages.push(Message { login, on, words, receipt, effect });
    }

    /// A comment that is not for Hob, or not of a person who may direct it.
    async fn chats(&self, login: &str, on: u64, words: &str) {
        self.world.comments(login, on, words).await;
    }

    /// Time passes, and the worker looks once.
    async fn passes(&mut self) {
        self.world.forge.advance(self.world.settings.review.settle * 2);
        self.world.run().await;
        self.notes_questions().await;
    }

    /// An hour has its own number of claims.
    fn next_hour(&self) {
        self.world.forge.advance(std::time::Duration::from_secs(3_601));
    }

    /// The number of the issue's pull request.
    async fn pull(&self, issue: u64) -> u64 {
        let pulls = self.world.pulls().await;
        let fixes = format!("Fixes #{issue}\n");
        let own = pulls.iter().find(|pull| pull["body"].as_str().is_some_and(|body| body.starts_with(&fixes)));
        own.unwrap_or_else(|| panic!("#{issue}: {:?}", self.world.failures()))["number"].as_u64().unwrap()
    }

    /// A person reviews the issue's pull request: with words, and with others on its first line.
    async fn reviews(&self, login: &str, issue: u64, kind: (&str, &str), line: Option<&str>) {
        self.world.forge.advance(std::time::Duration::from_secs(2));
        let path = format!("page-{issue}.txt");
        let on_line = |body| json!({"path": path, "line": 1, "side": "RIGHT", "body": body});
        let lines: Vec<Value> = line.map(on_line).into_iter().collect();
        let review = json!({"event": kind.0, "body": kind.1, "comments": lines});
        let pull = self.pull(issue).await;
        self.world.call(login, Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    }
}

#[tokio::test]
async fn a_day_of_thirty_issues_and_five_people_leaves_nobody_without_an_answer() {
    let mut day = Day::begins().await;
    let mut gate = Gate::of(&day.world);
    day.morning(&mut gate).await;
    day.afternoon(&mut gate).await;
    day.evening().await;
    let (told, pulls) = (day.told().await, day.pulls().await);
    {
        let _redacted = crate::harness::redacted();
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"(hob:reply |hob:answer (?:review|line|comment)-)\d+", "$1[id]");
        // Of the same base's checks the second one's result is remembered.
        settings.add_filter("passed earlier", "passed");
        for (pull, issue) in pulls {
            settings.add_filter(
                &format!("(#\u{200b}?|pull/|Pull request |hob verify ){pull}\\b"),
                format!("$1[of {issue}]"),
            );
        }
        let _settings = settings.bind_to_scope();
        insta::assert_snapshot!("simulated_day", told);
    }
    day.everything_was_heard().await;
    day.nobody_was_asked_twice().await;
    day.nothing_is_stuck().await;
    day.world.finish().await;
}
