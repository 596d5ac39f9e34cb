//! The forms in which models write calls, each read at the beginning of a text.
//!
//! - Guarantees: a form is read whole or not at all. A frame may lack its end at the end of the reply, where its call is whole.
//! - Sources, read 2026-11: the chat templates of Qwen, GLM, Kimi, DeepSeek, MiniMax, Seed, Granite, Phi, Nemotron, Hunyuan, Command and
//!   InternLM, and vLLM's parsers of them ("Tool Calling"); Mistral's `[TOOL_CALLS]`, Llama's `<|python_tag|>`; OpenHands'
//!   `fn_call_converter.py`; Claude's `<invoke …>`; gpt-oss' channels (OpenAI's "Harmony response format"); Cline's tools by name;
//!   mini-swe-agent's blocks (`swebench_xml.yaml`, `swebench_backticks.yaml`).

use serde_json::{Map, Value, json};

use crate::native::{repair::only_object, speech::pythonic};

/// A call: its name and its arguments.
pub(super) type Call = (String, Map<String, Value>);

/// A mark before calls, and the mark behind them.
pub(super) struct Frame {
    /// Before them.
    pub(super) open: &'static str,
    close: &'static str,
}

const fn frame(open: &'static str, close: &'static str) -> Frame {
    Frame { open, close }
}

/// The frames around calls that are JSON, functions or pairs of keys and values.
pub(super) const FRAMES: [Frame; 19] = [
    frame("<tool_call>", "</tool_call>"),
    frame("<tool_calls>", "</tool_calls>"),
    frame("<tools>", "</tools>"),
    frame("<function_call>", "</function_call>"),
    frame("<tool_code>", "</tool_code>"),
    frame("<tool_use>", "</tool_use>"),
    frame("<TOOLCALL>", "</TOOLCALL>"),
    frame("<seed:tool_call>", "</seed:tool_call>"),
    frame("<minimax:tool_call>", "</minimax:tool_call>"),
    frame("<|tool_call|>", "<|/tool_call|>"),
    frame("<|tool_call_start|>", "<|tool_call_end|>"),
    frame("<|START_ACTION|>", "<|END_ACTION|>"),
    frame("<|action_start|><|plugin|>", "<|action_end|>"),
    frame("<|python_start|>", "<|python_end|>"),
    frame("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    frame("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),
    frame("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    frame("functools[", "]"),
    frame("```tool_code", "```"),
];
/// The frames of calls in Python's words.
const PYTHONIC: [&str; 3] = ["<|python_start|>", "<|tool_call_start|>", "```tool_code"];
/// The namespaces that Claude's tags may have: Anthropic's, and DeepSeek's of the same form.
pub(super) const NAMESPACES: [&str; 2] = ["antml:", "｜DSML｜"];
/// What is left of a channel's marks where a server takes them away.
pub(super) const ASSISTANT: &str = "assistantcommentary to=functions.";
/// Tools that Cline and its relatives have models call by a tag of the tool's name.
pub(super) const TAGGED: [&str; 7] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "list_files",
    "search_files",
    "ask_followup_question",
    "attempt_completion",
];

/// The first form of `text`, and the text behind it.
pub(super) fn one(text: &str) -> Option<(Vec<Call>, &str)> {
    if let Some((frame, rest)) = FRAMES.iter().find_map(|frame| Some((frame, text.strip_prefix(frame.open)?))) {
        return framed(frame, rest.trim_start());
    }
    if text.starts_with("<function=") || text.starts_with("<function name=") {
        // Some models forget the mark before it.
        let (calls, rest) = function(text)?;
        return Some((calls, rest.trim_start().strip_prefix("</tool_call>").unwrap_or(rest)));
    }
    if let Some(rest) = text.strip_prefix("[TOOL_CALLS]") {
        return mistral(rest.trim_start());
    }
    if let Some(rest) = text.strip_prefix("<|python_tag|>") {
        return several(rest, named, |rest| rest.trim_start().strip_prefix(';').map(str::trim_start));
    }
    if text.starts_with("<|start|>assistant") || text.starts_with("<|channel|>") || text.starts_with(ASSISTANT) {
        return channel(text);
    }
    if text.starts_with(KIMI) {
        return several(text, kimi, |rest| rest.trim_start().starts_with(KIMI).then(|| rest.trim_start()));
    }
    if let Some(rest) = text.strip_prefix("<mswea_bash_command>") {
        let (command, rest) = rest.split_once("</mswea_bash_command>")?;
        return Some((vec![shell(command)?], rest));
    }
    if let Some(rest) = text.strip_prefix("```mswea_bash_command\n") {
        let (command, rest) = rest.split_once("\n```")?;
        return Some((vec![shell(command)?], rest));
    }
    if let Some(name) = TAGGED.iter().find(|name| text.starts_with(&format!("<{name}>"))) {
        return tagged(name, text);
    }
    let rest = text.strip_prefix('<')?;
    let space = NAMESPACES.into_iter().find(|space| rest.starts_with(space)).unwrap_or_default();
    if let Some(rest) = rest[space.len()..].strip_prefix("function_calls>") {
        let (calls, rest) = invokes(rest.trim_start(), space)?;
        return Some((calls, rest.strip_prefix(&format!("</{space}function_calls>"))?));
    }
    let (call, rest) = invoke(text, space)?;
    Some((vec![call], rest))
}

/// The calls in a frame, and the text behind it.
fn framed<'t>(frame: &Frame, text: &'t str) -> Option<(Vec<Call>, &'t str)> {
    // A mark that is there twice.
    let text = text.strip_prefix(frame.open).unwrap_or(text).trim_start();
    let (calls, rest) = match text.chars().next()? {
        _ if frame.open == "functools[" => {
            several(text, named, |rest| rest.trim_start().strip_prefix(',').map(str::trim_start))
        }
        '[' | '{' => json_in(frame, text).or_else(|| python_in(frame, text)),
        _ if PYTHONIC.contains(&frame.open) => python_in(frame, text),
        _ if text.starts_with(KIMI) => {
            several(text, kimi, |rest| rest.trim_start().starts_with(KIMI).then(|| rest.trim_start()))
        }
        _ if text.starts_with(DEEPSEEK) => {
            several(text, deepseek, |rest| rest.trim_start().starts_with(DEEPSEEK).then(|| rest.trim_start()))
        }
        '<' if text.starts_with("<function") => function(text),
        '<' => invokes(text, ""),
        _ => return pairs(text),
    }?;
    let rest = rest.trim_start();
    // Without its end, several calls may have been cut.
    let is_whole = calls.len() == 1 && !frame.open.contains("section") && !frame.open.contains('▁');
    let after = if rest.is_empty() && is_whole { rest } else { rest.strip_prefix(frame.close)? };
    Some((calls, after.trim_start().strip_prefix(frame.close).unwrap_or(after)))
}

/// A call after the other, as long as `next` finds the beginning of one.
fn several<'t>(
    text: &'t str,
    read: impl Fn(&'t str) -> Option<(Vec<Call>, &'t str)>,
    next: impl Fn(&'t str) -> Option<&'t str>,
) -> Option<(Vec<Call>, &'t str)> {
    let (mut calls, mut rest) = read(text.trim_start())?;
    while let Some(text) = next(rest) {
        let (more, after) = read(text)?;
        calls.extend(more);
        rest = after;
    }
    Some((calls, rest))
}

/// A JSON value at the beginning of `text`, and the text behind it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// Calls as JSON in a frame: an object after the other, or a list of them.
fn json_in<'t>(frame: &Frame, text: &'t str) -> Option<(Vec<Call>, &'t str)> {
    if text.starts_with('[') {
        let (list, rest) = value(text)?;
        return Some((list.as_array()?.iter().map(call_of).collect::<Option<_>>()?, rest));
    }
    let object = |rest: &'t str| rest.trim_start().starts_with('{').then(|| rest.trim_start());
    if let Some(found) = several(text, named, object) {
        return Some(found);
    }
    // What needs no guess is mended where the frame is closed: line ends in a text, a comma too much, the last bracket.
    let at = text.find(frame.close)?;
    let inner = text[..at].trim();
    let given = only_object(inner).or_else(|_| only_object(&format!("{inner}}}"))).ok()?;
    Some((vec![call_of(&Value::Object(given))?], &text[at..]))
}

/// Calls in Python's words, up to the end of their frame.
fn python_in<'t>(frame: &Frame, text: &'t str) -> Option<(Vec<Call>, &'t str)> {
    let at = text.rfind(frame.close)?;
    Some((pythonic::calls(&text[..at])?, &text[at..]))
}

/// An object with a name and arguments.
fn call_of(value: &Value) -> Option<Call> {
    let object = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value).as_object()?;
    let first = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key));
    let name = first(&["name", "tool_name", "tool", "function"])?.as_str()?.to_owned();
    let arguments = match first(&["arguments", "parameters", "args", "input"]) {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(_) => return None,
        // The arguments beside the name.
        None => {
            let known = ["name", "tool_name", "tool", "function", "id", "type", "tool_call_id"];
            let beside = object.iter().filter(|(key, _)| !known.contains(&key.as_str()));
            return Some((name, beside.map(|(key, value)| (key.clone(), value.clone())).collect()));
        }
    };
    let known = [
        "name",
        "tool_name",
        "tool",
        "function",
        "arguments",
        "parameters",
        "args",
        "input",
        "id",
        "type",
        "tool_call_id",
    ];
    object.keys().all(|key| known.contains(&key.as_str())).then_some((name, arguments))
}

fn named(text: &str) -> Option<(Vec<Call>, &str)> {
    let (value, rest) = value(text)?;
    Some((vec![call_of(&value)?], rest))
}

/// The calls of a reply that is nothing else: JSON, also in one fence, of an object with a name and arguments, or of a list; or a list
/// in Python's words.
pub(super) fn only_calls(text: &str) -> Option<Vec<Call>> {
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .map(|rest| rest.strip_prefix("json").unwrap_or(rest));
    // Only a list: one call alone may be the text of a program.
    let listed = || text.strip_prefix('[').and_then(|_| pythonic::calls(text));
    calls_of(inner.unwrap_or(text)).or_else(listed)
}

/// The calls that a text of JSON is.
pub(super) fn calls_of(text: &str) -> Option<Vec<Call>> {
    let (whole, _) = value(text.trim()).filter(|(_, rest)| rest.trim().is_empty())?;
    let has_arguments = |value: &Value| {
        let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
        inner.get("name").is_some() && inner.get("arguments").or_else(|| inner.get("parameters")).is_some()
    };
    let list = whole.as_array().cloned().unwrap_or_else(|| vec![whole.clone()]);
    let calls: Option<Vec<Call>> =
        list.iter().map(|value| has_arguments(value).then(|| call_of(value)).flatten()).collect();
    calls.filter(|calls| !calls.is_empty())
}

/// `[{…}, {…}]`, or `NAME[CALL_ID]…[ARGS]{…}`.
fn mistral(text: &str) -> Option<(Vec<Call>, &str)> {
    if text.starts_with('[') {
        let (list, rest) = value(text)?;
        return Some((list.as_array()?.iter().map(call_of).collect::<Option<_>>()?, rest));
    }
    let at = text.find(['[', '{'])?;
    let (name, rest) = text.split_at(at);
    let rest = match rest.strip_prefix("[CALL_ID]") {
        Some(rest) => &rest[rest.find(['[', '{'])?..],
        None => rest,
    };
    let (arguments, rest) = value(rest.strip_prefix("[ARGS]").unwrap_or(rest).trim_start())?;
    Some((vec![(plain_name(name)?, arguments.as_object()?.clone())], rest))
}

/// `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`.
fn channel(text: &str) -> Option<(Vec<Call>, &str)> {
    let (header, rest) = match text.starts_with(ASSISTANT) {
        true => text.split_at(text.find('{')?),
        false => text.split_once("<|message|>")?,
    };
    if header.len() > 300 {
        return None;
    }
    let (_, to) = header.split_once("to=")?;
    let name = to.split(|c: char| c.is_whitespace() || matches!(c, '<' | '{')).next()?;
    let name = plain_name(name.strip_prefix("functions.").unwrap_or(name))?;
    let rest = rest.trim_start();
    if rest.starts_with("*** Begin Patch") {
        let (end, mark) = ("*** End Patch", "<|call|>");
        let at = rest.find(end)? + end.len();
        let given = json!({ "input": rest[..at] }).as_object()?.clone();
        return Some((vec![(name, given)], end_of(rest[at..].trim_start(), mark)?));
    }
    let (arguments, rest) = value(rest)?;
    Some((vec![(name, arguments.as_object()?.clone())], end_of(rest.trim_start(), "<|call|>")?))
}

/// `end`, which may be left out at the end of the text.
fn end_of<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    text.strip_prefix(end).or_else(|| text.is_empty().then_some(text))
}

/// `<function=NAME><parameter=KEY>…</parameter></function>`, also with `name="…"`, or with an object inside.
fn function(text: &str) -> Option<(Vec<Call>, &str)> {
    let Some(rest) = text.strip_prefix("<function=") else {
        let (call, rest) = invoked(text, "<function name=", "</function>", "")?;
        return Some((vec![call], rest));
    };
    let (name, rest) = rest.split_once('>')?;
    let name = plain_name(name)?;
    let rest = rest.trim_start();
    if rest.starts_with('{') {
        let (arguments, rest) = value(rest)?;
        let rest = rest.trim_start().strip_prefix("</function>")?;
        return Some((vec![(name, arguments.as_object()?.clone())], rest));
    }
    let ends = ["</parameter>", "</function>"];
    // Some models forget the function's end before the frame's.
    let (arguments, rest) = parameters(rest, "<parameter=", ">", &ends)
        .or_else(|| parameters(rest, "<parameter=", ">", &["</parameter>", "</tool_call>"]))?;
    Some((vec![(name, arguments)], rest))
}

/// `NAME<arg_key>KEY</arg_key><arg_value>…</arg_value></tool_call>`, or a name alone.
fn pairs(text: &str) -> Option<(Vec<Call>, &str)> {
    if let Some((name, rest)) = text.split_once("</tool_call>")
        && let Some(name) = plain_name(name).filter(|_| !name.contains('<'))
    {
        return Some((vec![(name, Map::new())], rest));
    }
    let (name, _) = text.split_once("<arg_key>")?;
    let broken = "</arg_key>\n<arg_value>";
    let sign = if text.contains(broken) { broken } else { "</arg_key><arg_value>" };
    let (arguments, rest) = parameters(&text[name.len()..], "<arg_key>", sign, &["</arg_value>", "</tool_call>"])?;
    Some((vec![(plain_name(name)?, arguments)], rest))
}

/// The call that a server left in the name of one.
pub(super) fn in_name(name: &str) -> Option<Call> {
    let whole = format!("{}</tool_call>", name.strip_suffix("</tool_call>").unwrap_or(name));
    let whole = whole.strip_prefix("<tool_call>").unwrap_or(&whole).trim_start();
    let (calls, rest) = pairs(whole).filter(|_| whole.contains("<arg_key>"))?;
    calls.into_iter().next().filter(|_| rest.is_empty())
}

/// The mark before each of Kimi's calls.
const KIMI: &str = "<|tool_call_begin|>";

/// `<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
fn kimi(text: &str) -> Option<(Vec<Call>, &str)> {
    let (id, given) = text.strip_prefix(KIMI)?.split_once("<|tool_call_argument_begin|>")?;
    let (arguments, after) = value(given.trim_start())?;
    let name = id.trim().strip_prefix("functions.").unwrap_or(id.trim());
    let name = name.rsplit_once(':').map_or(name, |(name, _number)| name);
    let rest = after.trim_start().strip_prefix("<|tool_call_end|>")?.trim_start();
    Some((vec![(plain_name(name)?, arguments.as_object()?.clone())], rest))
}

/// The mark before each of DeepSeek's calls.
const DEEPSEEK: &str = "<｜tool▁call▁begin｜>";

/// `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`; before version 3.1 the name is behind the mark, and the object in a fence.
fn deepseek(text: &str) -> Option<(Vec<Call>, &str)> {
    let (first, rest) = text.strip_prefix(DEEPSEEK)?.split_once("<｜tool▁sep｜>")?;
    let (name, given) = match rest.trim_start().starts_with('{') {
        true => (first, rest.trim_start()),
        false => rest.split_once("```json")?,
    };
    let (arguments, after) = value(given.trim_start())?;
    let after = after.trim_start();
    let rest = after.strip_prefix("```").unwrap_or(after).trim_start().strip_prefix("<｜tool▁call▁end｜>")?;
    Some((vec![(plain_name(name)?, arguments.as_object()?.clone())], rest.trim_start()))
}

/// One `invoke` after the other, up to another mark.
fn invokes<'t>(text: &'t str, space: &str) -> Option<(Vec<Call>, &'t str)> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while !rest.starts_with("</") && !rest.is_empty() {
        let (call, after) = invoke(rest, space)?;
        calls.push(call);
        rest = after.trim_start();
    }
    Some((calls, rest))
}

/// `<invoke name="NAME"><parameter name="KEY">…</parameter></invoke>`, and xAI's form of it.
fn invoke<'t>(text: &'t str, space: &str) -> Option<(Call, &'t str)> {
    let own = format!("<{space}invoke name=");
    match text.starts_with(&own) {
        true => invoked(text, &own, &format!("</{space}invoke>"), space),
        false => invoked(text, "<xai:function_call name=", "</xai:function_call>", ""),
    }
}

fn invoked<'t>(text: &'t str, start: &str, end: &str, space: &str) -> Option<(Call, &'t str)> {
    let (name, rest) = text.strip_prefix(start)?.split_once('>')?;
    let (first, part) = (format!("<{space}parameter name="), format!("</{space}parameter>"));
    let (arguments, rest) = parameters(rest.trim_start(), &first, ">", &[&part, end])?;
    Some(((plain_name(name)?, arguments), rest))
}

/// `<NAME><KEY>…</KEY></NAME>`.
fn tagged<'t>(name: &str, text: &'t str) -> Option<(Vec<Call>, &'t str)> {
    let (mut given, end) = (Map::new(), format!("</{name}>"));
    let mut rest = text[name.len() + 2..].trim_start();
    loop {
        if let Some(after) = rest.strip_prefix(&end) {
            return Some((vec![(name.to_owned(), given)], after));
        }
        let (key, after) = rest.strip_prefix('<')?.split_once('>')?;
        let close = format!("</{}>", plain_name(key)?);
        // A text may hold the mark itself: its end is the last one before that of the call.
        let fits = |at: &usize| {
            let next = after[at + close.len()..].trim_start();
            next.starts_with('<')
        };
        let at = after.match_indices(&close).map(|(at, _)| at).find(fits)?;
        if given.insert(key.to_owned(), lines_in(&after[..at]).into()).is_some() {
            return None;
        }
        rest = after[at + close.len()..].trim_start();
    }
}

/// A text without the line ends beside its marks.
fn lines_in(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}

/// The parameters, each between `start`, its key, `sign` and the first of `ends`, up to the second of `ends`.
fn parameters<'t>(text: &'t str, start: &str, sign: &str, ends: &[&str; 2]) -> Option<(Map<String, Value>, &'t str)> {
    let [end, last] = *ends;
    let (mut given, mut rest) = (Map::new(), text);
    loop {
        if let Some(after) = rest.strip_prefix(last) {
            return Some((given, after));
        }
        let (key, after) = rest.strip_prefix(start)?.split_once(sign)?;
        // What follows the name in its mark, such as the type of the value, says nothing that the tool does not know.
        let key = key.strip_prefix('"').and_then(|quoted| quoted.split('"').next()).unwrap_or(key);
        // A text may hold the mark itself: its end is the one that something fitting follows.
        let fits = |at: &usize| {
            let next = after[at + end.len()..].trim_start();
            next.starts_with(start) || next.starts_with(last)
        };
        let at = after.match_indices(end).map(|(at, _)| at).find(fits)?;
        if given.insert(key.to_owned(), lines_in(&after[..at]).into()).is_some() {
            return None;
        }
        rest = after[at + end.len()..].trim_start();
    }
}

/// `THOUGHT: …` and one block of a shell, the only block and the end: the text form of mini-swe-agent.
pub(super) fn block_after_thought(text: &str) -> Option<(&str, Call)> {
    let is_thought = text.trim_start_matches(['*', '#', ' ']).starts_with("THOUGHT");
    if !is_thought || text.matches("```").count() != 2 {
        return None;
    }
    let (before, block) = text.split_once("```bash\n")?;
    let command = block.strip_suffix("```")?;
    Some((before.trim(), shell(command)?))
}

fn shell(command: &str) -> Option<Call> {
    let command = command.trim();
    let arguments = json!({ "command": command }).as_object()?.clone();
    (!command.is_empty()).then(|| ("bash".to_owned(), arguments))
}

/// A name that can be a tool's.
fn plain_name(name: &str) -> Option<String> {
    let name = name.trim().trim_matches('"');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    (!name.is_empty() && name.len() <= 80 && name.chars().all(is_plain)).then(|| name.to_owned())
}
