//! Secrets in files: `NAME_FILE` names a file, or a descriptor as `/dev/fd/N`, that contains the value of the variable
//! `NAME`.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use secrecy::SecretString;

use crate::variable_names::{LISTEN_TOKEN, PRIVATE_KEY, WEBHOOK_SECRET, WEBHOOK_URL, is_secret_name, may_pass};

/// Hob's own variables that a file may provide.
const OWN: [&str; 8] = [
    "GITHUB_TOKEN",
    "GH_TOKEN",
    PRIVATE_KEY,
    WEBHOOK_SECRET,
    WEBHOOK_URL,
    LISTEN_TOKEN,
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
];
/// The largest file; a 4096-bit key has about 3,300 bytes.
const MAX_BYTES: usize = 64 * 1024;
/// The time limit of a pipe; its writer may have to ask a person for a passphrase.
const PATIENCE: Duration = Duration::from_secs(60);

/// The secrets from files, by variable. They are read once, because a pipe gives its text only once.
#[derive(Debug, Default, Clone)]
pub struct SecretFiles(BTreeMap<String, SecretString>);

impl SecretFiles {
    /// Reads the files that the environment names for Hob's own token and keys, and for those of the variables `named`
    /// that are secrets by their names. White space around a value is removed.
    ///
    /// # Errors
    /// [`SecretFileError`], one sentence that names the variable and the file, but none of the file's contents.
    pub fn read<'a>(named: impl IntoIterator<Item = &'a str>) -> Result<Self, SecretFileError> {
        #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
        let variable = |name: &str| std::env::var_os(name);
        let named = named.into_iter().filter(|name| may_pass(name) && is_secret_name(name));
        Self::named_by(variable, OWN.into_iter().chain(named), PATIENCE)
    }

    fn named_by<'a>(
        variable: impl Fn(&str) -> Option<OsString>,
        names: impl Iterator<Item = &'a str>,
        patience: Duration,
    ) -> Result<Self, SecretFileError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut found = BTreeMap::new();
        for name in names.collect::<BTreeSet<_>>() {
            let Some(path) = set(&format!("{name}_FILE")).map(PathBuf::from) else { continue };
            if set(name).is_some() {
                return Err(SecretFileError::GivenTwice { name: name.to_owned() });
            }
            if !path.is_absolute() {
                return Err(SecretFileError::NoPath { name: name.to_owned() });
            }
            let value = value(&path, name, patience);
            let value = value.map_err(|fault| SecretFileError::Unusable { name: name.to_owned(), path, fault })?;
            found.insert(name.to_owned(), value);
        }
        Ok(Self(found))
    }

    /// The value of the variable `name`, if a file provides it.
    pub(super) fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }
}

/// Reads within `patience`. If a pipe stays silent, its thread is left behind, and the error ends the process.
fn value(path: &Path, name: &str, patience: Duration) -> Result<SecretString, Fault> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    thread::Builder::new().spawn(move || sender.send(bytes(&path)).ok())?;
    let bytes = receiver.recv_timeout(patience).map_err(|_| Fault::Silent(patience))??;
    let text = String::from_utf8(bytes).map_err(|_| Fault::NoText)?;
    match text.trim() {
        "" => Err(Fault::Empty),
        key if key.contains(['\n', '\r']) && name != PRIVATE_KEY => Err(Fault::Lines),
        value => Ok(value.into()),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(Fault::Kind);
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES { Err(Fault::Long) } else { Ok(bytes) }
}

/// A file that provides no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The variable and the file are both given.
    #[error("the variables `{name}` and `{name}_FILE` are both set: remove one of them")]
    GivenTwice {
        /// The variable.
        name: String,
    },
    /// The value is not shown, because it may be the secret itself.
    #[error("the variable `{name}_FILE` must be an absolute path; the value itself belongs in `{name}`")]
    NoPath {
        /// The variable.
        name: String,
    },
    /// The file is not as required.
    #[error("the file `{path}`, which `{name}_FILE` names, {fault}")]
    Unusable {
        /// The variable.
        name: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with a file that should hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It is not there, or may not be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A folder, a device or a socket.
    #[error("is neither a file nor a pipe")]
    Kind,
    /// Longer than any token or key.
    #[error("has more than {MAX_BYTES} bytes")]
    Long,
    /// Only white space.
    #[error("is empty")]
    Empty,
    /// Not UTF-8.
    #[error("is not text")]
    NoText,
    /// More than one value.
    #[error("has several lines, and a token or key is one")]
    Lines,
    /// A pipe without any data.
    #[error("is a pipe that was not written and closed within {} s", .0.as_secs())]
    Silent(Duration),
}

#[cfg(test)]
mod tests {
    use std::{fs, os::fd::AsRawFd};

    use secrecy::ExposeSecret;

    use super::*;

    /// The contents of a faulty file must not be shown.
    const CANARY: &str = "canary-5fK2pQ9x";

    fn read(variables: &[(&str, &Path)], patience: Duration) -> Result<Vec<String>, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        let files = SecretFiles::named_by(variable, ["GITHUB_TOKEN", PRIVATE_KEY].into_iter(), patience);
        let files = files.map_err(|error| error.to_string())?;
        Ok(files.0.values().map(|secret| secret.expose_secret().to_owned()).collect())
    }

    #[test]
    fn a_file_gives_the_value_without_the_white_space_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let (token, key) = (folder.path().join("token"), folder.path().join("key"));
        fs::write(&token, format!("{CANARY}\n")).unwrap();
        fs::write(&key, "-----BEGIN\nabc\n-----END\n\n").unwrap();
        let names = [("GITHUB_TOKEN_FILE", token.as_path()), ("HOB_APP_PRIVATE_KEY_FILE", key.as_path())];
        assert_eq!(read(&names, PATIENCE).unwrap(), [CANARY, "-----BEGIN\nabc\n-----END"]);
        // A link, as Kubernetes mounts secrets; and an empty variable, which counts as not set.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&token, &link).unwrap();
        let names = [("GITHUB_TOKEN_FILE", link.as_path()), ("GITHUB_TOKEN", Path::new(""))];
        assert_eq!(read(&names, PATIENCE).unwrap(), [CANARY]);
        assert!(read(&[("GITHUB_TOKEN_FILE", Path::new(""))], PATIENCE).unwrap().is_empty());
    }

    #[test]
    fn a_descriptor_gives_the_value_whether_it_is_a_file_or_a_pipe() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, CANARY.as_bytes()).unwrap();
        let by_descriptor = PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()));
        assert_eq!(read(&[("GITHUB_TOKEN_FILE", &by_descriptor)], PATIENCE).unwrap(), [CANARY]);
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, CANARY.as_bytes()).unwrap();
        drop(writer);
        let by_descriptor = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        assert_eq!(read(&[("GITHUB_TOKEN_FILE", &by_descriptor)], PATIENCE).unwrap(), [CANARY]);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_and_what_it_holds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let named = |what: &str| format!("the file `{}`, which `GITHUB_TOKEN_FILE` names, {what}", path.display());
        let says = || read(&[("GITHUB_TOKEN_FILE", &path)], PATIENCE).unwrap_err();
        assert!(says().starts_with(&named("cannot be read: No such file")), "{}", says());
        for (bytes, what) in [
            (b" \n".to_vec(), "is empty"),
            (format!("{CANARY}\n{CANARY}").into_bytes(), "has several lines, and a token or key is one"),
            ([CANARY.as_bytes(), b"\xff"].concat(), "is not text"),
            (CANARY.repeat(MAX_BYTES / CANARY.len() + 1).into_bytes(), "has more than 65536 bytes"),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(says(), named(what));
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(says(), named("is neither a file nor a pipe"));
        let device = read(&[("GITHUB_TOKEN_FILE", Path::new("/dev/zero"))], PATIENCE).unwrap_err();
        assert!(device.ends_with("is neither a file nor a pipe"), "{device}");
    }

    #[test]
    fn a_pipe_that_nobody_fills_is_given_up() {
        let (reader, writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let error = read(&[("GITHUB_TOKEN_FILE", &path)], Duration::ZERO).unwrap_err();
        assert!(error.ends_with("is a pipe that was not written and closed within 0 s"), "{error}");
        drop(writer);
    }

    #[test]
    fn a_value_by_both_ways_is_refused_and_one_in_place_of_a_path_is_not_shown() {
        let both = [("GITHUB_TOKEN", Path::new(CANARY)), ("GITHUB_TOKEN_FILE", Path::new("/run/secrets/token"))];
        let error = read(&both, PATIENCE).unwrap_err();
        assert_eq!(error, "the variables `GITHUB_TOKEN` and `GITHUB_TOKEN_FILE` are both set: remove one of them");
        let error = read(&[("GITHUB_TOKEN_FILE", Path::new(CANARY))], PATIENCE).unwrap_err();
        let says =
            "the variable `GITHUB_TOKEN_FILE` must be an absolute path; the value itself belongs in `GITHUB_TOKEN`";
        assert_eq!(error, says);
    }
}
