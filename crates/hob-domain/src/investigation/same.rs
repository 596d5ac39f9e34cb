//! When two sentences of a record say the same; a repeated question or hypothesis gets no new number.

/// Whether two sentences have the same words, ignoring case, blanks and punctuation.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    words(one).eq(words(other))
}

/// The words of a sentence in lower case, only letters and digits.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_punctuation_make_no_difference() {
        for (one, other, same) in [
            ("The disk is full", " the  disk\nIS full.", true),
            ("Who renews the key?", "Who renews the key", true),
            ("Die Straße ist naß", "DIE STRASSE IST NASS", false),
            ("1.4.2 is broken", "1.4.3 is broken", false),
            ("The disk is full", "The disk is not full", false),
            ("?", "!", true),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
