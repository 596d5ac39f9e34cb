//! Calls that a model writes in its words, because its server does not read them: taken only where nothing else can be
//! meant.
//!
//! - Guarantees: the calls are the end of the reply, complete, one after the other, and outside of fences, quotes and
//!   code in a line. So a file that is shown, or an example with words behind it, is never a call.
//! - The forms are in `forms`. A thought before it, up to `</think>`, is none of the reply.

use serde_json::{Map, Value};

use crate::native::speech::forms::{
    ASSISTANT, Call, FRAMES, NAMESPACES, TAGGED, block_after_thought, calls_of, one, only_calls,
};

/// Bytes of words that are searched.
const TEXT_MAX: usize = 512 * 1024;
/// Calls that one reply may write.
const CALLS_MAX: usize = 32;
/// Marks that some servers leave at the end.
const ENDS: [&str; 7] = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "</s>", "<|endoftext|>"];
/// Marks that no text has but a call, beside those of frames with special characters: they count in the middle of a line, too.
const TOKENS: [&str; 6] =
    ["[TOOL_CALLS]", "<|python_tag|>", "<|start|>assistant", "<|channel|>", "<|tool_call_begin|>", ASSISTANT];
/// Marks that begin a line, beside those of frames and of tools by their names.
const TAGS: [&str; 7] = [
    "<function=",
    "<function name=",
    "<function_calls>",
    "<invoke ",
    "<xai:function_call ",
    "<mswea_bash_command>",
    "```mswea_bash_command",
];

/// The calls at the end of a reply, and the words before them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written<'t> {
    /// The words.
    pub(super) before: &'t str,
    /// The name and the arguments of each call.
    pub(super) calls: Vec<(String, Map<String, Value>)>,
}

/// The calls that `text` ends with; `None` if there are none, or if it is not sure.
pub(super) fn written(text: &str) -> Option<Written<'_>> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let mut whole = text.trim_end();
    while let Some(rest) = ENDS.iter().find_map(|end| whole.strip_suffix(end)) {
        whole = rest.trim_end();
    }
    let (thought, said) = after_thought(whole);
    if let Some(calls) = only_calls(said) {
        return Some(Written { before: thought, calls });
    }
    if let Some((before, call)) = block_after_thought(whole) {
        return Some(Written { before, calls: vec![call] });
    }
    places(whole).into_iter().find_map(|at| {
        let before = whole[..at].trim();
        // A frame that is not closed was cut.
        let calls = if before.ends_with("function_calls>") { None } else { sequence(&whole[at..]) };
        Some(Written { before, calls: calls? })
    })
}

/// Whether a call may be meant by a text of which none was taken: the model is told what its form has to be.
pub(super) fn looks_called(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(TEXT_MAX)];
    let has_mark =
        TOKENS.into_iter().chain(TAGS).chain(FRAMES.iter().map(|frame| frame.open)).any(|mark| text.contains(mark));
    has_mark || text.split("```").any(|part| calls_of(part.strip_prefix("json").unwrap_or(part)).is_some())
}

/// The thought at the beginning of a reply, whose server left it there, and what follows it.
fn after_thought(text: &str) -> (&str, &str) {
    let end = "</think>";
    let at = text.rfind(end).map_or(0, |at| at + end.len());
    (text[..at].trim(), text[at..].trim())
}

/// The places at which a call may begin.
fn places(text: &str) -> Vec<usize> {
    let (mut places, mut fence, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let start = at + line.len() - bare.len();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if fence.is_none() {
            let spaced = NAMESPACES.iter().find_map(|space| bare.strip_prefix('<')?.strip_prefix(space));
            let is_tag = |tag: &str| {
                bare.starts_with(tag) || spaced.zip(tag.strip_prefix('<')).is_some_and(|(a, b)| a.starts_with(b))
            };
            let is_named = || {
                TAGGED
                    .iter()
                    .any(|name| bare.strip_prefix('<').is_some_and(|rest| rest.starts_with(&format!("{name}>"))))
            };
            if TAGS.into_iter().any(is_tag) || FRAMES.iter().any(|frame| bare.starts_with(frame.open)) || is_named() {
                places.push(start);
            }
            let is_quoted = bare.starts_with('>');
            let tokens = FRAMES.iter().map(|frame| frame.open).filter(|open| open.contains(['|', '｜']));
            for token in TOKENS.into_iter().chain(tokens) {
                for (inside, _) in line.match_indices(token) {
                    let in_code = line[..inside].matches('`').count() % 2 == 1;
                    if !is_quoted && !in_code {
                        places.push(at + inside);
                    }
                }
            }
        }
        match (fence, mark) {
            // A fence that is a call itself.
            (None, Some(_)) if bare.starts_with("```tool_code") => {}
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::native::speech::forms::in_name;

    /// Anthropic's namespace.
    const NAMESPACE: &str = NAMESPACES[0];

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

    /// The corpus has replies as models write them beside these, each with the calls that are taken; none where the model is told.
    #[test]
    fn a_call_is_taken_in_each_form_that_models_write_and_no_other_text_is_one() {
        let corpus: Vec<Value> =
            include_str!("written.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut wrong = Vec::new();
        for line in &corpus {
            let [way, is, text] = ["way", "is", "text"].map(|key| line[key].as_str().unwrap());
            let calls = found(text).map(|(calls, _)| calls.join(" & ")).unwrap_or_default();
            if calls != is {
                wrong.push(format!("{way}: {calls}\n  wanted {is}"));
            }
            // Behind a call comes nothing.
            if !is.is_empty() && found(&format!("{text}\nThat is what I would do.")).is_some() {
                wrong.push(format!("{way}: it is taken with words behind it"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
        assert_eq!(corpus.len(), 65, "docs/agents.md has this figure");
    }

    #[test]
    fn a_call_that_was_not_taken_is_noticed() {
        for text in [
            "I call it.\n```json\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}\n```\nAnd now?",
            "<tool_call>{\"name\": \"shell\"}</tool_call> and so on",
            "<invoke name=\"shell\">",
        ] {
            assert!(found(text).is_none() && looks_called(text), "{text}");
        }
        for text in ["", "In words only.", "```json\n{\"name\": \"a package\"}\n```"] {
            assert!(!looks_called(text), "{text}");
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
