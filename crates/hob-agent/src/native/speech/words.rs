//! Calls that a model writes in its words, because its server does not read them: taken only where nothing else can be
//! meant.
//!
//! - Guarantees: the calls are the end of the reply, complete, one after the other, and outside of fences, quotes and
//!   code in a line. So a file that is shown, or an example with words behind it, is never a call.
//! - Forms and their sources, read 2026-11: Hermes and Qwen `<tool_call>`, Qwen3-Coder and OpenHands `<function=…>`
//!   (OpenHands' `fn_call_converter.py`), GLM's `<arg_key>`, Kimi's `<|tool_call_begin|>` (their chat templates), Mistral `[TOOL_CALLS]`, Llama `<|python_tag|>` (vLLM's "Tool Calling"), Claude's
//!   `<invoke …>`, gpt-oss' channels (OpenAI's "Harmony response format"), mini-swe-agent's blocks (`swebench_xml.yaml`,
//!   `swebench_backticks.yaml`).

use serde_json::{Map, Value, json};

/// Bytes of words that are searched.
const TEXT_MAX: usize = 512 * 1024;
/// Calls that one reply may write.
const CALLS_MAX: usize = 32;
/// Marks that some servers leave at the end.
const ENDS: [&str; 7] = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "</s>", "<|endoftext|>"];
/// Marks that no text has but a call: they count in the middle of a line, too.
const TOKENS: [&str; 5] = ["[TOOL_CALLS]", "<|python_tag|>", "<|start|>assistant", "<|channel|>", KIMI];
/// The first mark of Kimi's calls.
const KIMI: &str = "<|tool_calls_section_begin|>";
/// Marks that begin a line.
const TAGS: [&str; 6] =
    ["<tool_call>", "<function=", "<function_calls>", "<invoke ", "<mswea_bash_command>", "```mswea_bash_command"];
/// The namespace that Claude's tags may have.
const NAMESPACE: &str = "antml:";

/// The calls at the end of a reply, and the words before them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written<'t> {
    /// The words.
    pub(super) before: &'t str,
    /// The name and the arguments of each call.
    pub(super) calls: Vec<(String, Map<String, Value>)>,
}

type Call = (String, Map<String, Value>);

/// The calls that `text` ends with; `None` if there are none, or if it is not sure.
pub(super) fn written(text: &str) -> Option<Written<'_>> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let mut whole = text.trim_end();
    while let Some(rest) = ENDS.iter().find_map(|end| whole.strip_suffix(end)) {
        whole = rest.trim_end();
    }
    if let Some(call) = whole.trim_start().strip_prefix('{').and_then(|_| only_object(whole.trim())) {
        return Some(Written { before: "", calls: vec![call] });
    }
    if let Some(command) = block_after_thought(whole) {
        return Some(command);
    }
    places(whole).into_iter().find_map(|at| {
        let before = whole[..at].trim();
        // A frame that is not closed was cut.
        let calls = if before.ends_with("function_calls>") { None } else { sequence(&whole[at..]) };
        Some(Written { before, calls: calls? })
    })
}

/// The places at which a call may begin.
fn places(text: &str) -> Vec<usize> {
    let (mut places, mut fence, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let start = at + line.len() - bare.len();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if fence.is_none() {
            let spaced = bare.strip_prefix('<').and_then(|rest| rest.strip_prefix(NAMESPACE));
            let is_tag = |tag: &&str| {
                bare.starts_with(tag) || spaced.zip(tag.strip_prefix('<')).is_some_and(|(a, b)| a.starts_with(b))
            };
            if TAGS.iter().any(is_tag) {
                places.push(start);
            }
            let is_quoted = bare.starts_with('>');
            for token in TOKENS {
                for (inside, _) in line.match_indices(token) {
                    let in_code = line[..inside].matches('`').count() % 2 == 1;
                    if !is_quoted && !in_code {
                        places.push(at + inside);
                    }
                }
            }
        }
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark && bare.trim_end() == mark => fence = None,
            (_, _) => {}
        }
        at += line.len();
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The calls that are all of `text`.
fn sequence(text: &str) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (more, after) = one(rest)?;
        calls.extend(more);
        rest = after.trim_start();
        if calls.len() > CALLS_MAX {
            return None;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

/// The first form of `text`, and the text behind it.
fn one(text: &str) -> Option<(Vec<Call>, &str)> {
    if let Some(rest) = text.strip_prefix("<tool_call>") {
        let rest = rest.trim_start();
        let (calls, rest) = match rest.chars().next()? {
            '<' => function(rest)?,
            '{' => named(rest)?,
            _ => return pairs(rest),
        };
        return Some((calls, end_of(rest.trim_start(), "</tool_call>")?));
    }
    if text.starts_with("<function=") {
        return function(text);
    }
    if let Some(rest) = text.strip_prefix("[TOOL_CALLS]") {
        return mistral(rest.trim_start());
    }
    if let Some(rest) = text.strip_prefix("<|python_tag|>") {
        let (mut calls, mut rest) = named(rest.trim_start())?;
        while let Some(next) = rest.trim_start().strip_prefix(';') {
            let (more, after) = named(next.trim_start())?;
            calls.extend(more);
            rest = after;
        }
        return Some((calls, rest));
    }
    if text.starts_with("<|start|>assistant") || text.starts_with("<|channel|>") {
        return channel(text);
    }
    if let Some(rest) = text.strip_prefix(KIMI) {
        return section(rest.trim_start());
    }
    if let Some(rest) = text.strip_prefix("<mswea_bash_command>") {
        let (command, rest) = rest.split_once("</mswea_bash_command>")?;
        return Some((vec![shell(command)?], rest));
    }
    if let Some(rest) = text.strip_prefix("```mswea_bash_command\n") {
        let (command, rest) = rest.split_once("\n```")?;
        return Some((vec![shell(command)?], rest));
    }
    let rest = text.strip_prefix('<')?;
    let (prefix, rest) = rest.strip_prefix(NAMESPACE).map_or(("", rest), |rest| (NAMESPACE, rest));
    if let Some(rest) = rest.strip_prefix("function_calls>") {
        let (mut calls, mut rest) = (Vec::new(), rest.trim_start());
        let end = format!("</{prefix}function_calls>");
        while !rest.starts_with(&end) {
            let (call, after) = invoke(rest, prefix)?;
            calls.push(call);
            rest = after.trim_start();
        }
        return Some((calls, &rest[end.len()..]));
    }
    let (call, rest) = invoke(text, prefix)?;
    Some((vec![call], rest))
}

/// `end`, which may be left out at the end of the text.
fn end_of<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    text.strip_prefix(end).or_else(|| text.is_empty().then_some(text))
}

/// A JSON value at the beginning of `text`, and the text behind it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// An object with a name and arguments.
fn call_of(value: &Value) -> Option<Call> {
    let object = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value).as_object()?;
    let name = object.get("name")?.as_str()?.to_owned();
    let given = object.get("arguments").or_else(|| object.get("parameters"));
    let arguments = match given {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        None => Map::new(),
        Some(_) => return None,
    };
    let known = ["name", "arguments", "parameters", "id", "type", "function"];
    object.keys().all(|key| known.contains(&key.as_str())).then_some((name, arguments))
}

fn named(text: &str) -> Option<(Vec<Call>, &str)> {
    let (value, rest) = value(text)?;
    Some((vec![call_of(&value)?], rest))
}

/// A reply that is one such object, and nothing else.
fn only_object(text: &str) -> Option<Call> {
    let (value, rest) = value(text)?;
    let inner = value.get("function").unwrap_or(&value);
    let has_arguments = inner.get("arguments").or_else(|| inner.get("parameters")).is_some();
    (rest.trim().is_empty() && has_arguments).then(|| call_of(&value)).flatten()
}

/// `[{…}, {…}]`, or `NAME[ARGS]{…}`.
fn mistral(text: &str) -> Option<(Vec<Call>, &str)> {
    if text.starts_with('[') {
        let (list, rest) = value(text)?;
        return Some((list.as_array()?.iter().map(call_of).collect::<Option<_>>()?, rest));
    }
    let at = text.find(['[', '{'])?;
    let (name, rest) = text.split_at(at);
    let (arguments, rest) = value(rest.strip_prefix("[ARGS]").unwrap_or(rest).trim_start())?;
    Some((vec![(plain_name(name)?, arguments.as_object()?.clone())], rest))
}

/// `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`.
fn channel(text: &str) -> Option<(Vec<Call>, &str)> {
    let (header, rest) = text.split_once("<|message|>")?;
    if header.len() > 300 {
        return None;
    }
    let (_, to) = header.split_once("to=")?;
    let name = to.split(|c: char| c.is_whitespace() || c == '<').next()?;
    let (arguments, rest) = value(rest.trim_start())?;
    let name = plain_name(name.strip_prefix("functions.").unwrap_or(name))?;
    Some((vec![(name, arguments.as_object()?.clone())], end_of(rest.trim_start(), "<|call|>")?))
}

/// `<function=NAME><parameter=KEY>…</parameter></function>`, or with an object inside.
fn function(text: &str) -> Option<(Vec<Call>, &str)> {
    let (name, rest) = text.strip_prefix("<function=")?.split_once('>')?;
    let name = plain_name(name)?;
    let rest = rest.trim_start();
    if rest.starts_with('{') {
        let (arguments, rest) = value(rest)?;
        let rest = rest.trim_start().strip_prefix("</function>")?;
        return Some((vec![(name, arguments.as_object()?.clone())], rest));
    }
    let (arguments, rest) = parameters(rest, "<parameter=", ">", &["</parameter>", "</function>"])?;
    Some((vec![(name, arguments)], rest))
}

/// `NAME<arg_key>KEY</arg_key><arg_value>…</arg_value></tool_call>`.
fn pairs(text: &str) -> Option<(Vec<Call>, &str)> {
    let (name, _) = text.split_once("<arg_key>")?;
    let broken = "</arg_key>\n<arg_value>";
    let sign = if text.contains(broken) { broken } else { "</arg_key><arg_value>" };
    let (arguments, rest) = parameters(&text[name.len()..], "<arg_key>", sign, &["</arg_value>", "</tool_call>"])?;
    Some((vec![(plain_name(name)?, arguments)], rest))
}

/// The call that a server left in the name of one.
pub(super) fn in_name(name: &str) -> Option<Call> {
    let whole = format!("{}</tool_call>", name.strip_suffix("</tool_call>").unwrap_or(name));
    let (calls, rest) = pairs(whole.strip_prefix("<tool_call>").unwrap_or(&whole).trim_start())?;
    calls.into_iter().next().filter(|_| rest.is_empty())
}

/// `<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`, and so on.
fn section(text: &str) -> Option<(Vec<Call>, &str)> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while let Some(call) = rest.strip_prefix("<|tool_call_begin|>") {
        let (id, given) = call.split_once("<|tool_call_argument_begin|>")?;
        let (arguments, after) = value(given.trim_start())?;
        let name = id.trim().strip_prefix("functions.").unwrap_or(id.trim());
        let name = name.rsplit_once(':').map_or(name, |(name, _number)| name);
        calls.push((plain_name(name)?, arguments.as_object()?.clone()));
        rest = after.trim_start().strip_prefix("<|tool_call_end|>")?.trim_start();
    }
    Some((calls, rest.strip_prefix("<|tool_calls_section_end|>")?))
}

/// `<invoke name="NAME"><parameter name="KEY">…</parameter></invoke>`.
fn invoke<'t>(text: &'t str, prefix: &str) -> Option<(Call, &'t str)> {
    let (name, rest) = text.strip_prefix(&format!("<{prefix}invoke name=\""))?.split_once("\">")?;
    let (start, part) = (format!("<{prefix}parameter name=\""), format!("</{prefix}parameter>"));
    let end = format!("</{prefix}invoke>");
    let (arguments, rest) = parameters(rest.trim_start(), &start, "\">", &[&part, &end])?;
    Some(((plain_name(name)?, arguments), rest))
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
        // A text may hold the mark itself: its end is the one that something fitting follows.
        let fits = |at: &usize| {
            let next = after[at + end.len()..].trim_start();
            next.starts_with(start) || next.starts_with(last)
        };
        let at = after.match_indices(end).map(|(at, _)| at).find(fits)?;
        let text = &after[..at];
        let text = text.strip_prefix('\n').unwrap_or(text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        if given.insert(key.to_owned(), text.into()).is_some() {
            return None;
        }
        rest = after[at + end.len()..].trim_start();
    }
}

/// `THOUGHT: …` and one block of a shell, the only block and the end: the text form of mini-swe-agent.
fn block_after_thought(text: &str) -> Option<Written<'_>> {
    if !text.starts_with("THOUGHT") || text.matches("```").count() != 2 {
        return None;
    }
    let (before, block) = text.split_once("```bash\n")?;
    let command = block.strip_suffix("```")?;
    Some(Written { before: before.trim(), calls: vec![shell(command)?] })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of a reply, each as `name {arguments}`, and the words before them.
    fn found(text: &str) -> Option<(Vec<String>, String)> {
        let written = written(text)?;
        let calls = written.calls.into_iter().map(|(name, given)| format!("{name} {}", Value::Object(given)));
        Some((calls.collect(), written.before.to_owned()))
    }

    /// Claude's form with its namespace.
    fn spaced(text: &str) -> String {
        text.replace("</", "</\u{0}").replace('<', "<NS").replace("<NS/\u{0}", "</NS").replace("NS", NAMESPACE)
    }

    const CLAUDE: &str = "<function_calls>\n<invoke name=\"shell\">\n<parameter name=\"command\">ls</parameter>\n</invoke>\n</function_calls>";

    #[test]
    fn a_call_in_words_is_taken_in_the_form_of_each_family() {
        let ls = r#"shell {"command":"ls"}"#;
        let bash = r#"bash {"command":"ls"}"#;
        let with_namespace = spaced(CLAUDE);
        let cases = [
            ("<tool_call>\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>", ls),
            ("<tool_call>{\"name\": \"shell\", \"arguments\": \"{\\\"command\\\": \\\"ls\\\"}\"}</tool_call>", ls),
            ("<tool_call>{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}", ls),
            (
                "<tool_call>\n<function=shell>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call><|im_end|>",
                ls,
            ),
            ("<function=shell>\n<parameter=command>ls</parameter>\n</function>", ls),
            ("<function=shell>{\"command\": \"ls\"}</function>", ls),
            ("<tool_call>shell\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>", ls),
            ("<tool_call>shell<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>", ls),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.shell:0<|tool_call_argument_begin|>{\"command\": \"ls\"}\
                 <|tool_call_end|><|tool_calls_section_end|>",
                ls,
            ),
            ("[TOOL_CALLS][{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}]</s>", ls),
            ("[TOOL_CALLS] [{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}, \"id\": \"abc123def\"}]", ls),
            ("[TOOL_CALLS]shell[ARGS]{\"command\": \"ls\"}", ls),
            ("[TOOL_CALLS]shell{\"command\": \"ls\"}", ls),
            (CLAUDE, ls),
            (&with_namespace, ls),
            ("<invoke name=\"shell\">\n<parameter name=\"command\">ls</parameter>\n</invoke>", ls),
            ("<|channel|>commentary to=functions.shell <|constrain|>json<|message|>{\"command\":\"ls\"}<|call|>", ls),
            ("<|start|>assistant<|channel|>commentary to=functions.shell <|message|>{\"command\":\"ls\"}", ls),
            (
                "<|start|>assistant to=functions.shell<|channel|>commentary json<|message|>{\"command\":\"ls\"}<|call|>",
                ls,
            ),
            ("<|python_tag|>{\"name\": \"shell\", \"parameters\": {\"command\": \"ls\"}}<|eom_id|>", ls),
            ("{\"name\": \"shell\", \"parameters\": {\"command\": \"ls\"}}", ls),
            ("{\"type\": \"function\", \"function\": {\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}}", ls),
            ("<mswea_bash_command>ls</mswea_bash_command>", bash),
            ("```mswea_bash_command\nls\n```", bash),
            ("THOUGHT: I look.\n\n```bash\nls\n```", bash),
        ];
        assert_eq!(cases.len(), 25, "docs/design/agents.md has this figure");
        for (text, call) in cases {
            let (calls, _) = found(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(calls, [call], "{text}");
            if text.starts_with(['{', 'T']) {
                continue;
            }
            let (calls, before) = found(&format!("I look.\n\n{text}\n")).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((calls, before.as_str()), (vec![call.to_owned()], "I look."), "{text}");
            // What a reply quotes, explains or goes on after is not a call.
            for quoted in [
                format!("```\n{text}\n```"),
                format!("The file has:\n~~~xml\n{text}\n~~~\n"),
                format!("{text}\nThat is what the file says."),
                text.lines().map(|line| format!("> {line}\n")).collect(),
                format!("Write `{}` there.", text.replace('\n', " ")),
            ] {
                assert_eq!(found(&quoted), None, "{quoted}");
            }
        }
    }

    #[test]
    fn several_calls_and_texts_with_marks_in_them_are_whole() {
        let two = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"b\"}}\n</tool_call>";
        assert_eq!(found(two).unwrap().0, [r#"read {"path":"a"}"#, r#"read {"path":"b"}"#]);
        let python = "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}; {\"name\": \"read\", \"parameters\": {\"path\": \"b\"}}";
        assert_eq!(found(python).unwrap().0.len(), 2);
        let both = format!("{}\n{}", CLAUDE, CLAUDE.replace(">ls<", ">pwd<"));
        assert_eq!(found(&both).unwrap().0, [r#"shell {"command":"ls"}"#, r#"shell {"command":"pwd"}"#]);
        let inner = "<function=write>\n<parameter=path>a.md</parameter>\n<parameter=text>\nAs `<parameter=x>1</parameter>` says:\n```\n<tool_call>{}</tool_call>\n```\n</parameter>\n</function>";
        let (calls, _) = found(inner).unwrap();
        assert!(calls[0].contains("</parameter>` says:\\n```\\n<tool_call>{}</tool_call>\\n```"), "{calls:?}");
        let analysis = "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{\"path\":\"a\"}<|call|>";
        assert_eq!(found(analysis).unwrap().0, [r#"read {"path":"a"}"#]);
    }

    #[test]
    fn what_is_broken_cut_or_ambiguous_is_no_call() {
        for text in [
            "<tool_call>{\"name\": \"shell\", \"arguments\": {\"command\": \"rm -rf",
            "<tool_call>{\"name\": \"shell\", \"arguments\": {\"command\": 'ls'}}</tool_call>",
            "<tool_call>{\"arguments\": {\"command\": \"ls\"}}</tool_call>",
            "<function=shell>\n<parameter=command>ls",
            "<function=shell>\n<parameter=command>ls</parameter>\n<parameter=command>pwd</parameter>\n</function>",
            "<invoke name=\"shell\">\n<parameter name=\"command\">ls</parameter>",
            "<tool_call>shell<arg_key>command</arg_key><arg_value>ls",
            "<tool_call>shell</tool_call>",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.shell:0<|tool_call_argument_begin|>{\"command\":",
            "<|tool_calls_section_begin|>",
            "[TOOL_CALLS]",
            "[TOOL_CALLS][{\"name\": \"shell\"",
            "<|channel|>commentary to=functions.shell<|message|>{\"command\":",
            "<|channel|>final<|message|>It is done.",
            "<mswea_bash_command></mswea_bash_command>",
            "THOUGHT: two.\n```bash\nls\n```\n```bash\npwd\n```",
            "Run this:\n```bash\nls\n```",
            "{\"name\": \"a package\", \"version\": \"1.0\"}",
            "In words only.",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        // Cut anywhere: the beginning of a command is never all of it.
        for at in 1..CLAUDE.len() - 1 {
            assert_eq!(found(&CLAUDE[..at]), None, "{at}");
        }
    }

    #[test]
    fn a_call_in_the_name_of_one_is_that_call() {
        let two =
            "grep<arg_key>pattern</arg_key><arg_value>a b</arg_value><arg_key>path</arg_key><arg_value>src</arg_value>";
        let (name, given) = in_name(two).unwrap();
        assert_eq!((name.as_str(), Value::Object(given)), ("grep", json!({ "pattern": "a b", "path": "src" })));
        assert_eq!(in_name(&format!("{two}</tool_call>")), in_name(two));
        for none in ["grep", "grep<arg_key>pattern</arg_key>", "grep<arg_key>a</arg_key><arg_value>b</arg_value> c"] {
            assert_eq!(in_name(none), None, "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[a<>|{}\"=/`\\n \\[\\]]{0,40}|(<tool_call>|<function=a>|<parameter=b>|</parameter>|\\{\"name\":\"x\"\\}){0,9}") {
            written(&text);
        }
    }
}
