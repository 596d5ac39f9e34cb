//! The files beside a session's transcript: small ones that are replaced as a whole.
//!
//! - Guarantees: only the owner can read them (mode 0600); a reader sees the old text or the new one, also after a
//!   crash; they contain no secret that Hob knows.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use hob_domain::investigation::{EvidenceId, Investigation};
use hob_text::KnownSecrets;

use crate::session::{DamagedRecord, Session};

/// The record of an investigation.
const INVESTIGATION: &str = "investigation.json";
/// Bytes of a file that is read back.
const BYTES_MAX: u64 = 8 << 20;

/// The state of an investigation's record on the disk.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Nothing: the session has none, or is not kept.
    Nothing,
    /// The record.
    Record(Box<Investigation>),
    /// A record that cannot be read, with the reason. It was moved aside.
    Damaged(DamagedRecord),
}

impl Session {
    /// The record of its investigation. A damaged one is moved aside, so that the next one can be written.
    pub(crate) fn investigation(&self) -> Kept {
        let Some((folder, _)) = self.place() else { return Kept::Nothing };
        let why = match read_investigation(&folder) {
            Ok(Some(record)) => return Kept::Record(Box::new(record)),
            Ok(None) => return Kept::Nothing,
            Err(why) => why,
        };
        let path = folder.join(INVESTIGATION);
        // A record that cannot be moved is replaced by the next one.
        fs::rename(&path, path.with_extension("json.damaged")).ok();
        Kept::Damaged(why)
    }

    /// Keeps the record of its investigation, if the session is kept.
    pub(crate) fn keep_investigation(&self, record: &Investigation) -> io::Result<()> {
        let Some((folder, secrets)) = self.place() else { return Ok(()) };
        replace(&folder, INVESTIGATION, &serde_json::to_string_pretty(record)?, &secrets)
    }

    /// The text of a piece of evidence; `None` if it is not kept.
    pub(crate) fn evidence(&self, id: EvidenceId) -> Option<String> {
        let (folder, _) = self.place()?;
        read(&folder.join(evidence_name(id))).ok().flatten()
    }

    /// Keeps the text of a piece of evidence, if the session is kept.
    pub(crate) fn keep_evidence(&self, id: EvidenceId, text: &str) -> io::Result<()> {
        let Some((folder, secrets)) = self.place() else { return Ok(()) };
        replace(&folder, &evidence_name(id), text, &secrets)
    }
}

fn evidence_name(id: EvidenceId) -> String {
    format!("evidence-{id}.txt")
}

/// The record in a session's folder; `None` if there is none.
pub(super) fn read_investigation(folder: &Path) -> Result<Option<Investigation>, DamagedRecord> {
    let text = read(&folder.join(INVESTIGATION))?;
    Ok(text.map(|text| Investigation::parse(&text)).transpose()?)
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Writes a new file and replaces the old one by it.
fn replace(folder: &Path, name: &str, text: &str, secrets: &KnownSecrets) -> io::Result<()> {
    let new = folder.join(format!("{name}.new"));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(secrets.redaction().text(text).as_bytes())?;
    file.sync_all()?;
    fs::rename(new, folder.join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use hob_config::StateSettings;
    use hob_domain::{
        Timestamp,
        investigation::{Case, open},
    };

    use super::*;
    use crate::session::{Header, Sessions, VERSION};

    fn session(folder: &Path) -> (Sessions, Session) {
        let keep = StateSettings { keep: std::time::Duration::from_secs(60), sessions: 1 << 20, disk: 0 };
        let secrets = KnownSecrets::default();
        secrets.add(["canary-1234567890".to_owned().into()]);
        let sessions = Sessions::new(folder.to_owned(), keep).without(secrets);
        let header = Header {
            transcript: VERSION,
            session: "s".into(),
            repo: "acme/site".parse().unwrap(),
            issue: "7".parse().unwrap(),
            agent: "native".into(),
        };
        let session = sessions.open(&header).unwrap();
        (sessions, session)
    }

    /// Row M7.
    #[test]
    fn a_record_is_kept_for_its_owner_and_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let (sessions, session) = session(folder.path());
        assert!(matches!(session.investigation(), Kept::Nothing));
        let case = Case { title: "It is canary-1234567890".into(), ..Case::default() };
        let record = open(None, &"s".into(), &case, Timestamp::UNIX_EPOCH).record;
        session.keep_investigation(&record).unwrap();
        let Kept::Record(read) = session.investigation() else { panic!("it is kept") };
        assert_eq!(read.states, record.states);
        assert!(!read.case.contains("canary"), "{}", read.case);
        assert_eq!(sessions.investigation(&"s".into()).unwrap().unwrap(), *read);
        let path = folder.path().join("s").join(INVESTIGATION);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let id: EvidenceId = "E1".parse().unwrap();
        assert_eq!(session.evidence(id), None);
        session.keep_evidence(id, "the log").unwrap();
        assert_eq!(session.evidence(id).as_deref(), Some("the log"));
    }

    #[test]
    fn a_damaged_record_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let (sessions, session) = session(folder.path());
        let path = folder.path().join("s").join(INVESTIGATION);
        fs::write(&path, "{\"investigation\":1,").unwrap();
        assert!(sessions.investigation(&"s".into()).is_err());
        let Kept::Damaged(why) = session.investigation() else { panic!("it is damaged") };
        assert!(why.to_string().contains("cannot be read"), "{why}");
        assert!(matches!(session.investigation(), Kept::Nothing));
        assert!(path.with_extension("json.damaged").exists());
    }
}
