//! Ids of git's objects, checked before they reach git's command line or its library.

use hob_domain::Sha;

use crate::WorkspaceError;

/// The id if it is one: 40 or 64 hexadecimal digits.
pub(super) fn checked(sha: &Sha) -> Result<&str, WorkspaceError> {
    let text = sha.as_str();
    if matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(text)
    } else {
        Err(WorkspaceError::InvalidSha(text.to_owned()))
    }
}

/// The id as the git library's.
pub(super) fn oid(sha: &Sha) -> Result<git2::Oid, WorkspaceError> {
    git2::Oid::from_str(checked(sha)?).map_err(|_error| WorkspaceError::InvalidSha(sha.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hexadecimal_digits_are_an_id() {
        assert!(checked(&Sha("0123456789abcdef0123456789abcdef01234567".into())).is_ok());
        for bad in ["", "main", "--upload-pack=x", "0123456789abcdef0123456789abcdef0123456g"] {
            assert!(checked(&Sha(bad.into())).is_err(), "{bad}");
        }
    }
}
