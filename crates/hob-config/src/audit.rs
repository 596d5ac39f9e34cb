//! Where deeds are told outside of the repository. No repository chooses that.

use std::path::PathBuf;

use url::Url;

use crate::{SettingsError, webhook::address};

/// The socket of the machine's log.
const LOG_SOCKET: &str = "/dev/log";
/// The key of the setting.
const KEY: &str = "audit";

/// The destination of deeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditSink {
    /// A file, to which lines are added.
    File(PathBuf),
    /// A local socket that takes messages by RFC 5424.
    Syslog(PathBuf),
    /// An address that lines are posted to.
    Address(Url),
}

impl AuditSink {
    /// Reads the setting; `None` if it is empty.
    ///
    /// # Errors
    /// [`SettingsError::Senseless`] for any other form, without what may be secret in it.
    pub fn read(setting: &str) -> Result<Option<Self>, SettingsError> {
        let (kind, rest) = setting.split_once(':').unwrap_or((setting, ""));
        let path = PathBuf::from(rest);
        match kind {
            "" if rest.is_empty() => Ok(None),
            "file" if path.is_absolute() => Ok(Some(Self::File(path))),
            "syslog" if rest.is_empty() => Ok(Some(Self::Syslog(LOG_SOCKET.into()))),
            "syslog" if path.is_absolute() => Ok(Some(Self::Syslog(path))),
            "http" | "https" => address(setting, KEY).map(|url| Some(Self::Address(url))),
            _other => {
                let allowed =
                    "write `file:` with an absolute path, `syslog`, or an address that begins with `https://`";
                Err(SettingsError::senseless(KEY, kind.to_owned(), allowed.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_is_a_file_the_machines_log_or_an_address() {
        let read = |text: &str| AuditSink::read(text).map_err(|error| error.to_string());
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("file:/var/log/a.jsonl"), Ok(Some(AuditSink::File("/var/log/a.jsonl".into()))));
        assert_eq!(read("syslog"), Ok(Some(AuditSink::Syslog("/dev/log".into()))));
        assert_eq!(read("syslog:/run/log"), Ok(Some(AuditSink::Syslog("/run/log".into()))));
        let url = "https://hooks.example/x".parse().unwrap();
        assert_eq!(read("https://hooks.example/x"), Ok(Some(AuditSink::Address(url))));
        for bad in
            ["file:a.jsonl", "syslog:a", "journal", "http://hooks.example/canary", "https://me:canary@hooks.example"]
        {
            let error = read(bad).unwrap_err();
            assert!(error.contains("`audit`") && !error.contains("canary"), "{error}");
        }
    }
}
