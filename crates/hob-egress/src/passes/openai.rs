//! OpenAI's chat completions, responses, completions and embeddings, and what compatible servers add.

use crate::{
    passes::shared::{CACHE, CODE, FILES, IMAGE_GENERATION, MCP, ORDINARY, STORE, URLS, WEB_SEARCH},
    shape::{
        Kind::{Gate as Off, Of},
        Members,
        Shape::{self, Data, Either, Free, Gate, List, Small, Text, Typed, Value, Words},
    },
};

/// Settings that its interfaces share, and those of compatible servers. Each is short.
macro_rules! openai {
    ($($more:expr),* $(,)?) => {
        Shape::Members(&[
            ("model", Value),
            ("stream", Value),
            ("stream_options", Small),
            ("temperature", Value),
            ("top_p", Value),
            ("top_k", Value),
            ("min_p", Value),
            ("seed", Value),
            ("stop", Small),
            ("n", Value),
            ("logprobs", Value),
            ("top_logprobs", Value),
            ("logit_bias", Small),
            ("frequency_penalty", Value),
            ("presence_penalty", Value),
            ("repetition_penalty", Value),
            ("max_tokens", Value),
            ("metadata", Small),
            ("user", Value),
            ("safety_identifier", Value),
            ("prompt_cache_key", Value),
            ("prompt_cache_retention", Value),
            ("service_tier", ORDINARY),
            ("store", Either(&[Shape::Off, Gate(STORE, &Value)])),
            ("background", Either(&[Shape::Off, Gate("background", &Value)])),
            ("parallel_tool_calls", Value),
            ("reasoning", Small),
            $($more),*
        ])
    };
}

pub(super) static CHAT: Shape = openai![
    ("messages", List(&SAID)),
    ("max_completion_tokens", Value),
    ("modalities", List(&Words(&["text"]))),
    ("reasoning_effort", Value),
    ("response_format", FORMAT),
    ("tools", List(&FUNCTION)),
    ("tool_choice", Small),
    ("functions", Free),
    ("function_call", Small),
    ("verbosity", Value),
    ("thinking", Small),
    ("enable_thinking", Value),
    ("chat_template_kwargs", Small),
    ("web_search_options", Gate(WEB_SEARCH, &Free)),
];
const FORMAT: Shape = Shape::Members(&[
    ("type", Value),
    ("json_schema", Free),
    ("schema", Free),
    ("name", Value),
    ("description", Text),
    ("strict", Value),
]);
const SAID: Shape = Shape::Members(&[
    ("role", Value),
    ("content", Either(&[Text, List(&PART)])),
    ("name", Value),
    ("refusal", Text),
    ("tool_calls", List(&CALL)),
    ("function_call", Shape::Members(&[("name", Value), ("arguments", Text)])),
    ("tool_call_id", Value),
    ("reasoning", Text),
    ("reasoning_content", Text),
    ("reasoning_details", Free),
    ("reasoning_text", Text),
    ("cache_control", CACHE),
]);
static PART: Shape = Typed(&[
    ("text", Of(&[("type", Value), ("text", Text), ("cache_control", CACHE)])),
    ("refusal", Of(&[("type", Value), ("refusal", Text)])),
    (
        "image_url",
        Of(&[
            ("type", Value),
            ("image_url", Shape::Members(&[("url", IMAGE), ("detail", Value)])),
            ("cache_control", CACHE),
        ]),
    ),
    ("file", Off(FILES)),
]);
/// A picture in the request, or, if the settings allow it, at an address.
const IMAGE: Shape = Either(&[Data, Gate(URLS, &Text)]);
static CALL: Shape = Typed(&[
    (
        "function",
        Of(&[
            ("type", Value),
            ("id", Value),
            ("index", Value),
            ("function", Shape::Members(&[("name", Value), ("arguments", Text)])),
            ("extra_content", Small),
        ]),
    ),
    (
        "custom",
        Of(&[
            ("type", Value),
            ("id", Value),
            ("index", Value),
            ("custom", Shape::Members(&[("name", Value), ("input", Text)])),
        ]),
    ),
]);
static FUNCTION: Shape = Typed(&[
    (
        "function",
        Of(&[
            ("type", Value),
            (
                "function",
                Shape::Members(&[("name", Value), ("description", Text), ("parameters", Free), ("strict", Value)]),
            ),
            ("cache_control", CACHE),
        ]),
    ),
    (
        "custom",
        Of(&[("type", Value), ("custom", Shape::Members(&[("name", Value), ("description", Text), ("format", Free)]))]),
    ),
]);

pub(super) static COMPLETIONS: Shape =
    openai![("prompt", Free), ("suffix", Text), ("best_of", Value), ("echo", Value),];
pub(super) static EMBEDDINGS: Shape = openai![("input", Free), ("dimensions", Value), ("encoding_format", Value)];

pub(super) static RESPONSES: Shape = openai![
    ("input", Either(&[Text, List(&ITEM)])),
    ("instructions", Text),
    ("include", List(&Value)),
    ("max_output_tokens", Value),
    ("max_tool_calls", Value),
    ("client_metadata", Small),
    ("prompt_cache_options", Small),
    ("text", Shape::Members(&[("format", FORMAT), ("verbosity", Value)])),
    ("tools", List(&OWN_TOOL)),
    ("tool_choice", Small),
    ("truncation", Value),
    ("conversation", Gate(STORE, &Small)),
    ("previous_response_id", Gate(STORE, &Value)),
];
const SHOWN: Shape = Either(&[Text, List(&SHOWN_PART)]);
static SHOWN_PART: Shape = Typed(&[
    ("input_text", Of(&[("type", Value), ("text", Text), ("prompt_cache_breakpoint", Small)])),
    ("output_text", Of(&[("type", Value), ("text", Text), ("annotations", Free), ("logprobs", Free)])),
    ("text", Of(&[("type", Value), ("text", Text)])),
    ("summary_text", Of(&[("type", Value), ("text", Text)])),
    ("reasoning_text", Of(&[("type", Value), ("text", Text)])),
    ("refusal", Of(&[("type", Value), ("refusal", Text)])),
    (
        "input_image",
        Of(&[
            ("type", Value),
            ("image_url", IMAGE),
            ("detail", Value),
            ("file_id", Gate(FILES, &Value)),
            ("prompt_cache_breakpoint", Small),
        ]),
    ),
    ("input_file", Off(FILES)),
]);
static ITEM: Shape = Typed(&[
    (
        "message",
        Of(&[("type", Value), ("id", Value), ("role", Value), ("content", SHOWN), ("status", Value), ("phase", Value)]),
    ),
    (
        "reasoning",
        Of(&[
            ("type", Value),
            ("id", Value),
            ("summary", List(&SHOWN_PART)),
            ("content", List(&SHOWN_PART)),
            ("encrypted_content", Text),
            ("status", Value),
        ]),
    ),
    ("function_call", Of(CALLED)),
    ("function_call_output", Of(ANSWERED)),
    ("custom_tool_call", Of(CALLED)),
    ("custom_tool_call_output", Of(ANSWERED)),
    ("local_shell_call", Of(CALLED)),
    ("local_shell_call_output", Of(ANSWERED)),
    ("shell_call", Of(CALLED)),
    ("shell_call_output", Of(ANSWERED)),
    ("apply_patch_call", Of(CALLED)),
    ("apply_patch_call_output", Of(ANSWERED)),
    ("tool_search_call", Of(CALLED)),
    (
        "tool_search_output",
        Of(&[
            ("type", Value),
            ("id", Value),
            ("call_id", Value),
            ("execution", Value),
            ("status", Value),
            ("tools", List(&OWN_TOOL)),
        ]),
    ),
    ("compaction*", Of(&[("type", Value), ("id", Value), ("encrypted_content", Text)])),
    ("additional_tools", Of(&[("type", Value), ("id", Value), ("role", Value), ("tools", List(&OWN_TOOL))])),
    ("item_reference", Off(STORE)),
    ("web_search_call", Off(WEB_SEARCH)),
    ("file_search_call", Off(FILES)),
    ("code_interpreter_call", Off(CODE)),
    ("image_generation_call", Off(IMAGE_GENERATION)),
    ("mcp_*", Off(MCP)),
]);
/// A call of one of the client's tools.
const CALLED: Members = &[
    ("type", Value),
    ("id", Value),
    ("call_id", Value),
    ("name", Value),
    ("namespace", Value),
    ("arguments", Free),
    ("input", Text),
    ("action", Free),
    ("operation", Free),
    ("execution", Words(&["client"])),
    ("environment", Typed(&[("local", Of(&[("type", Value)])), ("container_reference", Off(CODE))])),
    ("status", Value),
    ("caller", Small),
    ("created_by", Value),
];
/// Its answer.
const ANSWERED: Members = &[
    ("type", Value),
    ("id", Value),
    ("call_id", Value),
    ("name", Value),
    ("output", Either(&[Text, List(&ANSWER_PART)])),
    ("status", Value),
    ("max_output_length", Value),
    ("caller", Small),
    ("created_by", Value),
];
/// A part of an answer; that of a shell has no type.
static ANSWER_PART: Shape = Either(&[Typed(&[
    ("", Of(&[("stdout", Text), ("stderr", Text), ("outcome", Small)])),
    ("input_text", Of(&[("type", Value), ("text", Text), ("prompt_cache_breakpoint", Small)])),
    ("input_image", Of(&[("type", Value), ("image_url", IMAGE), ("detail", Value)])),
    ("input_file", Off(FILES)),
])]);
static OWN_TOOL: Shape = Typed(&[
    (
        "function",
        Of(&[
            ("type", Value),
            ("name", Value),
            ("description", Text),
            ("parameters", Free),
            ("output_schema", Free),
            ("strict", Value),
            ("defer_loading", Value),
        ]),
    ),
    (
        "custom",
        Of(&[("type", Value), ("name", Value), ("description", Text), ("format", Free), ("defer_loading", Value)]),
    ),
    ("namespace", Of(&[("type", Value), ("name", Value), ("description", Text), ("tools", List(&OWN_TOOL))])),
    ("apply_patch", Of(&[("type", Value), ("allowed_callers", List(&Words(&["direct"])))])),
    ("local_shell", Of(&[("type", Value)])),
    (
        "shell",
        Of(&[("type", Value), ("environment", Typed(&[("local", Of(&[("type", Value)])), ("container*", Off(CODE))]))]),
    ),
    (
        "tool_search",
        Of(&[("type", Value), ("description", Text), ("execution", Words(&["client"])), ("parameters", Free)]),
    ),
    ("web_search*", Off(WEB_SEARCH)),
    ("file_search", Off(FILES)),
    ("code_interpreter", Off(CODE)),
    ("image_generation", Off(IMAGE_GENERATION)),
    ("mcp", Off(MCP)),
]);
