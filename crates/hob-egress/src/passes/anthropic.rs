//! Anthropic's messages.

use crate::{
    passes::shared::{CACHE, CODE, FILES, MCP, ORDINARY, URLS, WEB_FETCH, WEB_SEARCH},
    shape::{
        Kind::{self, Gate as Off, Of},
        Members,
        Shape::{self, At, Either, Free, Gate, List, Small, Text, Typed, Value, Words},
    },
};

pub(super) static MESSAGES: Shape = Shape::Members(&[
    ("model", Value),
    ("messages", List(&MESSAGE)),
    ("max_tokens", Value),
    ("stream", Value),
    ("system", Either(&[Text, List(&BLOCK)])),
    ("tools", List(&TOOL)),
    ("tool_choice", Small),
    ("cache_control", CACHE),
    ("container", Gate(CODE, &Free)),
    ("diagnostics", Small),
    ("context_management", Shape::Members(&[("edits", List(&EDIT))])),
    ("mcp_servers", Gate(MCP, &Free)),
    ("metadata", Shape::Members(&[("user_id", Value)])),
    ("output_config", OUTPUT),
    ("output_format", SCHEMA),
    ("service_tier", ORDINARY),
    ("speed", Words(&["standard"])),
    ("stop_sequences", List(&Value)),
    ("temperature", Value),
    ("thinking", Small),
    ("top_k", Value),
    ("top_p", Value),
    // The older interface, `complete`.
    ("prompt", Text),
    ("max_tokens_to_sample", Value),
]);
const MESSAGE: Shape = Shape::Members(&[
    ("role", Value),
    ("content", Either(&[Text, List(&BLOCK)])),
    // How hard it thinks from here on.
    ("output_config", Shape::Members(&[("effort", Value)])),
]);
static EDIT: Shape = Typed(&[
    (
        "clear_tool_uses_20250919",
        Of(&[
            ("type", Value),
            ("trigger", Small),
            ("keep", Small),
            ("clear_at_least", Small),
            ("clear_tool_inputs", Small),
            ("exclude_tools", Small),
        ]),
    ),
    ("clear_thinking_20251015", Of(&[("type", Value), ("keep", Small)])),
]);
const SCHEMA: Shape = Shape::Members(&[("type", Value), ("schema", Free)]);
const OUTPUT: Shape = Shape::Members(&[("effort", Value), ("format", SCHEMA), ("task_budget", Small)]);
static SOURCE: Shape = Typed(&[
    ("base64", Of(&[("type", Value), ("media_type", Value), ("data", Text)])),
    ("text", Of(&[("type", Value), ("media_type", Value), ("data", Text)])),
    ("content", Of(&[("type", Value), ("content", Either(&[Text, List(&BLOCK)]))])),
    ("url", Off(URLS)),
    ("file", Off(FILES)),
]);
const CALL: Kind = Of(&[
    ("type", Value),
    ("id", Value),
    ("name", Value),
    ("input", Free),
    ("caller", Small),
    ("cache_control", CACHE),
]);
const CHANGE: Kind = Of(&[
    ("type", Value),
    ("tool", Typed(&[("tool_reference", Of(&[("type", Value), ("name", Value)]))])),
    ("cache_control", CACHE),
]);
static BLOCK: Shape = Typed(&[
    ("text", Of(&[("type", Value), ("text", Text), ("cache_control", CACHE), ("citations", Free)])),
    ("image", Of(&[("type", Value), ("source", At(&SOURCE)), ("cache_control", CACHE)])),
    (
        "document",
        Of(&[
            ("type", Value),
            ("source", At(&SOURCE)),
            ("title", Value),
            ("context", Text),
            ("citations", Small),
            ("cache_control", CACHE),
        ]),
    ),
    (
        "search_result",
        Of(&[
            ("type", Value),
            ("source", Value),
            ("title", Value),
            ("content", List(&BLOCK)),
            ("citations", Small),
            ("cache_control", CACHE),
        ]),
    ),
    ("thinking", Of(&[("type", Value), ("thinking", Text), ("signature", Text)])),
    ("redacted_thinking", Of(&[("type", Value), ("data", Text)])),
    ("tool_use", CALL),
    (
        "tool_result",
        Of(&[
            ("type", Value),
            ("tool_use_id", Value),
            ("content", Either(&[Text, List(&BLOCK)])),
            ("is_error", Value),
            ("cache_control", CACHE),
        ]),
    ),
    ("tool_reference", Of(&[("type", Value), ("tool_name", Value), ("cache_control", CACHE)])),
    // From here on the model has a tool that the request declares, or no longer has it.
    ("tool_addition", CHANGE),
    ("tool_removal", CHANGE),
    (
        "tool_search_tool_result",
        Of(&[("type", Value), ("tool_use_id", Value), ("content", Free), ("cache_control", CACHE)]),
    ),
    ("web_search_tool_result", Off(WEB_SEARCH)),
    ("web_fetch_tool_result", Off(WEB_FETCH)),
    ("code_execution*", Off(CODE)),
    ("bash_code_execution*", Off(CODE)),
    ("text_editor_code_execution*", Off(CODE)),
    ("container_upload", Off(FILES)),
    ("mcp_*", Off(MCP)),
    // A call of a tool of the service: its answer beside it has a type of its own.
    ("server_tool_use", CALL),
]);
static TOOL: Shape = Typed(&[
    (
        "custom",
        Of(&[
            ("type", Value),
            ("name", Value),
            ("description", Text),
            ("input_schema", Free),
            ("input_examples", Free),
            ("cache_control", CACHE),
            ("strict", Value),
            ("defer_loading", Value),
            ("eager_input_streaming", Value),
            ("allowed_callers", List(&Words(&["direct"]))),
        ]),
    ),
    ("bash_*", Of(OF_CLIENT)),
    ("text_editor_*", Of(OF_CLIENT)),
    ("computer_*", Of(OF_CLIENT)),
    ("memory_*", Of(OF_CLIENT)),
    ("tool_search_tool_*", Of(OF_CLIENT)),
    ("web_search_*", Off(WEB_SEARCH)),
    ("web_fetch_*", Off(WEB_FETCH)),
    ("code_execution_*", Off(CODE)),
    ("mcp_toolset", Off(MCP)),
]);
/// Tools that the client runs, or that search among its tools.
const OF_CLIENT: Members = &[
    ("type", Value),
    ("name", Value),
    ("cache_control", CACHE),
    ("strict", Value),
    ("defer_loading", Value),
    ("input_examples", Free),
    ("max_characters", Value),
    ("display_width_px", Value),
    ("display_height_px", Value),
    ("display_number", Value),
    ("enable_zoom", Value),
    ("allowed_callers", List(&Words(&["direct"]))),
];
