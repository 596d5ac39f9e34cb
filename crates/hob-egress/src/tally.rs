//! Tokens as services report them, read beside a stream that is passed on unchanged.

use serde_json::Value;

use crate::{
    bound::search_micros,
    usage::{Bill, ServiceTier, Usage},
    vendor::Api,
};

/// The most bytes that are kept to be read of one event, or of an answer that is not a stream.
const KEPT_MAX: usize = 16 << 20;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Server-sent events.
    Events,
    /// One JSON value.
    Json,
}

/// What an answer reported.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) bill: Bill,
    /// Whether it counts output tokens; the first event of Anthropic's only counts input.
    pub(crate) is_final: bool,
}

/// Reads the tokens from an answer's pieces.
#[derive(Debug)]
pub(crate) struct Tally {
    api: Api,
    shape: Shape,
    kept: Vec<u8>,
    scanned: usize,
    too_big: bool,
    found: Option<Report>,
}

impl Tally {
    pub(crate) fn new(api: Api, shape: Shape) -> Self {
        Self { api, shape, kept: Vec::new(), scanned: 0, too_big: false, found: None }
    }

    /// Takes a piece, cut anywhere.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if self.too_big {
            return;
        }
        self.kept.extend_from_slice(piece);
        if self.shape == Shape::Events {
            self.lines();
        }
        if self.kept.len() > KEPT_MAX {
            (self.too_big, self.kept) = (true, Vec::new());
        }
    }

    /// The reported usage.
    pub(crate) fn finish(&mut self) -> Option<Report> {
        let rest = std::mem::take(&mut self.kept);
        match self.shape {
            Shape::Events => self.line(&rest),
            Shape::Json => self.json(&rest),
        }
        self.found
    }

    /// Each service puts the data of an event on one line.
    fn lines(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let mut start = 0;
        while let Some(length) = kept[self.scanned..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let end = self.scanned + length;
            self.line(&kept[start..end]);
            (start, self.scanned) = (end + 1, end + 1);
        }
        self.scanned = kept.len() - start;
        self.kept = if start == 0 { kept } else { kept[start..].to_vec() };
    }

    fn line(&mut self, line: &[u8]) {
        if let Some(data) = line.strip_prefix(b"data:") {
            self.json(data);
        }
    }

    fn json(&mut self, text: &[u8]) {
        // Most events report nothing, and need not be parsed.
        if !text.windows(5).any(|window| window == b"usage") {
            return;
        }
        match serde_json::from_slice(text) {
            Ok(Value::Array(values)) => values.iter().for_each(|value| self.value(value)),
            Ok(value) => self.value(&value),
            Err(_) => {}
        }
    }

    fn value(&mut self, value: &Value) {
        let places: &[&str] = match self.api {
            Api::Anthropic => &["/usage", "/message/usage"],
            Api::OpenAi => &["/usage", "/response/usage"],
            Api::Gemini => &["/usageMetadata", "/response/usageMetadata"],
        };
        for place in places {
            let Some(usage) = value.pointer(place).filter(|usage| usage.is_object()) else { continue };
            // Each report of an answer counts everything so far, but may leave out what an earlier one had.
            let found = self.found.get_or_insert_default();
            let tier = match self.api {
                Api::Anthropic => usage.get("speed"),
                Api::OpenAi => value.pointer(&place.replace("usage", "service_tier")),
                Api::Gemini => None,
            };
            let tier = tier.and_then(Value::as_str).map(ServiceTier::named).unwrap_or_default();
            found.bill = found.bill.max(Bill { tier, ..reported(self.api, usage) });
            found.is_final |= *place != "/message/usage";
        }
    }
}

/// The counts of one report.
fn reported(api: Api, usage: &Value) -> Bill {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let tokens = match api {
        Api::Anthropic => {
            let (cached_input, cache_write) =
                (count("/cache_read_input_tokens"), count("/cache_creation_input_tokens"));
            let input = count("/input_tokens").saturating_add(cached_input).saturating_add(cache_write);
            Usage { input, cached_input, cache_write, output: count("/output_tokens") }
        }
        Api::OpenAi => Usage {
            input: count("/prompt_tokens").max(count("/input_tokens")),
            cached_input: count("/prompt_tokens_details/cached_tokens")
                .max(count("/input_tokens_details/cached_tokens")),
            cache_write: count("/prompt_tokens_details/cache_write_tokens")
                .max(count("/input_tokens_details/cache_write_tokens")),
            output: count("/completion_tokens").max(count("/output_tokens")),
        },
        Api::Gemini => Usage {
            input: count("/promptTokenCount").saturating_add(count("/toolUsePromptTokenCount")),
            cached_input: count("/cachedContentTokenCount"),
            cache_write: 0,
            output: count("/candidatesTokenCount").saturating_add(count("/thoughtsTokenCount")),
        },
    };
    let searches = count("/server_tool_use/web_search_requests");
    Bill {
        hour_write: count("/cache_creation/ephemeral_1h_input_tokens"),
        searches_micros: searches.saturating_mul(search_micros(api)),
        ..tokens.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANTHROPIC: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\
        \"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":20,\"output_tokens\":1}}}\n\nevent: message_delta\n\
        data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":42}}\n\n";

    fn tally(api: Api, shape: Shape, text: &str) -> Option<Usage> {
        let mut tally = Tally::new(api, shape);
        tally.push(text.as_bytes());
        tally.finish().map(|report| report.bill.usage)
    }

    #[test]
    fn each_service_reports_in_its_own_way() {
        let chat = r#"{"usage":{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}"#;
        let found = Some(Usage { input: 7, cached_input: 4, cache_write: 0, output: 5 });
        assert_eq!(tally(Api::OpenAi, Shape::Json, chat), found);
        assert_eq!(tally(Api::OpenAi, Shape::Events, &format!("data: {chat}\r\n\r\ndata: [DONE]\r\n\r\n")), found);
        let responses = "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":7,\
            \"output_tokens\":5,\"input_tokens_details\":{\"cached_tokens\":4}}}}";
        assert_eq!(tally(Api::OpenAi, Shape::Events, responses), found);
        let gemini = r#"[{"usageMetadata":{"promptTokenCount":9}},
            {"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":3,"cachedContentTokenCount":1}}]"#;
        let found = Some(Usage { input: 9, cached_input: 1, cache_write: 0, output: 5 });
        assert_eq!(tally(Api::Gemini, Shape::Json, gemini), found);
        assert_eq!(tally(Api::OpenAi, Shape::Events, "data: {\"usage\":null}\n\n"), None);
        assert_eq!(tally(Api::Anthropic, Shape::Json, "usage"), None);
        let mut start = Tally::new(Api::Anthropic, Shape::Events);
        start.push(ANTHROPIC.split_inclusive("\n\n").next().unwrap().as_bytes());
        assert!(!start.finish().unwrap().is_final);
    }

    /// Attack corpus K140.
    #[test]
    fn searches_tiers_and_an_hour_in_the_cache_are_read() {
        let bill = |api, text: &str| {
            let mut tally = Tally::new(api, Shape::Json);
            tally.push(text.as_bytes());
            tally.finish().unwrap().bill
        };
        let found = bill(
            Api::Anthropic,
            r#"{"usage":{"input_tokens":1,"cache_creation_input_tokens":9,"output_tokens":2,
            "cache_creation":{"ephemeral_1h_input_tokens":8},"server_tool_use":{"web_search_requests":50}}}"#,
        );
        assert_eq!((found.hour_write, found.searches_micros, found.tier), (8, 500_000, ServiceTier::Standard));
        let found = bill(Api::OpenAi, r#"{"response":{"usage":{"output_tokens":2},"service_tier":"priority"}}"#);
        assert_eq!(found.tier, ServiceTier::Priority);
    }

    #[test]
    fn an_answer_without_end_is_not_kept() {
        let mut tally = Tally::new(Api::OpenAi, Shape::Events);
        (0..17).for_each(|_| tally.push(&vec![b'x'; 1 << 20]));
        assert!(tally.too_big && tally.kept.is_empty());
        assert_eq!(tally.finish(), None);
    }

    proptest! {
        #[test]
        fn tokens_are_the_same_wherever_the_stream_is_cut(cut in 0..ANTHROPIC.len()) {
            let mut tally = Tally::new(Api::Anthropic, Shape::Events);
            tally.push(&ANTHROPIC.as_bytes()[..cut]);
            tally.push(&ANTHROPIC.as_bytes()[cut..]);
            let usage = Usage { input: 33, cached_input: 20, cache_write: 3, output: 42 };
            prop_assert_eq!(tally.finish(), Some(Report { bill: usage.into(), is_final: true }));
        }
    }
}
