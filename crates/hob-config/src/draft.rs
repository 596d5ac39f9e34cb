//! `publish.draft`: when a pull request is a draft.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, Visitor},
};

/// When a pull request is a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftRule {
    /// It opens ready for review; `false` is the older spelling.
    Never,
    /// It opens as a draft and stays one; also `true`.
    Always,
    /// It opens as a draft, and is marked as ready when the forge's checks have passed.
    UntilGreen,
}

impl<'de> Deserialize<'de> for DraftRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Rule;
        impl Visitor<'_> for Rule {
            type Value = DraftRule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`never`, `always` or `until-green`")
            }

            fn visit_bool<E: Error>(self, always: bool) -> Result<DraftRule, E> {
                Ok(if always { DraftRule::Always } else { DraftRule::Never })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<DraftRule, E> {
                match text {
                    "never" | "false" => Ok(DraftRule::Never),
                    "always" | "true" => Ok(DraftRule::Always),
                    "until-green" => Ok(DraftRule::UntilGreen),
                    other => Err(E::custom(format!(
                        "`publish.draft` cannot be used: it is `{other}`; write `never`, `always` or `until-green`"
                    ))),
                }
            }
        }
        from.deserialize_any(Rule)
    }
}
