//! The paths of a model service that a route lets through: asking a model and listing models, but not files, batches,
//! stored answers, accounts or bills.

use http::Method;

use crate::vendor::Api;

/// The meaning of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// Asks a model, and costs tokens. The path of some services names the model.
    Ask(Ask, Option<String>),
    /// Counts tokens, which costs nothing.
    Counts(Ask),
    /// Lists models; its request has no body.
    Lists,
}

/// The form of a request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A conversation, as each service has it.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's completions of a text.
    Completions,
    /// OpenAI's embeddings.
    Embeddings,
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
        (Api::Anthropic, ["v1", "messages" | "complete"]) if is_post => Some(Call::Ask(Ask::Messages, None)),
        (Api::Anthropic, ["v1", "messages", "count_tokens"]) if is_post => Some(Call::Counts(Ask::Messages)),
        (Api::Anthropic, ["v1", "models"] | ["v1", "models", _]) if is_get => Some(Call::Lists),
        (Api::OpenAi, ["v1", rest @ ..] | rest) => match rest {
            ["chat", "completions"] if is_post => Some(Call::Ask(Ask::Messages, None)),
            ["completions"] if is_post => Some(Call::Ask(Ask::Completions, None)),
            ["responses"] | ["responses", "compact"] if is_post => Some(Call::Ask(Ask::Responses, None)),
            ["embeddings"] if is_post => Some(Call::Ask(Ask::Embeddings, None)),
            ["models"] | ["models", ..] if is_get => Some(Call::Lists),
            _ => None,
        },
        (Api::Gemini, ["v1" | "v1beta", "models", named]) if is_post => {
            let (model, verb) = named.split_once(':')?;
            match verb {
                "generateContent" | "streamGenerateContent" | "embedContent" | "batchEmbedContents" => {
                    Some(Call::Ask(Ask::Messages, Some(model.to_owned())))
                }
                "countTokens" => Some(Call::Counts(Ask::Messages)),
                _ => None,
            }
        }
        (Api::Gemini, ["v1" | "v1beta", "models"] | ["v1" | "v1beta", "models", _]) if is_get => Some(Call::Lists),
        (Api::Anthropic | Api::Gemini, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_asking_and_listing_pass() {
        let (get, post) = (Method::GET, Method::POST);
        for (api, path, ask) in [
            (Api::Anthropic, "/v1/messages", Ask::Messages),
            (Api::OpenAi, "/chat/completions", Ask::Messages),
            (Api::OpenAi, "/v1/responses", Ask::Responses),
        ] {
            assert_eq!(call(api, &post, path), Some(Call::Ask(ask, None)), "{path}");
        }
        for path in ["/v1beta/models/gemini-3:streamGenerateContent", "/v1beta/models/gemini-3%3AgenerateContent"] {
            assert_eq!(
                call(Api::Gemini, &post, path),
                Some(Call::Ask(Ask::Messages, Some("gemini-3".into()))),
                "{path}"
            );
        }
        for (api, path) in [(Api::Anthropic, "/v1/models"), (Api::OpenAi, "/models/org/x"), (Api::Gemini, "/v1/models")]
        {
            assert_eq!(call(api, &get, path), Some(Call::Lists), "{path}");
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
}
