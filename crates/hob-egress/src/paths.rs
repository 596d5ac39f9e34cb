//! The paths of a model service that a route lets through: asking a model and listing models, but not files, batches,
//! stored answers, accounts or bills.

use http::Method;

use crate::vendor::Api;

/// The meaning of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// Asks a model, and costs tokens. The path of some services names the model.
    Ask(Option<String>),
    /// Costs nothing: lists models, counts tokens.
    Free,
}

/// The call behind `path`, the part below the route; `None` if it is not let through.
pub(crate) fn call(api: Api, method: &Method, path: &str) -> Option<Call> {
    // `..`, empty parts and escapes are read in more than one way; `%3A` is how some clients write the colon of Gemini.
    let path = path.replace("%3A", ":").replace("%3a", ":");
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let plain = |part: &&str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'@');
        !part.is_empty() && !part.bytes().all(|byte| byte == b'.') && part.bytes().all(known)
    };
    if !parts.iter().all(plain) {
        return None;
    }
    let (is_get, is_post) = (method == Method::GET, method == Method::POST);
    match (api, parts.as_slice()) {
        (Api::Anthropic, ["v1", "messages" | "complete"]) if is_post => Some(Call::Ask(None)),
        (Api::Anthropic, ["v1", "messages", "count_tokens"]) if is_post => Some(Call::Free),
        (Api::Anthropic, ["v1", "models"] | ["v1", "models", _]) if is_get => Some(Call::Free),
        (Api::OpenAi, ["v1", rest @ ..] | rest) => match rest {
            ["chat", "completions"] | ["completions" | "responses" | "embeddings"] | ["responses", "compact"]
                if is_post =>
            {
                Some(Call::Ask(None))
            }
            ["models"] | ["models", ..] if is_get => Some(Call::Free),
            _ => None,
        },
        (Api::Gemini, ["v1" | "v1beta", "models", named]) if is_post => {
            let (model, verb) = named.split_once(':')?;
            match verb {
                "generateContent" | "streamGenerateContent" | "embedContent" | "batchEmbedContents" => {
                    Some(Call::Ask(Some(model.to_owned())))
                }
                "countTokens" => Some(Call::Free),
                _ => None,
            }
        }
        (Api::Gemini, ["v1" | "v1beta", "models"] | ["v1" | "v1beta", "models", _]) if is_get => Some(Call::Free),
        (Api::Anthropic | Api::Gemini, _) => None,
    }
}

/// The query without the parts that sign in, which some clients put there.
pub(crate) fn query_without_keys(query: &str) -> String {
    let is_key = |part: &&str| {
        let name = part.split('=').next().unwrap_or_default();
        // An escaped name could be one of them.
        name.contains('%')
            || ["key", "api_key", "api-key", "access_token"].contains(&name.to_ascii_lowercase().as_str())
    };
    query.split('&').filter(|part| !is_key(part)).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_asking_and_listing_pass() {
        let (get, post) = (Method::GET, Method::POST);
        for (api, method, path) in [
            (Api::Anthropic, &post, "/v1/messages"),
            (Api::OpenAi, &post, "/chat/completions"),
            (Api::OpenAi, &post, "/v1/responses"),
        ] {
            assert_eq!(call(api, method, path), Some(Call::Ask(None)), "{path}");
        }
        for path in ["/v1beta/models/gemini-3:streamGenerateContent", "/v1beta/models/gemini-3%3AgenerateContent"] {
            assert_eq!(call(Api::Gemini, &post, path), Some(Call::Ask(Some("gemini-3".into()))), "{path}");
        }
        for (api, path) in [(Api::Anthropic, "/v1/models"), (Api::OpenAi, "/models/org/x"), (Api::Gemini, "/v1/models")]
        {
            assert_eq!(call(api, &get, path), Some(Call::Free), "{path}");
        }
    }

    #[test]
    fn a_placeholder_deletes_and_reads_nothing_else() {
        for (api, method, path) in [
            (Api::Anthropic, Method::POST, "/v1/messages/batches"),
            (Api::Anthropic, Method::GET, "/v1/files"),
            (Api::Anthropic, Method::DELETE, "/v1/messages"),
            (Api::Anthropic, Method::POST, "/v1/messages/../files"),
            (Api::Anthropic, Method::POST, "/v1/messages/%2e%2e/files"),
            (Api::Anthropic, Method::POST, "//v1/messages"),
            (Api::Anthropic, Method::GET, "/v1/organizations/cost_report"),
            (Api::OpenAi, Method::GET, "/v1/responses/resp_1"),
            (Api::OpenAi, Method::DELETE, "/v1/models/ft:mine"),
            (Api::OpenAi, Method::POST, "/v1/files"),
            (Api::OpenAi, Method::GET, "/models/../files"),
            (Api::OpenAi, Method::GET, "/models/..%2ffiles"),
            (Api::OpenAi, Method::GET, "/v1/v1/models"),
            (Api::Gemini, Method::POST, "/v1beta/models/x:delete"),
            (Api::Gemini, Method::GET, "/v1beta/files"),
        ] {
            assert_eq!(call(api, &method, path), None, "{method} {path}");
        }
    }

    #[test]
    fn a_key_in_the_query_is_left_out() {
        assert_eq!(query_without_keys("alt=sse&key=abc&x=1"), "alt=sse&x=1");
        assert_eq!(query_without_keys("KEY=a&%6bey=b&access_token=c"), "");
    }
}
