//! What one model's service was found to refuse in a request, so that the next one is without it.
//!
//! - Flow: a request is refused; [`Adapted::learn`] reads why; if that can be mended, the same request is sent once more, changed.
//! - Guarantees: each change is made once for as long as the client lives, and the cap only falls, so that the tries are bounded.
//! - Sources, read 2026-11: the errors of OpenAI's chat completions (`unsupported_parameter`), of Anthropic's messages, and of
//!   vLLM's and llama.cpp's servers for a completion that does not fit the window beside its prompt.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

use bytes::Bytes;
use hob_config::EditForm;
use hob_domain::FailureClass;
use hob_egress::ServiceTier;

use crate::model::{
    ModelError, ModelReply,
    collect::Collect,
    http::{Call, Http},
};

/// Tries of one request: as it is, and once more for each of the seven refusals.
const TRIES: usize = 8;
/// Tokens of a reply that are too few to work with: then the request has to become shorter.
const CAP_LEAST: u32 = 1_024;
/// The two names of the cap at interfaces compatible with OpenAI's.
const NAMES: [&str; 2] = ["max_tokens", "max_completion_tokens"];
/// Words in a refusal of a tool for patches.
const PATCHES: [&str; 4] = ["apply_patch", "tools", "custom", "grammar"];
/// Words with which services refuse a member of a request.
const REFUSALS: [&str; 8] = [
    "unsupported",
    "not supported",
    "does not support",
    "unrecognized",
    "unknown",
    "not permitted",
    "extra_forbidden",
    "unexpected",
];

/// The changes to the requests of one client.
#[derive(Debug)]
pub(super) struct Adapted {
    cap: AtomicU32,
    has_other_name: AtomicBool,
    lacks_effort: AtomicBool,
    lacks_count: AtomicBool,
    lacks_patch_tool: AtomicBool,
    lacks_patch_text: AtomicBool,
    lacks_flex: AtomicBool,
}

impl Adapted {
    /// Of a model that edits in this way, as far as its interface has a tool for that.
    pub(super) fn new(edits: Option<EditForm>) -> Self {
        let no = || AtomicBool::new(false);
        let (tool, text) = (edits == Some(EditForm::PatchTool), edits == Some(EditForm::PatchText));
        Self {
            cap: AtomicU32::new(u32::MAX),
            has_other_name: no(),
            lacks_effort: no(),
            lacks_count: no(),
            lacks_patch_tool: AtomicBool::new(!tool),
            lacks_patch_text: AtomicBool::new(!tool && !text),
            lacks_flex: no(),
        }
    }

    /// How a tool for patches is offered.
    pub(super) fn patches(&self) -> EditForm {
        match (self.lacks_patch_tool.load(Relaxed), self.lacks_patch_text.load(Relaxed)) {
            (false, _) => EditForm::PatchTool,
            (true, false) => EditForm::PatchText,
            (true, true) => EditForm::Patch,
        }
    }

    /// The cap of a reply that should have `wanted` tokens.
    pub(super) fn cap(&self, wanted: u32) -> u32 {
        wanted.min(self.cap.load(Relaxed))
    }

    /// The name of the cap where it should be `wanted`.
    pub(super) fn name(&self, wanted: &'static str) -> &'static str {
        let other = NAMES.into_iter().find(|name| *name != wanted).unwrap_or(wanted);
        if self.has_other_name.load(Relaxed) { other } else { wanted }
    }

    /// The word for the effort, unless the service refused it.
    pub(super) fn effort<T>(&self, wanted: Option<T>) -> Option<T> {
        wanted.filter(|_| !self.lacks_effort.load(Relaxed))
    }

    /// Whether the stream is asked for a count of its tokens.
    pub(super) fn counts(&self) -> bool {
        !self.lacks_count.load(Relaxed)
    }

    /// The tier where it should be `wanted`.
    pub(super) fn tier(&self, wanted: ServiceTier) -> ServiceTier {
        if self.lacks_flex.load(Relaxed) { ServiceTier::Standard } else { wanted }
    }

    /// Sends `call` with what `made` says, the cap of the reply and the body, and once more after each refusal that changes these.
    pub(super) async fn sent<C: Collect>(
        &self,
        http: &Http,
        mut call: Call<'_>,
        of: &str,
        made: impl Fn() -> (u32, Bytes) + Send,
    ) -> Result<ModelReply, ModelError> {
        let mut tries_left = TRIES;
        loop {
            tries_left -= 1;
            let offered = self.patches();
            let (cap, body) = made();
            call.body = body;
            match http.stream::<C>(&call, of).await {
                Err(error)
                    if tries_left > 0 && (self.learn(&error, cap, offered) || self.hurries(&error, &mut call.tier)) => {
                }
                answered => return answered,
            }
        }
    }

    /// Whether the slow tier is left: it has no room now, which costs nothing, or the service does not have it.
    fn hurries(&self, error: &ModelError, tier: &mut ServiceTier) -> bool {
        let is_about_it = match error {
            ModelError::Status { status: 429, failure, .. } => matches!(failure, FailureClass::Transient { .. }),
            ModelError::Silent(_) => true,
            error => error.refusal().is_some_and(|message| message.contains("service_tier")),
        };
        is_about_it && std::mem::take(tier) == ServiceTier::Flex && !self.lacks_flex.swap(true, Relaxed)
    }

    /// Whether another try of a request can help that asked for at most `cap` tokens and offered patches as `offered`.
    fn learn(&self, error: &ModelError, cap: u32, offered: EditForm) -> bool {
        let message = match error {
            ModelError::TooLong(message) => Some(message.as_str()),
            error => error.refusal(),
        };
        let Some(message) = message.map(str::to_lowercase) else { return false };
        if let Some(fitting) = fitting(&message, cap).or_else(|| allowed(&message, cap)) {
            return self.cap.fetch_min(fitting, Relaxed) > fitting;
        }
        // Other servers of the interface may know functions only, or functions and custom tools.
        let lacks = match offered {
            EditForm::PatchTool => Some(&self.lacks_patch_tool),
            EditForm::PatchText => Some(&self.lacks_patch_text),
            EditForm::Patch | EditForm::Replace => None,
        };
        if let Some(lacks) = lacks.filter(|_| PATCHES.iter().any(|word| message.contains(word))) {
            lacks.store(true, Relaxed);
            return true;
        }
        if !REFUSALS.iter().any(|refusal| message.contains(refusal)) {
            return false;
        }
        if message.contains("stream_options") {
            return !self.lacks_count.swap(true, Relaxed);
        }
        if ["reasoning_effort", "reasoning.effort"].iter().any(|name| message.contains(name)) {
            return !self.lacks_effort.swap(true, Relaxed);
        }
        NAMES.iter().any(|name| message.contains(name)) && !self.has_other_name.swap(true, Relaxed)
    }
}

/// The largest cap that fits, of a message that has the `cap` of the request beside the limit of the service; `None` if it is not
/// about that, or too little would be left.
fn fitting(message: &str, cap: u32) -> Option<u32> {
    let cap = u64::from(cap);
    let plain = message.replace([',', '_'], "");
    let all: Vec<u64> = plain.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    if !all.contains(&cap) {
        return None;
    }
    let mut others: Vec<u64> = all.iter().copied().filter(|number| *number != cap && *number >= 100).collect();
    others.sort_unstable();
    others.dedup();
    // What was asked for in all, where that is said, too.
    let sums: Vec<u64> = others.iter().map(|prompt| prompt + cap).collect();
    others.retain(|number| !sums.contains(number));
    let fits = match others.as_slice() {
        [most] => *most,
        [prompt, window] => window - prompt,
        _ => return None,
    };
    u32::try_from(fits).ok().filter(|fits| *fits >= CAP_LEAST && u64::from(*fits) < cap)
}

/// The largest cap that a service allows, of a message that names only that: `the valid range of max_tokens is [1, 8192]`.
fn allowed(message: &str, cap: u32) -> Option<u32> {
    let is_about_it = NAMES.iter().any(|name| message.contains(name));
    let is_about_more = ["context length", "prompt", "input", "requested"].iter().any(|word| message.contains(word));
    if !is_about_it || is_about_more {
        return None;
    }
    let plain = message.replace([',', '_'], "");
    let numbers = plain.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u32>().ok());
    let most: BTreeSet<u32> = numbers.filter(|number| (CAP_LEAST..cap).contains(number)).collect();
    most.first().copied().filter(|_| most.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> ModelError {
        ModelError::Status { status: 400, message: message.to_owned(), failure: FailureClass::Permanent }
    }

    #[test]
    fn the_cap_that_fits_is_what_the_service_says() {
        for (message, fits) in [
            (
                "This model's maximum context length is 8192 tokens. However, you requested 21384 tokens (5000 in the messages, \
                 16384 in the completion). Please reduce the length of the messages or completion.",
                Some(3_192),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens \
                 and your request has 500 input tokens (16384 > 8192 - 500).",
                Some(7_692),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease them",
                Some(10_000),
            ),
            (
                "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-x",
                Some(8_192),
            ),
            ("max_tokens is too large: 16384. This model supports at most 4096 completion tokens", Some(4_096)),
            // Too little would be left: the request has to become shorter.
            (
                "maximum context length is 8192 tokens, you requested 24384 tokens (8000 in the messages, 16384 in the completion)",
                None,
            ),
            ("prompt is too long: 205114 tokens > 200000 maximum", None),
            ("max_tokens is too large: 16384", None),
        ] {
            assert_eq!(fitting(message, 16_384), fits, "{message}");
        }
    }

    #[test]
    fn the_cap_that_is_allowed_is_taken_where_only_that_is_named() {
        for (message, allows) in [
            ("invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(8_192)),
            ("range of max_tokens should be [1, 8,192]", Some(8_192)),
            (
                "`max_tokens` must be less than or equal to `8192`, less than the `context_window` of this model",
                Some(8_192),
            ),
            ("max_tokens must be at least 1", None),
            ("max_tokens is too large: 16384", None),
            ("range of input length should be [1, 30720]", None),
            ("maximum context length is 8192 tokens, reduce the prompt or max_tokens", None),
        ] {
            assert_eq!(allowed(message, 16_384), allows, "{message}");
        }
    }

    #[test]
    fn what_is_refused_is_left_out_from_then_on_and_once() {
        let adapted = Adapted::new(None);
        let learn = |error: &ModelError| adapted.learn(error, 9_000, EditForm::Patch);
        assert_eq!(
            (adapted.name("max_tokens"), adapted.cap(9_000), adapted.effort(Some("high"))),
            ("max_tokens", 9_000, Some("high"))
        );
        let name = refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
        assert!(learn(&name) && !learn(&name));
        assert_eq!(
            (adapted.name("max_tokens"), adapted.name("max_completion_tokens")),
            ("max_completion_tokens", "max_tokens")
        );
        let effort = refused("Unrecognized request argument supplied: reasoning_effort");
        assert!(learn(&effort) && !learn(&effort));
        assert_eq!(adapted.effort(Some("high")), None);
        let count = refused("Unrecognized request argument supplied: stream_options");
        assert!(adapted.counts() && learn(&count) && !learn(&count) && !adapted.counts());
        let cap = ModelError::TooLong("max_tokens: 9000 > 4096, the maximum number of output tokens".into());
        assert!(learn(&cap) && !learn(&cap));
        assert_eq!((adapted.cap(9_000), adapted.cap(2_000)), (4_096, 2_000));
        for other in [refused("no such model"), refused("unknown field `x`"), ModelError::Cut] {
            assert!(!Adapted::new(None).learn(&other, 9_000, EditForm::Patch), "{other}");
        }
    }
}
