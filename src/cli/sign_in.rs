//! The identity from settings and variables: a GitHub App if one is configured, otherwise a token.

use std::{io::Read, path::Path};

use hob_config::{AppSettings, Standard};
use hob_domain::RepoName;
use hob_forge::{App, AppKey, Authentication};
use hob_text::KnownSecrets;
use secrecy::SecretString;

use crate::cli::exit::{Exit, fatal};

/// Maximum bytes read from a key file; a 4096-bit key has about 3,300.
const KEY_MAX: u64 = 64 * 1024;

/// Hob's identity on the forge; `repo` is used to find the App's installation if none is configured. A key that is read from
/// a file is added to `secrets`.
pub(super) fn identity(
    app: &AppSettings,
    standard: &Standard,
    repo: Option<&RepoName>,
    secrets: &KnownSecrets,
) -> anyhow::Result<Authentication> {
    // A pass is of a dispatcher that may sign in as the App of the same settings.
    if app.id == 0 || standard.has_pass() {
        let help = "no token\nhint: set GITHUB_TOKEN to a token with write permission for contents, issues and pull requests, or \
                    GITHUB_TOKEN_FILE to a file with one, or configure a GitHub App with `app.id` and its key (`hob rehearse` needs neither)";
        let token = standard.token.clone().ok_or_else(|| fatal(Exit::Token, help))?;
        return Ok(Authentication::Token(token));
    }
    let pem = match &standard.app_private_key {
        Some(pem) => pem.clone(),
        None if app.private_key.is_empty() => {
            let help = "no key for the App\nhint: set `app.private_key` to the path of the key file, or \
                        HOB_APP_PRIVATE_KEY to its text";
            return Err(fatal(Exit::Token, help));
        }
        None => read(Path::new(&app.private_key))?,
    };
    secrets.add([pem.clone()]);
    let installation = (app.installation > 0).then_some(app.installation);
    Ok(Authentication::App(Box::new(App::new(app.id, AppKey::from_pem(&pem)?, installation, repo.cloned()))))
}

fn read(path: &Path) -> anyhow::Result<SecretString> {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(KEY_MAX).read_to_string(&mut text));
    let unreadable = |error| fatal(Exit::Token, format!("the App's key `{}` cannot be read: {error}", path.display()));
    read.map_err(unreadable)?;
    Ok(text.into())
}
