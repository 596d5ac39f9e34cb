//! Keeps a key out of a service's answers: some repeat the key that they refuse.

use bytes::Bytes;

/// Replaces each occurrence of a key by as many `*`, wherever the pieces are cut. Only a piece's end that could be the
/// beginning of the key waits for the next piece, so a stream is not delayed.
#[derive(Default)]
pub(crate) struct Redactor {
    key: Vec<u8>,
    held: Vec<u8>,
}

impl Redactor {
    pub(crate) fn new(key: Option<&str>) -> Self {
        Self { key: key.unwrap_or_default().into(), held: Vec::new() }
    }

    /// Takes a piece, and returns the bytes that can be passed on so far.
    pub(crate) fn push(&mut self, piece: Bytes) -> Bytes {
        if self.key.is_empty() {
            return piece;
        }
        let mut text = std::mem::take(&mut self.held);
        if text.is_empty() && !piece.contains(&self.key[0]) {
            return piece;
        }
        text.extend_from_slice(&piece);
        let mut at = 0;
        while let Some(found) = text[at..].windows(self.key.len()).position(|window| window == self.key) {
            text[at + found..at + found + self.key.len()].fill(b'*');
            at += found + self.key.len();
        }
        let longest = (self.key.len() - 1).min(text.len());
        let open = (1..=longest).rev().find(|length| text.ends_with(&self.key[..*length])).unwrap_or(0);
        self.held = text.split_off(text.len() - open);
        text.into()
    }

    /// The remaining bytes at the end.
    pub(crate) fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_is_replaced_wherever_the_text_is_cut(before in "[ab]{0,8}", after in "[ab]{0,8}", cut in 0..8_usize) {
            let whole = format!("{before}abab-{after}");
            let mut redactor = Redactor::new(Some("abab-"));
            let mut shown = Vec::new();
            for piece in [&whole[..cut.min(whole.len())], &whole[cut.min(whole.len())..]] {
                shown.extend_from_slice(&redactor.push(Bytes::copy_from_slice(piece.as_bytes())));
            }
            shown.extend_from_slice(&redactor.finish());
            prop_assert_eq!(String::from_utf8(shown).unwrap(), whole.replace("abab-", "*****"));
        }
    }

    #[test]
    fn an_event_is_not_delayed() {
        let mut redactor = Redactor::new(Some("sk-secret"));
        assert_eq!(redactor.push(Bytes::from_static(b"data: task\n\n")), "data: task\n\n");
        assert_eq!(Redactor::new(None).push(Bytes::from_static(b"sk")), "sk");
    }
}
