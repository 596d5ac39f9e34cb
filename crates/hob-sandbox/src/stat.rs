//! The fields of `/proc/PID/stat`.

use std::{fs, path::Path};

/// One field, by its number in proc_pid_stat(5), from the third on. The name, field 2, may contain anything: the other
/// fields follow it, and it need not be UTF-8.
pub fn stat_field(process: &Path, number: usize) -> Option<String> {
    field(&fs::read(process.join("stat")).ok()?, number)
}

fn field(stat: &[u8], number: usize) -> Option<String> {
    let name_ends = stat.windows(2).rposition(|pair| pair == b") ")?;
    // The state, the first one after the name, is field 3.
    let behind = std::str::from_utf8(stat.get(name_ends + 2..)?).ok()?;
    behind.split_whitespace().nth(number.checked_sub(3)?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus K131.
    #[test]
    fn a_field_is_found_whatever_the_process_is_called() {
        for name in [&b"sh"[..], b"s\xff", b"a) S 7 (b", b"\n) ", b""] {
            let stat = [b"12 (".as_slice(), name, b") S 34 56\n"].concat();
            assert_eq!([3, 4, 5].map(|number| field(&stat, number).unwrap()), ["S", "34", "56"], "{name:?}");
        }
        for nonsense in [&b""[..], b"12 (sh", b"12 (sh) ", b") \xff"] {
            assert_eq!(field(nonsense, 4), None, "{nonsense:?}");
        }
        assert_eq!(field(b"12 (sh) S", 2), None);
    }
}
