//! A TOML error as one sentence.

/// The line and what is wrong there: the library's own words span several lines and show the text again.
pub(crate) fn toml_sentence(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', ", ");
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    }
}
