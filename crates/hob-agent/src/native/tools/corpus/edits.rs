//! The ways to spoil a change that is made with `edit`.

#![expect(clippy::too_many_lines, reason = "the ways are a table")]

use super::{Change, Must, crlf, curly, each_line, edit, indented, kept, tabs};

/// The ways: name, arguments, file, intended file, and required result.
pub(super) fn edits(change: &Change) -> Vec<(&'static str, String, String, String, Must)> {
    let Change { before, old, new, after, .. } = change;
    let around = |lines: &str| format!("{before}{lines}{after}");
    let (file, meant) = (around(old), around(new));
    let spoiled = |by: &dyn Fn(&str) -> String| edit(&each_line(old, by), &each_line(new, by));
    let blanks = each_line(old, |line| format!("{line}  "));
    let (last, rest) = old.trim_end().split_once('\n').map_or((*old, ""), |(first, rest)| (first, rest));
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let mut cases = vec![
        ("exact", edit(old, new), file.clone(), meant.clone(), Must::Apply),
        ("a CRLF file", edit(old, new), crlf(&file), crlf(&meant), Must::Apply),
        ("CRLF from the model", edit(&crlf(old), &crlf(new)), file.clone(), meant.clone(), Must::Apply),
        ("CRLF on both sides", edit(&crlf(old), &crlf(new)), crlf(&file), crlf(&meant), Must::Apply),
        (
            "blanks at the model's line ends",
            spoiled(&|line| format!("{line} ")),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        ("blanks at the old line ends", edit(&blanks, new), file.clone(), meant.clone(), Must::Either),
        (
            "blanks at the file's line ends",
            edit(old, new),
            around(&blanks),
            around(&kept(change, &blanks)),
            Must::Apply,
        ),
        ("typographic quotes of the model", edit(&curly(old), &curly(new)), file.clone(), meant.clone(), Must::Apply),
        (
            "typographic quotes of the file",
            edit(old, new),
            around(&curly(old)),
            around(&kept(change, &curly(old))),
            Must::Either,
        ),
        (
            "a no-break space",
            edit(&old.replacen(' ', "\u{a0}", 1), &new.replacen(' ', "\u{a0}", 1)),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        (
            "a file that is deeper",
            edit(old, new),
            around(&indented(old, "    ")),
            around(&indented(new, "    ")),
            Must::Apply,
        ),
        (
            "a file that is deeper by a tab",
            edit(old, new),
            around(&indented(old, "\t")),
            around(&indented(new, "\t")),
            Must::Apply,
        ),
        (
            "a model that is deeper",
            edit(&indented(old, "  "), &indented(new, "  ")),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        (
            "a first line without its indentation",
            edit(old.trim_start(), new.trim_start()),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        ("two places", edit(old, new), around(&format!("{old}{old}")), around(&format!("{new}{new}")), Must::Refuse),
        (
            "two places, both meant",
            serde_json::json!({ "path": "f", "old": old, "new": new, "replace_all": true }).to_string(),
            around(&format!("{old}{old}")),
            around(&format!("{new}{new}")),
            Must::Apply,
        ),
        (
            "no line end at the end of the file",
            edit(old.trim_end(), new.trim_end()),
            format!("{before}{}", old.trim_end()),
            format!("{before}{}", new.trim_end()),
            Must::Apply,
        ),
        (
            "a line end that the file lacks",
            edit(old, new),
            format!("{before}{}", old.trim_end()),
            format!("{before}{}", new.trim_end()),
            Must::Either,
        ),
        (
            "only one line end",
            edit(old, new.trim_end()),
            format!("{before}{}  \n{after}", old.trim_end()),
            meant.clone(),
            Must::Either,
        ),
        (
            "a line that is missing",
            edit(&format!("{last}\n{}", rest.split_once('\n').map_or("", |(_, rest)| rest)), new),
            file.clone(),
            meant.clone(),
            Must::Either,
        ),
        ("letters of another case", edit(&old.to_uppercase(), new), file.clone(), meant.clone(), Must::Refuse),
        (
            "a fence around it",
            edit(&format!("```\n{old}```"), &format!("```\n{new}```")),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "numbers of lines",
            edit(&each_line(old, |line| format!("  12\t{line}")), new),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "escaped line ends",
            edit(&old.replace('\n', "\\n"), &new.replace('\n', "\\n")),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        ("nothing old", edit("", new), file.clone(), meant.clone(), Must::Refuse),
        ("the same twice", edit(old, old), file.clone(), meant.clone(), Must::Refuse),
        (
            "other names of arguments",
            serde_json::json!({ "file_path": "f", "old_string": old, "new_string": new }).to_string(),
            file.clone(),
            meant.clone(),
            Must::Apply,
        ),
        ("the same object twice", edit(old, new).repeat(2), file.clone(), meant.clone(), Must::Apply),
        ("two objects", edit(old, new) + &edit(new, old), file.clone(), meant.clone(), Must::Refuse),
        ("a comma too many", edit(old, new).replace("\"}", "\", }"), file.clone(), meant.clone(), Must::Either),
        ("raw line ends in JSON", edit(old, new).replace("\\n", "\n"), file.clone(), meant.clone(), Must::Apply),
        (
            "cut in the middle",
            edit(old, new)[..edit(old, new).len() / 2].to_owned(),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "cut before its end",
            edit(old, new)[..edit(old, new).len() - 1].to_owned(),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        ("no object", format!("[{}]", edit(old, new)), file.clone(), meant.clone(), Must::Refuse),
        ("words around it", format!("Here it is: {}", edit(old, new)), file.clone(), meant.clone(), Must::Refuse),
        (
            "a number as text",
            serde_json::json!({ "path": "f", "old": 1, "new": new }).to_string(),
            file.clone(),
            meant.clone(),
            Must::Refuse,
        ),
        (
            "a first line only",
            edit(&(first(old) + "\n"), &(first(new) + "\n")),
            file.clone(),
            file.replacen(&first(old), &first(new), 1),
            Must::Either,
        ),
    ];
    for width in [2, 4] {
        if let (Some(there), Some(then)) = (tabs(old, width), tabs(new, width))
            && there != *old
        {
            cases.push(("tabs for the model's blanks", edit(old, new), around(&there), around(&then), Must::Apply));
        }
    }
    cases
}
