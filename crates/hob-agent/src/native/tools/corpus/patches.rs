//! The ways to spoil a change that is made with `apply_patch`.

#![expect(clippy::too_many_lines, reason = "the ways are a table")]

use super::{Change, Must, crlf, curly, each_line, indented, patch};

fn hunk(old: &str, new: &str, (before, after): (&str, &str)) -> (String, usize, usize) {
    let context = |text: &str| each_line(text, |line| format!(" {line}"));
    let body = context(before)
        + &each_line(old, |line| format!("-{line}"))
        + &each_line(new, |line| format!("+{line}"))
        + &context(after);
    let lines = |text: &str| text.lines().count();
    (body, lines(before) + lines(old) + lines(after), lines(before) + lines(new) + lines(after))
}

/// The ways: name, arguments, file, intended file, and required result.
pub(super) fn patches(change: &Change) -> Vec<(&'static str, String, String, String, Must)> {
    let Change { before, old, new, after, .. } = change;
    let around = |lines: &str| format!("{before}{lines}{after}");
    let (file, meant) = (around(old), around(new));
    let (body, was, is) = hunk(old, new, (before, after));
    let unified = |header: &str, body: &str| patch(&format!("--- a/f\n+++ b/f\n@@ {header} @@\n{body}"));
    let envelope = |body: &str| patch(&format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch"));
    let right = format!("-1,{was} +1,{is}");
    let bare = body.lines().filter(|line| *line != " ").map(|line| format!("{line}\n")).collect::<String>();
    let empty = each_line(&body, |line| if line == " " { String::new() } else { line.to_owned() });
    let deeper = |text: &str| indented(text, "    ");
    vec![
        ("unified", unified(&right, &body), file.clone(), meant.clone(), Must::Apply),
        (
            "unified, counts too small",
            unified(&format!("-1,{} +1,{}", was - 2, is - 2), &body),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        ("unified, counts of one line", unified("-1 +1", &body), file.clone(), meant.clone(), Must::Apply),
        (
            "unified, counts too large",
            unified(&format!("-1,{} +1,{}", was + 3, is + 3), &body),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        ("unified, shifted", unified(&format!("-41,{was} +41,{is}"), &body), file.clone(), meant.clone(), Must::Apply),
        (
            "unified, empty context lines without a blank",
            unified(&right, &empty),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        ("unified, empty context lines left out", unified(&right, &bare), file.clone(), meant.clone(), Must::Either),
        ("unified, a CRLF file", unified(&right, &body), crlf(&file), crlf(&meant), Must::Apply),
        (
            "unified, a CRLF diff",
            patch(&crlf(&format!("--- a/f\n+++ b/f\n@@ {right} @@\n{body}"))),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        ("unified, a deeper file", unified(&right, &body), deeper(&file), deeper(&meant), Must::Apply),
        (
            "unified, without a/ and b/",
            patch(&format!("--- f\n+++ f\n@@ {right} @@\n{body}")),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        (
            "unified, with times",
            patch(&format!("--- a/f\t2026-01-01\n+++ b/f\t2026-01-01\n@@ {right} @@\n{body}")),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        (
            "unified, in a fence",
            patch(&format!("```diff\n--- a/f\n+++ b/f\n@@ {right} @@\n{body}```\n")),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        (
            "unified, of a mail",
            unified(&right, &format!("{body}-- \n2.40.1\n")),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        (
            "unified, no header of the hunk",
            patch(&format!("--- a/f\n+++ b/f\n{body}")),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        ("unified, cut", unified(&right, &body[..body.len() / 2]), file.clone(), meant.clone(), Must::Refuse),
        (
            "unified, two places",
            unified("-90 +90", &hunk(old, new, ("", "")).0),
            around(&format!("{old}{old}")),
            around(&format!("{new}{old}")),
            Must::Refuse,
        ),
        ("envelope", envelope(&body), file.clone(), meant.clone(), Must::Apply),
        ("envelope, a CRLF file", envelope(&body), crlf(&file), crlf(&meant), Must::Apply),
        ("envelope, empty context lines without a blank", envelope(&empty), file.clone(), meant.clone(), Must::Apply),
        ("envelope, typographic quotes", envelope(&curly(&body)), file.clone(), meant.clone(), Must::Either),
        ("envelope, a deeper file", envelope(&body), deeper(&file), deeper(&meant), Must::Apply),
        (
            "envelope, without an end",
            patch(&format!("*** Begin Patch\n*** Update File: f\n@@\n{body}")),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "envelope, without blanks before the context",
            envelope(&each_line(&body, |line| line.strip_prefix(' ').unwrap_or(line).to_owned())),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        (
            "envelope, as a new file",
            patch(&format!(
                "*** Begin Patch\n*** Add File: f\n{}*** End Patch",
                each_line(&meant, |line| format!("+{line}"))
            )),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "envelope, another file",
            envelope(&body).replace("File: f", "File: g"),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "envelope, a file without an end of line",
            envelope(&hunk(old, new, (before, "")).0),
            format!("{before}{}", old.trim_end()),
            format!("{before}{}", new.trim_end()),
            Must::Apply,
        ),
        (
            "a diff that ends a file without a line end",
            unified(&format!("-1,{was} +1,{is}"), &format!("{body}\\ No newline at end of file\n")),
            file,
            meant.trim_end().to_owned(),
            Must::Apply,
        ),
    ]
}
