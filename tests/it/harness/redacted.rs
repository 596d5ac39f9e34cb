//! What differs between two runs, taken out of snapshots.

/// While this is held, snapshots show commits, ids, dates, durations and the forge's address as a placeholder.
pub(crate) fn redacted() -> impl Drop {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[commit]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[digest]");
    settings.add_filter(r"`[0-9a-f]{7,12}`", "`[commit]`");
    settings.add_filter(
        r"(issuecomment-|pullrequestreview-|discussion_r|hob:question (?:closed )?|hob:report )\d+",
        "$1[id]",
    );
    settings.add_filter(r"\d{4}-\d\d-\d\dT? ?\d\d:\d\d(:\d\d)?( UTC|Z)?", "[time]");
    // Not told below a second.
    settings.add_filter(r" · spent (\d+ min )?\d+ s ·", " ·");
    settings.add_filter(r"\b(\d+ min )?\d+(\.\d+)? (ms|s|min)\b", "[duration]");
    settings.add_filter("\u{200b}", "<zwsp>");
    settings.add_filter(r"http://127\.0\.0\.1:\d+", "[forge]");
    settings.bind_to_scope()
}
