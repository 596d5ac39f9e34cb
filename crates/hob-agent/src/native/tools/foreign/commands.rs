//! Commands: Claude Code's `Bash`, codex' `shell` and `exec_command`, Gemini's `run_shell_command`, OpenHands'
//! `execute_bash`.

use serde_json::Value;

use crate::native::tools::{
    foreign::{
        given::{Given, Unfit, texts, whole},
        names::Clock,
    },
    lines::line_end,
};

/// Bytes of a token, about.
const TOKEN_BYTES: u64 = 4;
/// Words for a reader of the call.
const WORDS: [&str; 5] = ["description", "justification", "explanation", "security_risk", "thought"];
/// What a model has to do with a background command instead.
const NUMBER: &str = "the number of the job is expected, which its start named";
/// The keys that end a program at a terminal.
const INTERRUPT: &str = "\u{3}";
/// The greatest number of a job.
const JOBS_MAX: u64 = crate::native::tools::jobs::JOBS_MAX as u64;

/// A command.
pub(super) fn shell(given: &mut Given, clock: Clock) -> Result<&'static str, Unfit> {
    // `local_shell` wraps it all in an action.
    if given.has("action")
        && let Some((_, Value::Object(action))) = given.take(&["action"])
    {
        for (name, value) in action.into_iter().filter(|(_, value)| !value.is_null()) {
            match name.as_str() {
                "type" if value == "exec" => {}
                "env" if value.as_object().is_some_and(serde_json::Map::is_empty) => {}
                _ if given.has(&name) => return Err(Unfit::new(&name, "it is given twice")),
                _ => given.put_back(&name, value),
            }
        }
    }
    given.drop_words(&WORDS);
    let mut command = match given.take(&["command", "cmd", "input"]) {
        None => None,
        Some((_, Value::String(command))) => {
            Some(words_of(&command).map_or_else(|| bare(command), |words| line_of(&words)))
        }
        Some((name, list)) => match texts(&list) {
            Some(words) => Some(line_of(&words)),
            None => return Err(Unfit::new(name, "a text, or a list of texts, is expected")),
        },
    };
    if given.flag(&["restart", "reset"])? == Some(true) {
        if command.as_deref().is_some_and(|command| !command.trim().is_empty()) {
            return Err(Unfit::new("restart", "it goes without a command"));
        }
        command = Some("exit".to_owned());
    }
    if let Some((_, shell)) = given.take(&["shell"]) {
        let name = shell.as_str().and_then(|shell| shell.rsplit('/').next());
        if !matches!(name, Some("bash" | "sh")) {
            return Err(Unfit::new("shell", "commands run in bash here: name the other shell in the command"));
        }
    }
    if given.flag(&["login"])? == Some(true) {
        command = command.map(|command| format!("bash -lc {}", quoted(&command)));
    }
    if let Some(command) = command {
        given.set("command", command);
    }
    given.must_be("tty", false, "a command has no terminal here")?;
    given.must_be(
        "is_input",
        false,
        "a running command gets no input here: give it in the command, as `printf … |`",
    )?;
    given.must_be("requires_approval", false, "the rules here say what needs approval: leave it out")?;
    let fenced = "each command runs in the sandbox here: what needs more, `ask` for";
    given.must_be("dangerouslyDisableSandbox", false, fenced)?;
    given.must_be("with_escalated_permissions", false, fenced)?;
    if let Some((name, asked)) = given.take(&["sandbox_permissions"])
        && asked != "use_default"
    {
        return Err(Unfit::new(name, fenced));
    }
    given.pass_flag("background", &["background", "run_in_background", "is_background", "isBackground"])?;
    given.pass_flag("independent", &["independent"])?;
    given.pass("workdir", &["workdir", "cwd", "directory", "dir_path", "working_directory", "working_dir"]);
    given.pass_number("yield_ms", &["yield_time_ms"])?;
    if let Some(tokens) = given.number(&["max_output_tokens"])? {
        given.set("max_output", tokens.saturating_mul(TOKEN_BYTES));
    }
    if let Some(seconds) = seconds(given, clock)? {
        given.set("seconds", seconds);
    }
    Ok("shell")
}

/// The time limit in seconds.
fn seconds(given: &mut Given, clock: Clock) -> Result<Option<u64>, Unfit> {
    let of_ms = |ms: u64| ms.div_ceil(1_000);
    if let Some(seconds) = given.number(&["seconds", "timeout_seconds"])? {
        return Ok(Some(seconds));
    }
    if let Some(ms) = given.number(&["timeout_ms"])? {
        return Ok(Some(of_ms(ms)));
    }
    let Some((name, value)) = given.take(&["timeout"]) else { return Ok(None) };
    let up = value.as_f64().filter(|given| (0.0..1e15).contains(given)).map(|given| Value::from(given.ceil()));
    let Some(number) = whole(up.as_ref().unwrap_or(&value)) else {
        return Err(Unfit::new(name, "a number that is not negative is expected"));
    };
    Ok(Some(match clock {
        Clock::Seconds => number,
        Clock::Unsure if number < 1_000 => number,
        Clock::Milliseconds | Clock::Unsure => of_ms(number),
    }))
}

/// A command without the fence around all of it, the prompt before its one line, or the line ends of Windows: no shell has such a command.
fn bare(command: String) -> String {
    let command = if line_end(&command) == "\r\n" { command.replace("\r\n", "\n") } else { command };
    let whole = command.trim();
    let fenced =
        whole.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).and_then(|rest| rest.split_once('\n'));
    let inside = fenced
        .filter(|(language, inside)| ["", "bash", "sh", "shell"].contains(&language.trim()) && !inside.contains("```"));
    let prompted = whole.strip_prefix("$ ").filter(|line| !line.contains('\n'));
    inside.map(|(_, inside)| inside).or(prompted).map_or(command.clone(), str::to_owned)
}

/// The words of a list that is quoted once more: no shell has such a command.
fn words_of(command: &str) -> Option<Vec<String>> {
    let list = command.trim().strip_prefix('[').and_then(|_| serde_json::from_str::<Vec<String>>(command).ok());
    list.filter(|words| !words.is_empty())
}

/// The command line of a list of words: the script of a shell that is named only to run it.
fn line_of(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [shell, "-c" | "-lc", script] if matches!(shell.rsplit('/').next(), Some("bash" | "sh" | "zsh")) => {
            (*script).to_owned()
        }
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

/// A word as the shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '+');
    match word.is_empty() || !word.chars().all(is_plain) {
        true => hob_process::quoted(word),
        false => word.to_owned(),
    }
}

/// The output of a background command, by its number or by the file that has it.
pub(super) fn job_output(given: &mut Given) -> Result<&'static str, Unfit> {
    let Some((name, id)) = given.take(&["bash_id", "task_id", "shell_id", "job_id", "pid"]) else {
        return Err(Unfit::new("bash_id", NUMBER));
    };
    if let Some(number) = job(&id) {
        if given.has("filter") {
            return Err(Unfit::new("filter", "look into the file that the job's start named, with `shell`"));
        }
        given.set("id", number);
        match (given.flag(&["block"])?, given.number(&["timeout"])?) {
            (Some(true), Some(ms)) => given.set("seconds", ms.div_ceil(1_000)),
            (Some(true), None) => {}
            (Some(false) | None, _) => given.set("seconds", 0),
        }
        return Ok("job");
    }
    given.must_be("block", false, "a file is not waited for: give the job's number")?;
    let Some(file) = id.as_str().filter(|id| id.contains("/job-")) else { return Err(Unfit::new(name, NUMBER)) };
    let command = match given.text(&["filter"])? {
        Some(filter) => format!("grep -E -e {} {}", quoted(&filter), quoted(file)),
        None => format!("tail -c 30000 {}", quoted(file)),
    };
    given.set("command", command);
    Ok("shell")
}

/// Input of a running command; without any, a wait for it.
pub(super) fn input(given: &mut Given) -> Result<&'static str, Unfit> {
    let Some((name, id)) = given.take(&["session_id", "job_id"]) else { return Err(Unfit::new("session_id", NUMBER)) };
    given.set("id", job(&id).ok_or_else(|| Unfit::new(name, NUMBER))?);
    match given.text(&["chars", "input"])?.as_deref() {
        None | Some("") => {}
        Some(INTERRUPT) => given.set("end", true),
        Some(chars) => given.set("input", chars),
    }
    if let Some(ms) = given.number(&["yield_time_ms"])? {
        given.set("seconds", ms.div_ceil(1_000));
    }
    Ok("job")
}

/// The end of a background command, by its number or by that of its process.
pub(super) fn job_end(given: &mut Given) -> Result<&'static str, Unfit> {
    let Some((name, id)) = given.take(&["shell_id", "task_id", "job_id", "pid"]) else {
        return Err(Unfit::new("shell_id", NUMBER));
    };
    if let Some(number) = job(&id) {
        given.set("id", number);
        given.set("end", true);
        return Ok("job");
    }
    let Some(process) = whole(&id) else { return Err(Unfit::new(name, NUMBER)) };
    given.set("command", format!("kill {process}"));
    Ok("shell")
}

/// The number of a job: a greater one is that of a process.
fn job(id: &Value) -> Option<u64> {
    let bare = id.as_str().map(|text| text.trim().trim_start_matches(['b', 'a', 's', 'h', 'j', 'o', '_', ' ']));
    whole(&bare.map_or_else(|| id.clone(), Value::from)).filter(|id| (1..=JOBS_MAX).contains(id))
}
