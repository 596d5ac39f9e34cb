//! Google's `generateContent`, `countTokens` and embeddings.

use crate::{
    passes::shared::{CODE, FILES, MCP, ORDINARY, STORE, URLS, WEB_FETCH, WEB_SEARCH},
    shape::Shape::{self, Either, Free, Gate, List, Small, Text, Value, Words},
};

pub(super) static GENERATE: Shape = Shape::Members(&[
    ("model", Value),
    ("contents", Either(&[List(&CONTENT), CONTENT])),
    ("system_instruction", Either(&[Text, CONTENT])),
    ("tools", List(&DECLARED)),
    ("tool_config", Small),
    ("safety_settings", Small),
    ("generation_config", GENERATION),
    ("labels", Small),
    ("cached_content", Gate(STORE, &Value)),
    ("store", Either(&[Shape::Off, Gate(STORE, &Value)])),
    ("service_tier", ORDINARY),
    // Counting tokens.
    (
        "generate_content_request",
        Shape::Members(&[
            ("model", Value),
            ("contents", Either(&[List(&CONTENT), CONTENT])),
            ("system_instruction", Either(&[Text, CONTENT])),
            ("tools", List(&DECLARED)),
            ("tool_config", Small),
            ("generation_config", GENERATION),
        ]),
    ),
    // Embeddings.
    ("content", CONTENT),
    ("requests", List(&EMBEDDING)),
    ("task_type", Value),
    ("title", Value),
    ("output_dimensionality", Value),
]);
static EMBEDDING: Shape = Shape::Members(&[
    ("model", Value),
    ("content", CONTENT),
    ("task_type", Value),
    ("title", Value),
    ("output_dimensionality", Value),
]);
const CONTENT: Shape = Shape::Members(&[("role", Value), ("parts", List(&GOOGLE_PART))]);
static GOOGLE_PART: Shape = Shape::Members(&[
    ("text", Text),
    ("thought", Value),
    ("thought_signature", Text),
    ("part_metadata", Small),
    ("media_resolution", Small),
    ("inline_data", Shape::Members(&[("mime_type", Words(&PICTURES)), ("data", Text), ("display_name", Value)])),
    ("function_call", Shape::Members(&[("id", Value), ("name", Value), ("args", Free)])),
    (
        "function_response",
        Shape::Members(&[
            ("id", Value),
            ("name", Value),
            ("response", Free),
            ("parts", List(&GOOGLE_PART)),
            ("will_continue", Value),
            ("scheduling", Value),
        ]),
    ),
    ("file_data", Gate(URLS, &Free)),
    ("executable_code", Gate(CODE, &Free)),
    ("code_execution_result", Gate(CODE, &Free)),
]);
/// Other media cost by their length, which their bytes do not tell.
const PICTURES: [&str; 6] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/gif"];
static DECLARED: Shape = Shape::Members(&[
    (
        "function_declarations",
        List(&Shape::Members(&[
            ("name", Value),
            ("description", Text),
            ("parameters", Free),
            ("parameters_json_schema", Free),
            ("response", Free),
            ("response_json_schema", Free),
            ("behavior", Value),
        ])),
    ),
    ("google_search", Gate(WEB_SEARCH, &Free)),
    ("google_search_retrieval", Gate(WEB_SEARCH, &Free)),
    ("google_maps", Gate(WEB_SEARCH, &Free)),
    ("url_context", Gate(WEB_FETCH, &Free)),
    ("code_execution", Gate(CODE, &Free)),
    ("file_search", Gate(FILES, &Free)),
    ("mcp_servers", Gate(MCP, &Free)),
]);
const GENERATION: Shape = Shape::Members(&[
    ("candidate_count", Value),
    ("stop_sequences", Small),
    ("max_output_tokens", Value),
    ("temperature", Value),
    ("top_p", Value),
    ("top_k", Value),
    ("seed", Value),
    ("presence_penalty", Value),
    ("frequency_penalty", Value),
    ("response_mime_type", Value),
    ("response_schema", Free),
    ("response_json_schema", Free),
    ("response_modalities", List(&Words(&["TEXT", "Text", "text"]))),
    ("response_logprobs", Value),
    ("logprobs", Value),
    ("enable_enhanced_civic_answers", Value),
    ("thinking_config", Small),
    ("media_resolution", Value),
]);
