//! A text as its reader sees it: escapes are undone, and blanks and invisible characters are left out. Each byte keeps
//! its place in the original text.

/// Which escapes are undone. A secret may contain what looks like an escape, so each kind is also undone alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undo {
    /// No escapes: only blanks and invisible characters are left out.
    Nothing,
    /// Those of JSON, Rust, C, a shell and Markdown.
    Backslash,
    /// Those of addresses.
    Percent,
    /// Those of HTML.
    Entity,
    /// All of them.
    All,
}

impl Undo {
    /// The ways to read this text that can give different results.
    pub(super) fn all_for(text: &[u8]) -> Vec<Self> {
        let kinds = [(b'\\', Self::Backslash), (b'%', Self::Percent), (b'&', Self::Entity)];
        let there = kinds.iter().filter(|(sign, _)| text.contains(sign)).map(|(_, undo)| *undo);
        let mut ways: Vec<_> = std::iter::once(Self::Nothing).chain(there).collect();
        if ways.len() > 2 {
            ways.push(Self::All);
        }
        ways
    }

    fn takes(self, sign: u8) -> bool {
        match self {
            Self::Nothing => false,
            Self::Backslash => sign == b'\\',
            Self::Percent => sign == b'%',
            Self::Entity => sign == b'&',
            Self::All => matches!(sign, b'\\' | b'%' | b'&'),
        }
    }
}

/// A text as it was read.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) bytes: Vec<u8>,
    at: Vec<Place>,
}

/// Where a byte comes from.
struct Place {
    from: usize,
    to: usize,
    /// Whether blanks precede it.
    behind_blank: bool,
}

/// What is at a place of a text.
enum Unit {
    /// This character.
    Is(char),
    /// This byte.
    Byte(u8),
    /// A blank or a line end.
    Blank,
    /// An invisible character.
    Invisible,
}

impl Plain {
    /// Reads a text.
    pub(super) fn new(text: &[u8], undo: Undo) -> Self {
        let mut plain = Self::default();
        let (mut at, mut behind_blank) = (0, false);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (unit, length) = if undo.takes(rest[0]) { escape(rest) } else { unit(rest) };
            let to = at + length;
            let mut push = |byte| {
                plain.bytes.push(byte);
                plain.at.push(Place { from: at, to, behind_blank: std::mem::take(&mut behind_blank) });
            };
            match unit {
                Unit::Byte(byte) => push(byte),
                Unit::Is(char) => char.encode_utf8(&mut [0; 4]).bytes().for_each(push),
                Unit::Blank => behind_blank = true,
                Unit::Invisible => {}
            }
            at = to;
        }
        plain
    }

    /// Where the bytes from `from` to `to` were, and whether there are blanks among them.
    pub(super) fn source(&self, from: usize, to: usize) -> Option<(usize, usize, bool)> {
        let places = self.at.get(from..to)?;
        let (first, last) = (places.first()?, places.last()?);
        Some((first.from, last.to, places.iter().skip(1).any(|place| place.behind_blank)))
    }
}

/// What an escape that begins here means, and its length; the sign itself if it is not an escape.
fn escape(text: &[u8]) -> (Unit, usize) {
    let escape = match text {
        [b'%', high, low, ..] => byte_of(*high, *low).map(|byte| (Unit::Byte(byte), 3)),
        [b'\\', b'x', high, low, ..] => byte_of(*high, *low).map(|byte| (Unit::Byte(byte), 4)),
        [b'\\', b'u', b'{', rest @ ..] => numbered(rest, 16, b'}').map(|(unit, length)| (unit, length + 3)),
        [b'\\', b'u', rest @ ..] => rest.get(..4).and_then(|digits| char_of(digits, 16)).map(|c| (Unit::Is(c), 6)),
        [b'\\', b'n' | b'r' | b't', ..] => Some((Unit::Blank, 2)),
        // How JSON, Markdown and shells write a character that would otherwise have a meaning.
        [b'\\', other, ..] if other.is_ascii_punctuation() => Some((Unit::Byte(*other), 2)),
        [b'&', b'#', b'x' | b'X', rest @ ..] => numbered(rest, 16, b';').map(|(unit, length)| (unit, length + 3)),
        [b'&', b'#', rest @ ..] => numbered(rest, 10, b';').map(|(unit, length)| (unit, length + 2)),
        _other => {
            NAMED.iter().find_map(|(name, byte)| text.starts_with(name).then_some((Unit::Byte(*byte), name.len())))
        }
    };
    escape.unwrap_or((Unit::Byte(text[0]), 1))
}

/// The character names that programs use when they write HTML.
const NAMED: [(&[u8], u8); 5] =
    [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];

/// The unit that begins here, and its length.
fn unit(text: &[u8]) -> (Unit, usize) {
    match text {
        // UTF-16 has a zero byte beside each letter.
        [0, ..] => (Unit::Invisible, 1),
        // The soft hyphen; zero-width characters and marks of direction; the word joiner and what follows; the byte
        // order mark.
        [0xc2, 0xad, ..] => (Unit::Invisible, 2),
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xaf, ..] | [0xef, 0xbb, 0xbf, ..] => {
            (Unit::Invisible, 3)
        }
        [byte, ..] if byte.is_ascii_whitespace() => (Unit::Blank, 1),
        [byte, ..] => (Unit::Byte(*byte), 1),
        [] => (Unit::Invisible, 0),
    }
}

fn byte_of(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn char_of(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// A character by its number, up to the byte `end`, and the length of both. No number has more than eight digits.
fn numbered(text: &[u8], radix: u32, end: u8) -> Option<(Unit, usize)> {
    let length = text.iter().take(9).position(|byte| *byte == end)?;
    Some((Unit::Is(char_of(&text[..length], radix)?), length + 1))
}
