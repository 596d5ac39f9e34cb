//! Names of variables: which hold secrets, and which a child may get.

/// The variable with an App's private key.
pub(super) const PRIVATE_KEY: &str = "HOB_APP_PRIVATE_KEY";
/// The variable with the key that signs notifications.
pub(super) const WEBHOOK_SECRET: &str = "HOB_WEBHOOK_SECRET";
/// The variable with the address of notifications, for addresses that are secrets.
pub(super) const WEBHOOK_URL: &str = "HOB_WEBHOOK_URL";
/// The variable with the token of those who read what `hob run --listen` serves.
pub(super) const LISTEN_TOKEN: &str = "HOB_LISTEN_TOKEN";
/// The variable with the path of the operator's file.
pub(super) const CONFIG: &str = "HOB_CONFIG";
/// How the names of the variables of OpenTelemetry's exporter begin.
const OTLP: &str = "OTEL_EXPORTER_OTLP_";
/// Those of them with headers, for all signals and for traces.
pub(super) const OTLP_HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
/// Those with addresses; the first one counts more.
pub(super) const OTLP_ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// Parts of the names of variables whose values are secrets.
const SECRET_NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The variable of the setting `key`, `section.key`.
pub(super) fn variable_of(key: &str) -> String {
    format!("HOB__{}", key.to_uppercase().replace('.', "__"))
}

/// Whether the variable `name` is a secret, by its name.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Variables that a child never gets, even if they are named: they open the forge, or are Hob's own settings.
pub(super) const WITHHELD: [&str; 10] = [
    PRIVATE_KEY,
    LISTEN_TOKEN,
    WEBHOOK_SECRET,
    WEBHOOK_URL,
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
];

/// Whether a child may get the variable `name` if its settings name it.
pub fn may_pass(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['=', '\0'])
        && !name.starts_with("HOB__")
        // A header may be the key of a collector, which is Hob's.
        && !name.to_ascii_uppercase().starts_with(OTLP)
        && !WITHHELD.iter().any(|withheld| withheld.eq_ignore_ascii_case(name.strip_suffix("_FILE").unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus G82.
    #[test]
    fn a_variable_that_opens_the_forge_is_never_passed_on() {
        for name in
            ["GITHUB_TOKEN", "gh_token", "HOB__FORGE__TOKEN", "HOB_APP_PRIVATE_KEY", "ACTIONS_RUNTIME_TOKEN", "", "A=B"]
                .into_iter()
                .chain([
                    "GITHUB_TOKEN_FILE",
                    "HOB_APP_PRIVATE_KEY_FILE",
                    "HOB_LISTEN_TOKEN",
                    "OTEL_EXPORTER_OTLP_HEADERS",
                ])
        {
            assert!(!may_pass(name), "{name}");
        }
        assert!(may_pass("OPENAI_API_KEY") && may_pass("PATH"));
    }
}
