//! Which issues are begun, by their assignees.

use crate::Login;

/// Which issues are begun: the setting `assignee`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum AssigneeFilter {
    /// Issues with any assignee, or none.
    #[default]
    Anybody,
    /// Issues without an assignee.
    Nobody,
    /// Issues of this account, even with other assignees.
    Account(Login),
}

impl AssigneeFilter {
    /// Reads the setting: empty, `none`, or the name of an account.
    pub fn new(setting: &str) -> Self {
        match setting.trim() {
            "" => Self::Anybody,
            // Case is ignored, as for an account's name.
            nobody if nobody.eq_ignore_ascii_case("none") => Self::Nobody,
            login => Self::Account(login.into()),
        }
    }

    /// Whether an issue with these assignees is begun.
    pub fn fits(&self, assignees: &[Login]) -> bool {
        match self {
            Self::Anybody => true,
            Self::Nobody => assignees.is_empty(),
            Self::Account(wanted) => assignees.iter().any(|assignee| assignee.is(wanted)),
        }
    }
}

/// Why an issue that does not fit waits, and what would change that.
impl std::fmt::Display for AssigneeFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anybody => f.write_str("its assignees do not matter"),
            Self::Nobody => f.write_str(
                "it has an assignee, and `assignee` leaves such issues to people; remove the assignees to \
                 let Hob claim it",
            ),
            Self::Account(wanted) => {
                write!(f, "it is not assigned to `{wanted}`, as `assignee` requires; assign it to let Hob claim it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row A1.
    #[test]
    fn a_filter_is_read_from_the_setting() {
        let (ann, both): ([Login; 1], [Login; 2]) = (["Ann".into()], ["bob".into(), "ann".into()]);
        for (setting, nobody, one, two) in [
            ("", true, true, true),
            ("none", true, false, false),
            ("None", true, false, false),
            ("ann", false, true, true),
            ("bob", false, false, true),
        ] {
            let filter = AssigneeFilter::new(setting);
            assert_eq!((filter.fits(&[]), filter.fits(&ann), filter.fits(&both)), (nobody, one, two), "{setting}");
        }
    }
}
