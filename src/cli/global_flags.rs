//! Repeatable global flags: every occurrence counts, before and after the subcommand.
//!
//! clap keeps only the occurrences on one side of the subcommand and silently drops the others.

use std::ffi::OsString;

/// The repeatable global flags, each of which takes one value.
const FLAGS: [&str; 2] = ["--repo", "--set"];

/// The command line with these flags moved to the front, in their order.
pub(super) fn global_flags_first(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut first: Vec<OsString> = args.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if text == "--" {
            rest.push(arg);
            break;
        }
        let joined = FLAGS.iter().any(|flag| text.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')));
        if FLAGS.contains(&text.as_ref()) {
            match args.next() {
                Some(value) => first.extend([arg, value]),
                None => rest.push(arg),
            }
        } else if joined {
            first.push(arg);
        } else {
            rest.push(arg);
        }
    }
    rest.extend(args);
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_on_both_sides_of_the_command_count() {
        for (given, expected) in [
            ("hob --set a=1 run --once --set b=2 --repo o/r", "hob --set a=1 --set b=2 --repo o/r run --once"),
            ("hob run --repo=o/r --repos x", "hob --repo=o/r run --repos x"),
            ("hob run -- --set a=1", "hob run -- --set a=1"),
            ("hob run --set", "hob run --set"),
            ("hob", "hob"),
        ] {
            let found = global_flags_first(given.split(' ').map(OsString::from));
            let found: Vec<_> = found.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(found.join(" "), expected);
        }
    }
}
