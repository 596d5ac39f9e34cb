//! Who may set Hob to work: the latest `labeled` event's actor needs a permission, and a bot has to be listed.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{EventId, Login, Timestamp};

/// An account's permission in a repository, in the forge's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Nothing.
    None,
    /// See.
    Read,
    /// Label and close issues.
    Triage,
    /// Push.
    Write,
    /// Manage without the sensitive parts.
    Maintain,
    /// Everything.
    Admin,
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "no",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        })
    }
}

/// What the forge says about an account: a person or a program. A name that ends in `[bot]` proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountKind {
    /// A person.
    User,
    /// An App or another program.
    Bot,
}

/// An account that did something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Actor {
    /// Its name.
    pub login: Login,
    /// Person or program.
    pub kind: AccountKind,
}

/// The adding or removal of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelEvent {
    /// The event's id; later events have larger ones.
    pub id: EventId,
    /// Who did it. `None` if the account is gone.
    pub actor: Option<Actor>,
    /// The label's name.
    pub label: String,
    /// On or off.
    pub kind: LabelEventKind,
    /// When.
    pub at: Timestamp,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelEventKind {
    /// Put on.
    Labeled,
    /// Taken off.
    Unlabeled,
}

/// Whose words and labels count.
#[derive(Debug, Clone)]
pub struct TrustRules {
    /// The permission that a person needs.
    pub permission: Permission,
    /// Programs that count without a permission.
    pub bots: Vec<Login>,
}

/// Why an account is not authorized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unauthorized {
    /// A program that no setting lists.
    #[error("`{0}` is a bot that `trust.bots` does not list")]
    UnlistedBot(Login),
    /// A person who may do too little in the repository.
    #[error("`{login}` has {permission} permission here; {required} permission is required")]
    TooLittle {
        /// The account.
        login: Login,
        /// Its permission.
        permission: Permission,
        /// The permission that the settings require.
        required: Permission,
    },
    /// The permission could not be found.
    #[error("the forge does not say what `{0}` may do here")]
    Unknown(Login),
}

impl TrustRules {
    /// Whether a program is listed; a person's permission has to be looked up.
    pub fn lists(&self, actor: &Actor) -> bool {
        actor.kind == AccountKind::Bot && self.bots.iter().any(|bot| bot.is(&actor.login))
    }

    /// Whether `actor` is authorized, given its permission; `None` if the look-up failed.
    ///
    /// # Errors
    /// [`Unauthorized`] if it is not.
    pub fn judge(&self, actor: &Actor, permission: Option<Permission>) -> Result<(), Unauthorized> {
        let login = || actor.login.clone();
        match (actor.kind, permission) {
            (AccountKind::Bot, _) if self.lists(actor) => Ok(()),
            (AccountKind::Bot, _) => Err(Unauthorized::UnlistedBot(login())),
            (AccountKind::User, Some(permission)) if permission >= self.permission => Ok(()),
            (AccountKind::User, Some(permission)) => {
                Err(Unauthorized::TooLittle { login: login(), permission, required: self.permission })
            }
            (AccountKind::User, None) => Err(Unauthorized::Unknown(login())),
        }
    }
}

/// The hash of an issue's authorized text: SHA-256 of its title and its body, without what changes nothing in it: which
/// boxes are ticked, ends of lines, and blanks at the end of a line or of the text.
pub fn approved_hash(title: &str, body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| unticked(line.trim_end())).collect();
    hash_of(title, lines.join("\n").trim_end())
}

/// Whether this is the hash of the authorized text, also as earlier versions made it: of every byte.
pub fn is_approved(approved: &str, title: &str, body: &str) -> bool {
    approved == approved_hash(title, body) || approved == hash_of(title, body)
}

/// The line with its box open, if it is an item with a ticked one.
fn unticked(line: &str) -> String {
    let item = line.trim_start();
    let after = item.strip_prefix(['-', '*', '+']).or_else(|| {
        let after = item.trim_start_matches(|c: char| c.is_ascii_digit());
        (after.len() < item.len()).then(|| after.strip_prefix(['.', ')'])).flatten()
    });
    let ticked = |said: &str| said.strip_prefix("[x]").or(said.strip_prefix("[X]")).map(str::to_owned);
    match after.and_then(|after| Some((line.len() - after.len(), ticked(after.trim_start())?))) {
        Some((marker, rest)) => format!("{} [ ]{rest}", line.get(..marker).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn hash_of(title: &str, body: &str) -> String {
    let digest = Sha256::new().chain_update(title).chain_update([0]).chain_update(body).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The latest event for the label `name`, by id.
pub fn latest<'a>(events: &'a [LabelEvent], name: &str) -> Option<&'a LabelEvent> {
    let of_label = |event: &&LabelEvent| event.label.eq_ignore_ascii_case(name);
    events.iter().filter(of_label).max_by_key(|event| event.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(login: &str, kind: AccountKind) -> Actor {
        Actor { login: login.into(), kind }
    }

    /// Attack corpus A1, A3, A4, A5, A6.
    #[test]
    fn only_a_permitted_person_or_a_listed_bot_counts() {
        let rules = TrustRules { permission: Permission::Write, bots: vec!["renovate[bot]".into()] };
        let person = actor("dependabot", AccountKind::User);
        for (permission, trusted) in [
            (Some(Permission::Admin), true),
            (Some(Permission::Write), true),
            (Some(Permission::Triage), false),
            (Some(Permission::None), false),
            (None, false),
        ] {
            assert_eq!(rules.judge(&person, permission).is_ok(), trusted, "{permission:?}");
        }
        assert!(rules.judge(&actor("Renovate[bot]", AccountKind::Bot), None).is_ok());
        assert!(rules.judge(&actor("renovate[bot]", AccountKind::User), Some(Permission::Read)).is_err());
        assert!(rules.judge(&actor("x[bot]", AccountKind::Bot), Some(Permission::Admin)).is_err());
    }

    #[test]
    fn boxes_and_blanks_are_no_edit_and_everything_else_is() {
        let hash = |body: &str| approved_hash("t", body);
        let text = "Do:\n\n- [ ] one\n  1. [ ] two\n\n    indented";
        for same in [
            "Do:\r\n\r\n- [x] one\r\n  1. [X] two\r\n\r\n    indented\r\n",
            "Do:  \n\t\n- [x] one\n  1. [ ] two \n\n    indented\n\n",
        ] {
            assert_eq!(hash(same), hash(text), "{same:?}");
        }
        for other in [
            "Do:\n\n- [ ] one\n  1. [ ] three\n\n    indented",
            "Do:\n\n- [ ] one\n  1. [ ] two\n\nindented",
            "Do:\n- [ ] one\n  1. [ ] two\n\n    indented",
            "Do:\n\n- one\n  1. [ ] two\n\n    indented",
        ] {
            assert_ne!(hash(other), hash(text), "{other:?}");
        }
        let earlier = hash_of("t", "x\r\n");
        assert!(is_approved(&earlier, "t", "x\r\n") && is_approved(&hash("x"), "t", "x\r\n"));
        assert!(!is_approved(&earlier, "t", "y\r\n") && !is_approved("", "t", "x"));
    }

    /// Attack corpus A7: the latest event decides; the latest is the one with the largest id, regardless of its kind.
    #[test]
    fn the_latest_event_is_the_one_with_the_largest_id() {
        let event = |id, kind| LabelEvent {
            id: EventId(id),
            actor: None,
            label: "Code".to_owned(),
            kind,
            at: Timestamp::UNIX_EPOCH,
        };
        let events = [
            event(9, LabelEventKind::Labeled),
            event(3, LabelEventKind::Labeled),
            event(11, LabelEventKind::Unlabeled),
        ];
        assert_eq!(latest(&events, "code").map(|found| found.id), Some(EventId(11)));
        assert_eq!(latest(&events[..2], "code").map(|found| found.id), Some(EventId(9)));
    }
}
