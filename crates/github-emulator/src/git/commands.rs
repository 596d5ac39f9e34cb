//! The commands at the start of a push: the refs to move, with their old and new commits.

/// One command of a push, with full names and ids; an id of zeros means no ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Command {
    pub(in super::super) old: String,
    pub(in super::super) new: String,
    pub(in super::super) reference: String,
}

/// Reads the commands and the capabilities up to the flush packet that ends them; `None` if they are malformed.
pub(in super::super) fn parse_commands(mut bytes: &[u8]) -> Option<(Vec<Command>, String)> {
    let (mut commands, mut capabilities) = (Vec::new(), None);
    loop {
        let length = usize::from_str_radix(std::str::from_utf8(bytes.get(..4)?).ok()?, 16).ok()?;
        if length == 0 {
            return Some((commands, capabilities.unwrap_or_default()));
        }
        let line = std::str::from_utf8(bytes.get(4..length)?).ok()?;
        bytes = &bytes[length..];
        let (line, extra) = line.split_once('\0').map_or((line, None), |(line, extra)| (line, Some(extra)));
        if capabilities.is_none() {
            capabilities = Some(extra.unwrap_or_default().trim().to_owned());
        }
        if line.starts_with("shallow ") {
            continue;
        }
        let mut parts = line.trim_end_matches('\n').splitn(3, ' ');
        let (old, new, reference) = (parts.next()?, parts.next()?, parts.next()?);
        commands.push(Command { old: old.to_owned(), new: new.to_owned(), reference: reference.to_owned() });
    }
}

/// A packet of git's wire format.
pub(in super::super) fn packet(payload: &[u8]) -> Vec<u8> {
    let mut packet = format!("{:04x}", payload.len() + 4).into_bytes();
    packet.extend_from_slice(payload);
    packet
}

/// The report that refuses a whole push: `reason` for each ref, `message` for the person.
pub(in super::super) fn refuse(commands: &[Command], capabilities: &str, reason: &str, message: &str) -> Vec<u8> {
    let mut report = packet(b"unpack ok\n");
    for command in commands {
        report.extend(packet(format!("ng {} {reason}\n", command.reference).as_bytes()));
    }
    report.extend_from_slice(b"0000");
    if !capabilities.split(' ').any(|capability| capability == "side-band-64k") {
        return report;
    }
    let banded = |band: u8, payload: &[u8]| packet(&[&[band], payload].concat());
    let mut body = banded(2, format!("error: {message}\n").as_bytes());
    for chunk in report.chunks(60_000) {
        body.extend(banded(1, chunk));
    }
    body.extend_from_slice(b"0000");
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_at_the_flush_packet() {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let mut body = packet(format!("{zero} {one} refs/heads/a\0report-status side-band-64k\n").as_bytes());
        body.extend(packet(format!("{one} {zero} refs/hob/issues/1").as_bytes()));
        body.extend_from_slice(b"0000PACK");
        let (commands, capabilities) = parse_commands(&body).unwrap();
        assert_eq!(commands[0], Command { old: zero.clone(), new: one.clone(), reference: "refs/heads/a".into() });
        assert_eq!(commands[1].reference, "refs/hob/issues/1");
        assert_eq!(capabilities, "report-status side-band-64k");
        for bad in [&b"0"[..], b"zzzz", b"0003", b"00ff", b"0008abcd"] {
            assert_eq!(parse_commands(bad), None);
        }
    }
}
