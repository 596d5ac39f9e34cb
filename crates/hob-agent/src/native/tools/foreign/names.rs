//! The names of other agents' tools.

/// The unit of a time limit named `timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native::tools) enum Clock {
    Milliseconds,
    Seconds,
    /// Agents with a tool of this name differ: fewer than 1,000 are seconds.
    Unsure,
}

/// The tool that a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native::tools) enum Meaning {
    Shell(Clock),
    Read,
    ReadMany,
    List,
    /// `list` by a pattern of names.
    Glob,
    Search,
    /// `search` that by its definition looks at letters of both cases alike.
    SearchAnyCase,
    Edit,
    Write,
    /// One tool that views, creates and edits, by its argument `command`.
    Editor,
    Patch,
    Plan,
    Done,
    Ask,
    Think,
    JobOutput,
    JobInput,
    JobEnd,
}

/// The name without what servers leave at it: a namespace such as `functions.`, a mark such as `<|channel|>`, the number of the
/// call, or the name once more.
pub(in crate::native::tools) fn meant(name: &str) -> &str {
    let name = name.split_once("<|").map_or(name, |(name, _mark)| name).trim();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.rsplit_once(':').filter(|(_, last)| is_number(last)).map_or(name, |(name, _number)| name);
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or_default();
    match last.split_at_checked(last.len() / 2) {
        Some((once, again)) if once == again => once,
        Some(_) | None => last,
    }
}

/// The tool that another agent calls `name`.
pub(in crate::native::tools) fn tool_of(name: &str) -> Option<Meaning> {
    // Only their capitals tell these apart.
    match name {
        "Bash" => return Some(Meaning::Shell(Clock::Milliseconds)),
        "bash" => return Some(Meaning::Shell(Clock::Unsure)),
        _ => {}
    }
    let plain = name.to_ascii_lowercase().replace('-', "_");
    Some(match plain.as_str() {
        "run_shell_command" | "exec_command" | "shell_command" | "local_shell" | "container.exec" | "exec" => {
            Meaning::Shell(Clock::Milliseconds)
        }
        "execute_bash" | "terminal" => Meaning::Shell(Clock::Seconds),
        "shell"
        | "run_command"
        | "execute_command"
        | "run_terminal_cmd"
        | "run_terminal_command"
        | "run_in_terminal" => Meaning::Shell(Clock::Unsure),
        "read" | "read_file" | "view" | "view_file" | "view_image" | "open_file" => Meaning::Read,
        "read_many_files" => Meaning::ReadMany,
        "list" | "ls" | "list_dir" | "list_directory" | "list_files" => Meaning::List,
        "glob" | "find_files" => Meaning::Glob,
        "search" | "grep" | "grep_files" | "search_files" => Meaning::Search,
        "grep_search" | "search_file_content" => Meaning::SearchAnyCase,
        "edit"
        | "edit_file"
        | "search_replace"
        | "replace"
        | "str_replace"
        | "replace_string_in_file"
        | "multiedit"
        | "multi_edit" => Meaning::Edit,
        "write" | "write_file" | "create_file" | "write_to_file" => Meaning::Write,
        "str_replace_editor" | "str_replace_based_edit_tool" | "file_editor" => Meaning::Editor,
        "apply_patch" | "applypatch" => Meaning::Patch,
        "plan" | "update_plan" | "todowrite" | "todo_write" | "write_todos" | "task_tracker" => Meaning::Plan,
        "done" | "finish" | "submit" | "attempt_completion" | "complete_task" => Meaning::Done,
        "ask" | "ask_user" | "askuserquestion" => Meaning::Ask,
        "think" => Meaning::Think,
        "bashoutput" | "bash_output" | "taskoutput" | "task_output" | "read_background_output" => Meaning::JobOutput,
        "write_stdin" => Meaning::JobInput,
        "killshell" | "kill_shell" | "killbash" | "taskstop" | "task_stop" => Meaning::JobEnd,
        _ => return None,
    })
}
