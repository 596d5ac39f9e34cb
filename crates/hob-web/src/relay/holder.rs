//! What a request shows as its token: to the API as a bearer's, to git's server as a password.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderMap, header};

/// The token in a request's headers.
pub(super) fn shown(headers: &HeaderMap) -> Option<String> {
    let (scheme, value) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.trim().to_owned());
    }
    let pair = BASE64_STANDARD.decode(value.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    Some(String::from_utf8(pair).ok()?.split_once(':')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_bearers_or_a_password() {
        for (given, token) in [
            ("Bearer hob-pass.x", Some("hob-pass.x")),
            ("bearer  hob-pass.x", Some("hob-pass.x")),
            ("Basic eC1hY2Nlc3MtdG9rZW46aG9iLXBhc3MueA==", Some("hob-pass.x")),
            ("Basic aG9iLXBhc3MueA==", None),
            ("Basic !", None),
            ("token hob-pass.x", None),
            ("hob-pass.x", None),
        ] {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, given.parse().unwrap())]);
            assert_eq!(shown(&headers).as_deref(), token, "{given}");
        }
        assert_eq!(shown(&HeaderMap::new()), None);
    }
}
