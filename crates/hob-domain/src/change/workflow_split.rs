//! Splits Hob's workflow with a schedule beside its other triggers into two files. GitHub disables a workflow that has
//! a schedule, with all its triggers, once a public repository has had no activity for 60 days.
//!
//! # Flow
//! The file is read as YAML, to see whether it is understood → it is edited by whole lines, so that all others stay
//! unchanged → the two results are read as YAML and compared with the expected trees.

use std::ops::Range;

use hob_text::yaml::{self, Node, Value};

/// The two files that run Hob in GitHub Actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflows {
    /// The workflow that labels and comments start.
    pub hob: String,
    /// The workflow that a schedule starts.
    pub schedule: String,
}

/// Why a workflow with a schedule is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSplit(&'static str);

/// Splits a workflow that has a schedule beside `issues` and uses Hob's reusable one. `None` if it is not such a
/// workflow. New parts come from the files that are `proposed` to a repository without workflows.
///
/// # Errors
/// [`NotSplit`] if it is such a workflow but cannot be changed safely.
pub fn split_workflow(old: &str, proposed: &Workflows) -> Result<Option<Workflows>, NotSplit> {
    let has = |part: &str| old.lines().any(|line| !line.trim_start().starts_with('#') && line.contains(part));
    if !has("/.github/workflows/work.yml@") || !has("cron:") {
        return Ok(None);
    }
    let tree = bare(old).ok_or(NotSplit("it is not plain YAML"))?;
    let is_trigger = |name: &str| tree.get("on").is_some_and(|triggers| triggers.get(name).is_some());
    if !is_trigger("schedule") || !is_trigger("issues") {
        return Ok(None);
    }
    if old.contains('\r') {
        return Err(NotSplit("its lines end as on Windows"));
    }
    if is_trigger("issue_comment") {
        return Err(NotSplit("comments start it already"));
    }
    let condition = condition_of(&tree)?;
    let old = if old.ends_with('\n') { old.to_owned() } else { format!("{old}\n") };
    let split = edited(&old, &condition, proposed);
    let right = expected(tree, &condition, proposed);
    let is_right = |split: &Workflows| right.is_some() && bare(&split.hob).zip(bare(&split.schedule)) == right;
    split.filter(is_right).map(Some).ok_or(NotSplit("its layout is not the proposed one"))
}

/// The condition of the one job, if the workflow is understood.
fn condition_of(tree: &Node) -> Result<String, NotSplit> {
    let Some(Value::Map(jobs)) = tree.get("jobs").map(|jobs| &jobs.value) else {
        return Err(NotSplit("it has more than one job"));
    };
    let [(_, job)] = jobs.as_slice() else { return Err(NotSplit("it has more than one job")) };
    if has_reference(tree) {
        return Err(NotSplit("parts of it refer to others"));
    }
    let uses = job.get("uses").and_then(Node::text).unwrap_or_default();
    if !uses.contains("/.github/workflows/work.yml@") {
        return Err(NotSplit("its job does not use Hob's workflow"));
    }
    let condition = job.get("if").and_then(Node::text).map(str::trim);
    let condition = condition.ok_or(NotSplit("its job has no condition"))?;
    let inner = condition.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(condition);
    if inner.contains("${{") {
        return Err(NotSplit("its job's condition has several expressions"));
    }
    Ok(inner.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn has_reference(node: &Node) -> bool {
    match &node.value {
        Value::Other => true,
        Value::List(items) => items.iter().any(has_reference),
        Value::Map(entries) => entries.iter().any(|(_, node)| has_reference(node)),
        Value::Text(_) | Value::Nothing => false,
    }
}

/// The tree of a text without its lines and the order of its keys.
fn bare(text: &str) -> Option<Node> {
    fn without_lines(node: Node) -> Node {
        let value = match node.value {
            Value::List(items) => Value::List(items.into_iter().map(without_lines).collect()),
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.into_iter().map(|(key, node)| (key, without_lines(node))).collect();
                entries.sort_by(|one, other| one.0.cmp(&other.0));
                Value::Map(entries)
            }
            value @ (Value::Text(_) | Value::Nothing | Value::Other) => value,
        };
        Node { line: 0, value }
    }
    yaml::read(text).ok().map(without_lines)
}

/// The trees that the two files should have: nothing but triggers, condition and name may differ from the old file's.
fn expected(old: Node, condition: &str, proposed: &Workflows) -> Option<(Node, Node)> {
    fn put(map: &mut Node, key: &str, value: Option<Value>) -> Option<()> {
        let Value::Map(entries) = &mut map.value else { return None };
        entries.retain(|(name, _)| name != key);
        entries.extend(value.map(|value| (key.to_owned(), Node { line: 0, value })));
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        Some(())
    }
    fn entry<'n>(map: &'n mut Node, key: &str) -> Option<&'n mut Node> {
        let Value::Map(entries) = &mut map.value else { return None };
        entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
    }
    fn job(tree: &mut Node) -> Option<&mut Node> {
        let Value::Map(jobs) = &mut entry(tree, "jobs")?.value else { return None };
        jobs.first_mut().map(|(_, job)| job)
    }
    let (new, by_schedule) = (bare(&proposed.hob)?, bare(&proposed.schedule)?);
    let triggers = old.get("on")?;
    let dispatch = triggers.get("workflow_dispatch").map_or(Value::Nothing, |node| node.value.clone());
    let (mut hob, mut schedule) = (old.clone(), old.clone());
    let on = entry(&mut hob, "on")?;
    put(on, "schedule", None)?;
    put(on, "issue_comment", Some(new.get("on")?.get("issue_comment")?.value.clone()))?;
    put(on, "workflow_dispatch", Some(dispatch.clone()))?;
    let condition = format!("({condition}) && {}", Layout::new(&proposed.hob)?.answers()?);
    put(job(&mut hob)?, "if", Some(Value::Text(condition)))?;
    put(&mut schedule, "name", Some(by_schedule.get("name")?.value.clone()))?;
    put(&mut schedule, "on", Some(Value::Map(Vec::new())))?;
    let on = entry(&mut schedule, "on")?;
    put(on, "schedule", Some(triggers.get("schedule")?.value.clone()))?;
    put(on, "workflow_dispatch", Some(dispatch))?;
    put(job(&mut schedule)?, "if", None)?;
    Some((hob, schedule))
}

/// The lines of a key: comments directly above it, its own, and its value's.
#[derive(Debug, Clone)]
struct Entry {
    comments: Range<usize>,
    own: Range<usize>,
}

impl Entry {
    fn all(&self) -> Range<usize> {
        self.comments.start..self.own.end
    }
}

/// Where the lines of a workflow's parts are.
struct Layout<'t> {
    lines: Vec<&'t str>,
    on: Entry,
    /// The first line that is not a comment.
    first: usize,
    /// The keys of the one job.
    job: Range<usize>,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str) -> Option<Self> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = (0..lines.len()).find(|at| !is_remark(lines[*at]))?;
        let mut layout = Self { on: Entry { comments: 0..0, own: 0..0 }, job: 0..0, first, lines };
        let all = 0..layout.lines.len();
        layout.on = layout.entry(&all, "on")?;
        let jobs = layout.entry(&all, "jobs")?.own;
        let name = (jobs.start + 1..jobs.end).find(|at| !is_remark(layout.lines[*at]))?;
        layout.job = name + 1..jobs.end;
        Some(layout)
    }

    /// The indentation of the keys in these lines.
    fn indent(&self, within: &Range<usize>) -> Option<usize> {
        let first = within.clone().find(|at| !is_remark(self.lines[*at]))?;
        Some(indent_of(self.lines[first]))
    }

    /// The key of this name in these lines.
    fn entry(&self, within: &Range<usize>, key: &str) -> Option<Entry> {
        let indent = self.indent(within)?;
        let line_at = |at: usize| self.lines[at];
        let start = within.clone().find(|at| {
            let name = line_at(*at).split(':').next().unwrap_or_default();
            indent_of(name) == indent && name.trim().trim_matches(['"', '\'']) == key
        })?;
        let is_inside = |at: &usize| {
            let (line, depth) = (line_at(*at), indent_of(line_at(*at)));
            line.trim().is_empty() || depth > indent || depth == indent && line.trim_start().starts_with("- ")
        };
        let mut end = (start + 1..within.end).find(|at| !is_inside(at)).unwrap_or(within.end);
        while line_at(end - 1).trim().is_empty() {
            end -= 1;
        }
        let is_above = |at: &usize| line_at(*at).trim_start().starts_with('#') && indent_of(line_at(*at)) == indent;
        let above = (within.start..start).rev().take_while(is_above).count();
        Some(Entry { comments: start - above..start, own: start..end })
    }

    fn triggers(&self) -> Range<usize> {
        self.on.own.start + 1..self.on.own.end
    }

    fn trigger(&self, name: &str) -> Option<Entry> {
        self.entry(&self.triggers(), name)
    }

    fn text(&self, lines: Range<usize>) -> String {
        self.lines[lines].concat()
    }

    /// These lines with the indentation of the keys in `to`.
    fn moved(&self, lines: Range<usize>, from: &Range<usize>, to: usize) -> Option<String> {
        let (from, to) = (self.indent(from)?, " ".repeat(to));
        let each = self.lines[lines].iter().map(|line| line.get(from..).map(|rest| format!("{to}{rest}")));
        each.collect()
    }

    /// The part of the proposed condition that is about comments. The part about labels is on a separate line before
    /// it.
    fn answers(&self) -> Option<String> {
        let condition = self.entry(&self.job, "if")?.own;
        let lines = self.lines.get(condition.start + 2..condition.end)?;
        Some(lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "))
    }

    /// The text with some lines replaced, each at most once; an empty range marks an insertion.
    fn with(&self, mut edits: Vec<(Range<usize>, String)>) -> Option<String> {
        edits.sort_by_key(|(lines, _)| lines.start);
        let (mut text, mut at) = (String::new(), 0);
        for (lines, new) in edits {
            text += &self.lines.get(at..lines.start)?.concat();
            text += &new;
            at = lines.end;
        }
        Some(text + &self.lines.get(at..)?.concat())
    }
}

/// Whether a line is empty or a comment.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn edited(old: &str, condition: &str, proposed: &Workflows) -> Option<Workflows> {
    let (old, new, by_schedule) = (Layout::new(old)?, Layout::new(&proposed.hob)?, Layout::new(&proposed.schedule)?);
    let (indent, deep) = (old.indent(&old.triggers())?, old.indent(&old.job)?);
    let (schedule, issues) = (old.trigger("schedule")?, old.trigger("issues")?);
    let was = old.entry(&old.job, "if")?;

    let comments = new.moved(new.trigger("issue_comment")?.all(), &new.triggers(), indent)?;
    let bare_dispatch = format!("{}workflow_dispatch:\n", " ".repeat(indent));
    let dispatch = old.trigger("workflow_dispatch");
    let added = if dispatch.is_some() { "" } else { &bare_dispatch };
    let is = new.entry(&new.job, "if")?;
    let tail = new.moved(is.own.start + 2..is.own.end, &new.job, deep)?;
    let head = new.moved(is.all().start..is.own.start + 1, &new.job, deep)?;
    let fold = " ".repeat(deep + 2);
    let hob = old.with(vec![
        (schedule.all(), String::new()),
        (issues.own.end..issues.own.end, comments),
        (old.on.own.end..old.on.own.end, added.to_owned()),
        (was.own.clone(), format!("{head}{fold}({condition}) &&\n{tail}")),
    ])?;

    let top = by_schedule.text(0..by_schedule.entry(&(0..by_schedule.lines.len()), "name")?.own.end);
    let dispatch = dispatch.map_or(bare_dispatch, |entry| old.text(entry.all()));
    let mut edits =
        vec![(0..old.first, top), (old.triggers(), old.text(schedule.all()) + &dispatch), (was.all(), String::new())];
    if let Some(name) = old.entry(&(0..old.lines.len()), "name") {
        edits.push((name.all().start.max(old.first)..name.own.end, String::new()));
    }
    Some(Workflows { hob, schedule: old.with(edits)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of v0.1.0, without the sentence that says to copy it.
    const OLD: &str = r#"# Hob on GitHub Actions.
# Settings → Actions → General: allow Actions to create pull requests. Then give an issue the label `code`.
# Name your agent's model below, and put its key into the repository's secrets. A full commit id instead of the version pins everything.
name: hob
on:
  schedule:
    - cron: "17,47 * * * *"
  issues:
    types: [labeled]
permissions: {}
jobs:
  hob:
    if: github.event_name != 'issues' || github.event.label.name == 'code'
    uses: hob-worker/hob/.github/workflows/work.yml@v0.1.0
    permissions: { contents: write, issues: write, pull-requests: write }
    with: { settings: 'model.default = "anthropic/claude-sonnet-5-5"' }
    secrets: { anthropic-api-key: "${{ secrets.ANTHROPIC_API_KEY }}" }
"#;

    fn proposed() -> Workflows {
        Workflows {
            hob: include_str!("../../../../examples/workflow.yml").to_owned(),
            schedule: include_str!("../../../../examples/schedule.yml").to_owned(),
        }
    }

    fn split(old: &str) -> Workflows {
        split_workflow(old, &proposed()).unwrap().unwrap()
    }

    #[test]
    fn the_workflow_of_the_first_release_becomes_two_with_the_same_job() {
        let found = split(OLD);
        insta::assert_snapshot!(found.hob, @r#"
        # Hob on GitHub Actions.
        # Settings → Actions → General: allow Actions to create pull requests. Then give an issue the label `code`.
        # Name your agent's model below, and put its key into the repository's secrets. A full commit id instead of the version pins everything.
        name: hob
        on:
          issues:
            types: [labeled]
          # An answer on a blocked issue. It is safe here: the default branch's file runs, nothing of a pull request is checked out, and
          # Hob itself checks who the person is.
          issue_comment: # zizmor: ignore[dangerous-triggers]
            types: [created]
          workflow_dispatch:
        permissions: {}
        jobs:
          hob:
            if: >-
              (github.event_name != 'issues' || github.event.label.name == 'code') &&
              (github.event_name != 'issue_comment' || (!github.event.issue.pull_request &&
              contains(github.event.issue.labels.*.name, 'blocked') &&
              contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.comment.author_association)))
            uses: hob-worker/hob/.github/workflows/work.yml@v0.1.0
            permissions: { contents: write, issues: write, pull-requests: write }
            with: { settings: 'model.default = "anthropic/claude-sonnet-5-5"' }
            secrets: { anthropic-api-key: "${{ secrets.ANTHROPIC_API_KEY }}" }
        "#);
        insta::assert_snapshot!(found.schedule, @r#"
        # Hob on GitHub Actions, on a schedule. Copy this file to .github/workflows/hob-schedule.yml.
        # It is a file of its own because GitHub disables a workflow that has a schedule, and all its triggers, once a public repository
        # had no activity for 60 days. In a private one each run costs a minute at least: twice an hour is about 1,440 a month.
        name: hob-schedule
        on:
          schedule:
            - cron: "17,47 * * * *"
          workflow_dispatch:
        permissions: {}
        jobs:
          hob:
            uses: hob-worker/hob/.github/workflows/work.yml@v0.1.0
            permissions: { contents: write, issues: write, pull-requests: write }
            with: { settings: 'model.default = "anthropic/claude-sonnet-5-5"' }
            secrets: { anthropic-api-key: "${{ secrets.ANTHROPIC_API_KEY }}" }
        "#);
    }

    /// Users' changes are kept in both files, byte for byte.
    #[test]
    fn what_a_user_wrote_stays_as_it_is() {
        let with = "    with: { settings: 'model.default = \"anthropic/claude-sonnet-5-5\"' }\n";
        let hosts = "    with:\n      # Ours.\n      settings: |\n        model.default = \"x/y\"\n\n        # if: and on: are words here.\n        \
                     sandbox.setup_hosts = [\"npm.example.org\"]\n      max-parallel: 2\n";
        let id = "0123456789abcdef0123456789abcdef01234567";
        for (what, by) in [
            (with, hosts),
            (
                "hob-worker/hob/.github/workflows/work.yml@v0.1.0",
                &format!("\"acme/hob/.github/workflows/work.yml@{id}\" # v0.1.0"),
            ),
            ("    secrets: ", "\n    # A key of the team's.\n    secrets: "),
            ("permissions: {}\n", "permissions: {}\nconcurrency:\n  group: hob\n"),
            ("    permissions: {", "    name: Hob's work\n    permissions: {"),
        ] {
            assert_eq!(OLD.matches(what).count(), 1, "{what}");
            let found = split(&OLD.replace(what, by));
            let plain = split(OLD);
            assert_eq!(found.hob, plain.hob.replace(what, by), "{by}");
            assert_eq!(found.schedule, plain.schedule.replace(what, by), "{by}");
        }
    }

    #[test]
    fn the_users_own_times_and_what_they_say_of_them_move_to_the_new_file() {
        let times = "  # At night, and\n  # on weekdays only.\n  schedule: # UTC\n  - cron: '5 1 * * 1-5' # one\n  # - cron: '5 2 * * *'\n\
                     \x20 - cron: 5 3 * * 1-5\n";
        let old = OLD.replace("  schedule:\n    - cron: \"17,47 * * * *\"\n", times);
        assert!(
            matches!(split_workflow(&old, &proposed()), Err(NotSplit(_))),
            "a comment within the list, at its keys"
        );
        let times = times.replace("  # - cron: '5 2 * * *'\n", "");
        let old = OLD.replace("  schedule:\n    - cron: \"17,47 * * * *\"\n", &times);
        let found = split(&old);
        assert_eq!(found.hob, split(OLD).hob);
        assert!(
            found.schedule.contains(&format!("on:\n{times}  workflow_dispatch:\npermissions: {{}}\n")),
            "{}",
            found.schedule
        );
    }

    #[test]
    fn a_condition_of_the_users_is_kept_and_answers_are_added_to_it() {
        let plain = "github.event_name != 'issues' || github.event.label.name == 'code'";
        let own = "vars.HOB != '' && (github.event_name != 'issues' || github.event.label.name == 'hob')";
        for written in [
            own.to_owned(),
            format!("${{{{ {own} }}}}"),
            format!("\"{own}\" # ours"),
            format!(">-\n      {}", own.replace("&& ", "&&\n      ")),
        ] {
            let found = split(&OLD.replace(plain, &written));
            assert!(
                found
                    .hob
                    .contains(&format!("    if: >-\n      ({own}) &&\n      (github.event_name != 'issue_comment' ||")),
                "{}",
                found.hob
            );
            assert!(!found.schedule.contains("if:") && !found.schedule.contains("vars.HOB"), "{}", found.schedule);
        }
    }

    #[test]
    fn other_triggers_and_another_indent_stay() {
        let wide = OLD.replace("    ", "        ").replace("\n  ", "\n    ").replace("        - cron", "      - cron");
        let wide = wide
            .replace("    issues:", "    workflow_dispatch:\n        inputs: {}\n    repository_dispatch:\n    issues:")
            .replace("\non:", "\n'on':");
        let found = split(&wide);
        for part in [
            "\n    workflow_dispatch:\n        inputs: {}\n",
            "\n    repository_dispatch:\n",
            "\n    issue_comment: #",
            "\n      types: [created]\n",
        ] {
            assert!(found.hob.contains(part), "{part}: {}", found.hob);
        }
        let triggers = "'on':\n    schedule:\n        - cron: \"17,47 * * * *\"\n    workflow_dispatch:\n        inputs: {}\npermissions: {}\n";
        assert!(found.schedule.contains(triggers), "{}", found.schedule);
    }

    #[test]
    fn what_is_not_understood_is_refused_with_the_reason() {
        let second = format!("{OLD}  other:\n    runs-on: ubuntu-24.04\n    steps: [{{ run: 'true' }}]\n");
        let flow = OLD.replace(
            "on:\n  schedule:\n    - cron: \"17,47 * * * *\"\n  issues:\n    types: [labeled]\n",
            "on: { schedule: [{ cron: \"17,47 * * * *\" }], issues: { types: [labeled] } }\n",
        );
        let condition = "    if: github.event_name != 'issues' || github.event.label.name == 'code'\n";
        for (old, why) in [
            (second, "more than one job"),
            (flow, "its layout"),
            (OLD.replace("  issues:\n", "  issue_comment:\n  issues:\n"), "comments start it"),
            (
                OLD.replace("permissions: {}", "permissions: &none {}")
                    .replace("    permissions: {", "    env: *none\n    permissions: {"),
                "refer to others",
            ),
            (OLD.replace(condition, ""), "no condition"),
            (OLD.replace("github.event.label.name == 'code'", "${{ true }}"), "several expressions"),
            (OLD.replace('\n', "\r\n"), "Windows"),
            (OLD.replace("jobs:", "jobs: ["), "not plain YAML"),
            (format!("---\n{OLD}"), "its layout"),
            (
                OLD.replace("    uses: ", "    # uses: ")
                    .replace("    with:", "    name: /.github/workflows/work.yml@v1\n    with:"),
                "does not use",
            ),
        ] {
            let error = split_workflow(&old, &proposed()).expect_err(why).to_string();
            assert!(error.contains(why), "{why}: {error}\n{old}");
        }
    }

    #[test]
    fn other_workflows_and_those_that_were_split_are_left_alone() {
        let found = split(OLD);
        let example = proposed();
        for text in [
            &found.hob,
            &found.schedule,
            &example.hob,
            &example.schedule,
            "on: push\n",
            "",
            &OLD.replace("work.yml", "other.yml"),
        ] {
            assert_eq!(split_workflow(text, &example), Ok(None), "{text}");
        }
        for (what, by) in [("    - cron", "    # - cron"), ("  issues:\n", "  label:\n"), ("  schedule:", "  release:")]
        {
            assert_eq!(split_workflow(&OLD.replace(what, by), &example), Ok(None), "{by}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(at in 0..OLD.len(), put in r"[-a:#\[\]{}&*|>' \n]{0,20}", cut in 0..40_usize) {
            let (mut from, mut to) = (at, (at + cut).min(OLD.len()));
            while !OLD.is_char_boundary(from) { from -= 1; }
            while !OLD.is_char_boundary(to) { to += 1; }
            drop(split_workflow(&format!("{}{put}{}", &OLD[..from], &OLD[to..]), &proposed()));
        }
    }
}
