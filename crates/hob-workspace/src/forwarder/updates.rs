//! The list of updates that a push begins with, read before anything of it is sent on.
//!
//! The format is git's pack protocol: lines of four hexadecimal digits, the length with these four, and a text
//! `OLD NEW REF`; after the first a NUL and capabilities; `0000` ends the list, and the pack follows.
//! <https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer>

use hob_domain::Sha;

/// The most bytes that the list may have: it has one line.
const LIST_MAX: usize = 8 << 10;

/// One move of one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefUpdate {
    /// Its full name.
    pub(crate) name: String,
    /// The ref's commit before; `None` if it does not exist.
    pub(crate) old: Option<Sha>,
    /// The ref's commit after.
    pub(crate) new: Sha,
}

impl RefUpdate {
    /// The update as git writes it. It cannot be a deletion, which has zeros as its new value.
    fn line(&self) -> String {
        let nothing = "0".repeat(self.new.as_str().len());
        format!("{} {} {}", self.old.as_ref().map_or(nothing.as_str(), Sha::as_str), self.new, self.name)
    }
}

/// The state of reading a push's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Incomplete.
    Unfinished,
    /// Complete, without an update. Git asks this way whether it may push, before it sends much; nothing may follow.
    Empty,
    /// Complete, with the allowed update.
    Allowed {
        /// How many bytes it has.
        end: usize,
        /// Whether all updates of the push are to be made or none.
        is_atomic: bool,
    },
}

/// Reads the beginning of a push's body.
///
/// # Errors
/// Why a list that holds anything but `allowed` is refused.
pub(super) fn read(body: &[u8], allowed: &RefUpdate) -> Result<List, &'static str> {
    let expected = allowed.line();
    read_each(body, |update| update == expected.as_bytes())
}

/// Reads the beginning of a push's body, whose updates, as git writes them, are each allowed.
///
/// # Errors
/// Why a list with another one is refused.
pub(super) fn read_each(body: &[u8], mut is_allowed: impl FnMut(&[u8]) -> bool) -> Result<List, &'static str> {
    let (mut rest, mut list) = (body, List::Empty);
    let ended = |list, after: &[u8]| match list {
        List::Allowed { is_atomic, .. } => List::Allowed { end: body.len() - after.len(), is_atomic },
        List::Unfinished | List::Empty => list,
    };
    loop {
        if body.len() - rest.len() > LIST_MAX {
            return Err("a list of updates that is too long");
        }
        let Some((digits, after)) = rest.split_first_chunk::<4>() else { return Ok(List::Unfinished) };
        let length = length(*digits).ok_or("a list of updates that cannot be read")?;
        match length {
            0 if list == List::Empty && !after.is_empty() => return Err("a pack without an update"),
            0 => return Ok(ended(list, after)),
            1..=4 => return Err("a list of updates that cannot be read"),
            longer if longer > LIST_MAX => return Err("a list of updates that is too long"),
            _fits => {}
        }
        let Some((line, next)) = after.split_at_checked(length - 4) else { return Ok(List::Unfinished) };
        let (update, capabilities) = match line.iter().position(|byte| *byte == 0) {
            Some(at) if list == List::Empty => (&line[..at], &line[at + 1..]),
            Some(_) => return Err("capabilities behind the first update"),
            None => (line, &[][..]),
        };
        if !is_allowed(update.strip_suffix(b"\n").unwrap_or(update)) {
            return Err("an update of another ref, from or to another commit, or a deletion");
        }
        // Options ask more of a server than the update, and a certificate carries its own updates.
        if capabilities
            .split(u8::is_ascii_whitespace)
            .any(|one| one == b"push-options" || one.starts_with(b"push-cert"))
        {
            return Err("a push with options or a certificate");
        }
        let is_atomic = capabilities.split(u8::is_ascii_whitespace).any(|one| one == b"atomic");
        (list, rest) = (List::Allowed { end: 0, is_atomic }, next);
    }
}

fn length(digits: [u8; 4]) -> Option<usize> {
    digits.into_iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(digit).to_digit(16)? as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(line: &str) -> String {
        format!("{:04x}{line}", line.len() + 4)
    }

    #[test]
    fn only_the_one_update_passes_wherever_the_body_is_cut() {
        let (zero, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let name = "refs/heads/hob/7";
        let made = RefUpdate { name: name.into(), old: None, new: one.as_str().into() };
        let moved = RefUpdate { old: Some(two.as_str().into()), ..made.clone() };
        let told = "\0 report-status-v2 side-band-64k object-format=sha1 agent=git/2.47.3";
        let good = packet(&format!("{zero} {one} {name}{told}")) + "0000PACK....";
        let is_allowed = |end, is_atomic| Ok(List::Allowed { end, is_atomic });
        let end = good.len() - "PACK....".len();
        assert_eq!(read(good.as_bytes(), &made), is_allowed(end, false));
        for cut in 0..end {
            assert_eq!(read(&good.as_bytes()[..cut], &made), Ok(List::Unfinished), "{cut}");
        }
        assert_eq!(read(&good.as_bytes()[..end], &made), is_allowed(end, false));
        let all = packet(&format!("{zero} {one} {name}{told} atomic")) + "0000";
        assert_eq!(read(all.as_bytes(), &made), is_allowed(all.len(), true));
        let other = packet(&format!("{two} {one} {name}\n")) + "0000PACK";
        assert_eq!(read(other.as_bytes(), &moved), is_allowed(other.len() - 4, false));
        assert_eq!(read(b"0000", &made), Ok(List::Empty));

        let own = packet(&format!("{zero} {one} {name}{told}"));
        for bad in [
            packet(&format!("{zero} {one} refs/heads/main{told}")) + "0000",
            packet(&format!("{zero} {two} {name}{told}")) + "0000",
            packet(&format!("{two} {one} {name}{told}")) + "0000",
            packet(&format!("{one} {zero} {name}{told}")) + "0000",
            packet(&format!("{zero} {one} {name} {told}")) + "0000",
            packet(&format!("{zero} {one} {name}{told} push-options")) + "0000",
            packet(&format!("push-cert{told}")) + "0000",
            packet(&format!("shallow {one}")) + "0000",
            own.clone() + &packet(&format!("{one} {zero} refs/heads/main")) + "0000",
            own.clone() + &own + "0000",
            own.clone() + "0001",
            "0000PACK".to_owned(),
            "0004".to_owned(),
            "+01f".to_owned(),
            "GET ".to_owned(),
            "ffff".to_owned(),
        ] {
            assert!(read(bad.as_bytes(), &made).is_err(), "{bad}");
        }
        let many = packet(&format!("{zero} {one} {name}")).repeat(LIST_MAX / 40);
        assert!(read(many.as_bytes(), &made).is_err());
    }
}
