//! Checks the settings of MCP servers.

use crate::{McpSettings, SettingsError, may_pass, settings_error::hold, webhook::address};

/// The longest name of a server: it is part of its tools' names, which models only accept if they are short.
const NAME_MAX: usize = 20;

/// Refuses settings of the server `name` that make no sense.
///
/// # Errors
/// [`SettingsError::Senseless`] for the first one.
pub(super) fn check(name: &str, server: &McpSettings) -> Result<(), SettingsError> {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let is_name = plain && name.len() <= NAME_MAX && name.starts_with(|c: char| c.is_ascii_lowercase());
    hold(is_name, "mcp", name, "a name has a-z, 0-9 and `-`, a letter first, and at most 20 characters")?;
    let key = |key: &str| format!("mcp.{name}.{key}");
    let shown = |list: &[String]| list.join(" ");
    match &server.url {
        Some(url) => {
            let command = &server.command;
            let allowed = "a server with a `url` is not started here: remove one of the two";
            hold(command.is_empty(), &key("command"), shown(command), allowed)?;
            drop(address(url, &key("url"))?);
            for (list, of) in [(&server.env, "env"), (&server.hosts, "hosts")] {
                hold(list.is_empty(), &key(of), shown(list), "only a server with a `command` has it: remove it")?;
            }
        }
        None => {
            let program = server.command.first().map_or("", String::as_str);
            let allowed = "write `command` for a server on this machine, or `url` for one over HTTP";
            hold(!program.trim().is_empty(), &key("command"), program, allowed)?;
            let token = server.token.as_deref();
            let allowed = "only a server with a `url` has it: pass the variable on by `env`";
            hold(token.is_none(), &key("token"), token.unwrap_or_default(), allowed)?;
        }
    }
    let variables = server.env.iter().map(|name| ("env", name)).chain(server.token.iter().map(|name| ("token", name)));
    for (of, variable) in variables {
        let allowed = "write the name of a variable, and none that opens the forge or is a setting of Hob's";
        hold(may_pass(variable), &key(of), variable, allowed)?;
    }
    let timeout = humantime::format_duration(server.timeout);
    hold(!server.timeout.is_zero(), &key("timeout"), timeout, "write more than 0s")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{Impact, Settings};

    fn load(file: &str) -> Result<Settings, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hob.toml");
        std::fs::write(&path, file).unwrap();
        Settings::load(Some(&path), HashMap::new(), &[])
    }

    #[test]
    fn a_server_says_what_each_of_its_tools_may_do() {
        let settings = load(
            "[mcp.docs]\ncommand = ['docs', '--stdio']\nimpact = 'medium'\nallow = ['find', 'listAll']\n\
             [mcp.docs.tools]\nlistAll = 'low'\n[mcp.far]\nurl = 'https://example.org/mcp'",
        )
        .unwrap();
        let (docs, far) = (&settings.mcp["docs"], &settings.mcp["far"]);
        assert_eq!([docs.impact_of("listAll"), docs.impact_of("find")], [Impact::Low, Impact::Medium]);
        assert_eq!([docs.allows("find"), docs.allows("drop"), far.allows("drop")], [true, false, true]);
        assert_eq!(far.impact_of("anything"), Impact::High);
    }

    #[test]
    fn a_server_that_makes_no_sense_is_refused_with_what_to_write() {
        for (file, says) in [
            ("[mcp.a]", "`mcp.a.command` cannot be used: it is ``; write `command` for a server on this machine"),
            ("[mcp.a]\ncommand = ['']", "`mcp.a.command`"),
            ("[mcp.a]\ncommand = ['x']\nurl = 'https://example.org'", "remove one of the two"),
            (
                "[mcp.a]\nurl = 'http://example.org/mcp'",
                "`mcp.a.url` cannot be used: it is `http://example.org`; write",
            ),
            ("[mcp.a]\nurl = 'nowhere'", "`mcp.a.url` cannot be used: it is `no address`"),
            ("[mcp.a]\nurl = 'https://name:word@example.org'", "it is `https://example.org`"),
            ("[mcp.a]\nurl = 'https://example.org'\nenv = ['X']", "`mcp.a.env`"),
            ("[mcp.a]\nurl = 'https://example.org'\nhosts = ['x.org']", "`mcp.a.hosts`"),
            ("[mcp.a]\nurl = 'https://example.org'\ntoken = 'GITHUB_TOKEN'", "none that opens the forge"),
            ("[mcp.a]\ncommand = ['x']\nenv = ['GH_TOKEN']", "none that opens the forge"),
            ("[mcp.a]\ncommand = ['x']\ntoken = 'X'", "pass the variable on by `env`"),
            ("[mcp.a]\ncommand = ['x']\ntimeout = '0s'", "`mcp.a.timeout` cannot be used: it is `0s`"),
            ("[mcp.a]\ncommand = ['x']\ncomand = ['y']", "unknown field `comand`"),
            ("[mcp.a]\ncommand = ['x']\n[mcp.a.tools]\nfind = 'lwo'", "lwo"),
            ("[mcp.a_b]\ncommand = ['x']", "a name has a-z"),
            ("[mcp.a-name-that-is-too-long]\ncommand = ['x']", "at most 20 characters"),
            ("[tools.mcp_x]\ncommand = ['x']", "those of MCP servers' tools"),
        ] {
            let error = load(file).expect_err(file).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
