//! Names and lines: listing, patterns of names, searching.

use crate::native::tools::foreign::{
    files::filtering,
    given::{Given, Unfit},
};

/// Names of the path of a folder.
const FOLDER: [&str; 6] = ["path", "dir_path", "directory", "target_directory", "dir", "folder"];

/// Levels of folders that are all of them.
const ALL_LEVELS: u64 = 100;

/// `list`.
pub(super) fn list(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("path", &FOLDER);
    given.pass_number("depth", &["depth"])?;
    match given.flag(&["recursive"])? {
        Some(_) if given.sets("depth") => return Err(Unfit::new("recursive", "there is a `depth`, too")),
        Some(recursive) => given.set("depth", if recursive { ALL_LEVELS } else { 1 }),
        None => {}
    }
    names(given)?;
    if let Some(ignore) = given.texts(&["ignore"])? {
        given.set("exclude", ignore);
    }
    Ok("list")
}

/// `list` by a pattern.
pub(super) fn glob(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("path", &FOLDER);
    given.pass("glob", &["pattern", "glob_pattern", "glob"]);
    if !given.sets("glob") {
        return Err(Unfit::new("pattern", "it is missing"));
    }
    if let Some(sensitive) = given.flag(&["case_sensitive"])? {
        given.set("ignore_case", !sensitive);
    }
    names(given)?;
    Ok("list")
}

fn names(given: &mut Given) -> Result<(), Unfit> {
    given.drop_words(&["description", "explanation"]);
    filtering(given)?;
    given.pass("glob", &["glob"]);
    given.pass_number("skip", &["skip"])?;
    // A place in the list, from 1.
    if let Some(offset) = given.number(&["offset"])? {
        given.set("skip", offset.saturating_sub(1));
    }
    given.pass_number("max", &["limit", "max"])
}

/// `search`.
pub(super) fn search(given: &mut Given, any_case: bool) -> Result<&'static str, Unfit> {
    given.pass("pattern", &["pattern", "query", "regex"]);
    given.pass("path", &FOLDER);
    given.pass("glob", &["glob", "include", "include_pattern", "file_pattern"]);
    given.drop_words(&["description", "explanation"]);
    filtering(given)?;
    given.pass_flag("ignore_case", &["ignore_case", "-i", "case_insensitive"])?;
    match given.flag(&["case_sensitive"])? {
        Some(_) if given.sets("ignore_case") => return Err(Unfit::new("case_sensitive", "it is given twice")),
        Some(sensitive) => given.set("ignore_case", !sensitive),
        None if any_case && !given.sets("ignore_case") => given.set("ignore_case", true),
        None => {}
    }
    given.pass_flag("literal", &["literal", "fixed_strings"])?;
    given.pass_flag("multiline", &["multiline"])?;
    given.pass_flag("numbers", &["numbers", "-n"])?;
    given.pass("type", &["type", "file_type"]);
    given.pass("exclude_lines", &["exclude_pattern"]);
    let around = given.number(&["-C", "context"])?;
    for (own, names) in [("before", ["-B", "before"]), ("after", ["-A", "after"])] {
        if let Some(lines) = given.number(&names)?.or(around) {
            given.set(own, lines);
        }
    }
    // Without a limit is the own limit.
    if let Some(max) = given.number(&["max", "head_limit", "limit", "total_max_matches"])?.filter(|max| *max > 0) {
        given.set("max", max);
    }
    given.pass_number("skip", &["skip", "offset"])?;
    given.pass_number("per_file", &["per_file", "max_matches_per_file"])?;
    if given.flag(&["names_only"])? == Some(true) {
        given.set("output", "files");
    }
    if let Some((name, mode)) = given.take(&["output_mode", "output"]) {
        given.set(
            "output",
            match mode.as_str() {
                Some("content") => "content",
                Some("files_with_matches" | "files") => "files",
                Some("count") => "count",
                _ => return Err(Unfit::new(name, "`content`, `files_with_matches` or `count` is expected")),
            },
        );
    }
    Ok("search")
}
