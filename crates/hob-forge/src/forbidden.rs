//! What to do about a 403 that is not a rate limit, by its headers, its words, or the permission that the call needs.

use hob_domain::denied_advice;
use hob_text::clip;
use http::HeaderMap;

use crate::{TokenPermission, purpose::permission_advice};

/// What to do about a refused call, if known.
pub(super) fn advice(headers: &HeaderMap, message: &str, needs: Option<TokenPermission>) -> Option<String> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let sign_on = || {
        let address = sign_on_address(header("x-github-sso")?)?;
        Some(format!("authorize the token for the organization's single sign-on, at {address} (good for an hour)"))
    };
    let permission = || {
        // GitHub offers `checks` only to Apps and jobs:
        // <https://docs.github.com/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens>
        if needs == Some(TokenPermission::ChecksRead) && message.ends_with("by personal access token") {
            return Some("no fine-grained token may: use a GitHub App or a classic token".to_owned());
        }
        let named = header("x-accepted-github-permissions").and_then(accepted);
        named.map(|named| permission_advice(&named)).or_else(|| Some(needs?.advice()))
    };
    sign_on().or_else(|| denied_advice(message).map(str::to_owned)).or_else(permission)
}

/// The address in `required; url=https://…`.
/// <https://docs.github.com/rest/authentication/authenticating-to-the-rest-api>
fn sign_on_address(header: &str) -> Option<String> {
    let address = header.split(';').find_map(|part| part.trim().strip_prefix("url="))?;
    (address.starts_with("https://") && !address.contains(char::is_whitespace)).then(|| clip(address, 300))
}

/// The permissions of `contents=write,workflows=write; administration=write`: alternative sets, each named like
/// [`TokenPermission`].
/// <https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api>
fn accepted(header: &str) -> Option<String> {
    let named = |permission: &str| {
        let (name, level) = permission.trim().split_once('=')?;
        let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_word(name) && is_word(level)).then(|| format!("`{}: {level}`", name.replace('_', " ")))
    };
    let sets = header.split(';').map(|set| {
        let permissions: Option<Vec<_>> = set.split(',').map(named).collect();
        Some(permissions?.join(" and "))
    });
    let sets: Option<Vec<_>> = sets.collect();
    Some(clip(&sets?.join(" or "), 300))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_refusal_says_what_to_do_by_its_headers_then_by_its_words_then_by_the_call() {
        let sso = ("x-github-sso", "required; url=https://github.com/orgs/acme/sso?authorization_request=AZ");
        let needs = ("x-accepted-github-permissions", "pull_requests=write,contents=read; administration=write");
        let lacks = "Resource not accessible by personal access token";
        for (headers, message, advised) in [
            (
                &[sso, needs][..],
                "Resource protected by organization SAML enforcement.",
                "at https://github.com/orgs/acme",
            ),
            (&[("x-github-sso", "required; url=javascript:x")], lacks, "`issues: write`"),
            (&[needs], "Repository was archived so is read-only.", "the repository is archived"),
            (&[needs], lacks, "permission `pull requests: write` and `contents: read` or `administration: write`"),
            (&[("x-accepted-github-permissions", "no sense")], lacks, "permission `issues: write`"),
            (&[("x-accepted-github-permissions", "")], lacks, "permission `issues: write`"),
            (&[], "no reason given", "permission `issues: write`"),
        ] {
            let mut fields = HeaderMap::new();
            for (name, value) in headers {
                fields.insert(*name, HeaderValue::from_static(value));
            }
            let found = advice(&fields, message, Some(TokenPermission::IssuesWrite)).unwrap();
            assert!(found.contains(advised), "{message}: {found}");
        }
    }

    #[test]
    fn a_fine_grained_token_is_not_told_to_get_a_permission_that_there_is_not() {
        let refused = |by: &str| format!("Resource not accessible by {by}");
        let asked = |by| advice(&HeaderMap::new(), &refused(by), Some(TokenPermission::ChecksRead)).unwrap();
        assert!(asked("personal access token").contains("use a GitHub App"));
        assert!(asked("integration").contains("`checks: read`"));
    }

    #[test]
    fn nothing_is_advised_where_nothing_is_known() {
        assert_eq!(advice(&HeaderMap::new(), "no reason given", None), None);
    }
}
