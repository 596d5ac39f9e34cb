//! Flags that every command takes and that may be given many times: all of them count, on either side of the command.
//!
//! clap keeps, of a global flag, only what was given on one side, and drops the rest without a word.

use std::ffi::OsString;

/// The flags, each with one value.
const FLAGS: [&str; 2] = ["--repo", "--set"];

/// The command line with these flags before all else, in the order in which they were given.
pub(super) fn hoisted(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
        for (given, hoist) in [
            ("hob --set a=1 run --once --set b=2 --repo o/r", "hob --set a=1 --set b=2 --repo o/r run --once"),
            ("hob run --repo=o/r --repos x", "hob --repo=o/r run --repos x"),
            ("hob run -- --set a=1", "hob run -- --set a=1"),
            ("hob run --set", "hob run --set"),
            ("hob", "hob"),
        ] {
            let found = hoisted(given.split(' ').map(OsString::from));
            let found: Vec<_> = found.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(found.join(" "), hoist);
        }
    }
}
