//! The names that other programs give to tools, and Hob's own for the same.

/// Hob's tools of a name in a profile; a name that is not known stays as it is, for a tool of the settings.
pub(super) fn own_tools(name: &str) -> Vec<String> {
    // A name may have an argument, as `Bash(git log:*)`: what it narrows to is another program's rule.
    let plain = name.split('(').next().unwrap_or(name).trim();
    let own: &[&str] = match plain.to_ascii_lowercase().as_str() {
        "read" | "notebookread" | "view" => &["read", "list"],
        "search" | "grep" => &["search"],
        "glob" | "ls" | "list" => &["list"],
        "edit" | "multiedit" | "notebookedit" => &["edit", "write", "apply_patch"],
        "write" => &["write"],
        "execute" | "shell" | "bash" | "powershell" if plain == name.trim() => &["shell"],
        "web" | "webfetch" | "fetch" => &["fetch"],
        "todo" | "todowrite" => &["plan"],
        _other => return vec![plain.to_owned()],
    };
    own.iter().map(|tool| (*tool).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_names_are_known() {
        for (name, own) in [
            ("Read", "read list"),
            ("Grep", "search"),
            ("edit", "edit write apply_patch"),
            ("Bash", "shell"),
            ("apply_patch", "apply_patch"),
            ("mcp__jira__get", "mcp__jira__get"),
        ] {
            assert_eq!(own_tools(name).join(" "), own, "{name}");
        }
        assert_eq!(own_tools("Bash(git log:*)"), ["Bash"], "it does not allow the whole shell");
    }
}
