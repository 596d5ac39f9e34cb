//! The issues and pull requests that a text names, as the forge links them: `#3`.

use crate::IssueNumber;

/// The numbers in a text, in order and without duplicates. Those of other repositories, such as `a/b#3`, are left out.
pub fn named_numbers(text: &str) -> Vec<IssueNumber> {
    let mut found: Vec<IssueNumber> = Vec::new();
    for (at, _) in text.match_indices('#') {
        let (before, after) = (text[..at].chars().next_back(), &text[at + 1..]);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let is_apart =
            |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '&' | '#'));
        let is_whole = is_apart(before) && after[end..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let number = after[..end].parse().ok().filter(|number| is_whole && *number > 0).map(IssueNumber);
        found.extend(number.filter(|number| !found.contains(number)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_this_repository_are_found() {
        for (text, numbers) in [
            ("do it like in #3", vec![3]),
            ("(#3), #12. #3 again; **#4**", vec![3, 12, 4]),
            ("a/b#3 x#4 ##5 #6a #0 # 7 &#8; #99999999999999999999 heading #", vec![]),
        ] {
            let numbers: Vec<_> = numbers.into_iter().map(IssueNumber).collect();
            assert_eq!(named_numbers(text), numbers, "{text}");
        }
    }
}
