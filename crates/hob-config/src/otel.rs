//! The standard variables of OpenTelemetry, as far as Hob reads them: whether traces are wanted, and the secrets in headers.
//! OpenTelemetry's libraries read the others.

use percent_encoding::percent_decode_str;
use secrecy::SecretString;

use crate::{standard::variable, variable_names::OTLP_ENDPOINTS};

/// Shorter values of headers are names of tenants, not keys.
const KEY_MIN: usize = 8;

/// What the standard variables say of traces.
#[derive(Debug, Clone)]
pub struct TraceVariables {
    /// The address that they are sent to; `None` if none is set or `OTEL_TRACES_EXPORTER` is `none`. It may have a password.
    pub endpoint: Option<SecretString>,
    /// Whether `OTEL_SDK_DISABLED` is `true`: there are no traces.
    pub are_off: bool,
    /// Whether `OTEL_BSP_MAX_QUEUE_SIZE` says how many spans may wait to be sent.
    pub has_queue: bool,
}

impl TraceVariables {
    /// Reads the variables. An empty variable counts as not set.
    pub fn read() -> Self {
        let is = |name: &str, value: &str| variable(name).is_some_and(|set| set.eq_ignore_ascii_case(value));
        let endpoint = OTLP_ENDPOINTS.into_iter().find_map(variable);
        Self {
            endpoint: endpoint.filter(|_| !is("OTEL_TRACES_EXPORTER", "none")).map(SecretString::from),
            are_off: is("OTEL_SDK_DISABLED", "true"),
            has_queue: variable("OTEL_BSP_MAX_QUEUE_SIZE").is_some(),
        }
    }
}

/// The secrets in the text of a variable with headers, `name=value,name=value`: each value as it is and as it is sent, and what
/// follows the scheme of an authorization.
pub(super) fn secrets_in_headers(headers: &str) -> Vec<SecretString> {
    let values = headers.split(',').filter_map(|header| Some(header.split_once('=')?.1.trim().to_owned()));
    let forms = values.flat_map(|value| {
        let sent = percent_decode_str(&value).decode_utf8_lossy().into_owned();
        let credentials = sent.split_once(' ').map(|(_scheme, rest)| rest.trim().to_owned());
        [Some(value), Some(sent), credentials].into_iter().flatten()
    });
    forms.filter(|form| form.len() >= KEY_MIN).map(SecretString::from).collect()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn keys_in_headers_are_secrets_and_names_of_tenants_are_not() {
        let found = |headers: &str| -> Vec<String> {
            secrets_in_headers(headers).iter().map(|secret| secret.expose_secret().to_owned()).collect()
        };
        assert_eq!(
            found("Authorization=Basic%20YWJjOjEyMzQ1Ng%3D%3D, x-team = 5fK2pQ9xAb==,X-Scope-OrgID=1,x-name=acme"),
            [
                "Basic%20YWJjOjEyMzQ1Ng%3D%3D",
                "Basic YWJjOjEyMzQ1Ng==",
                "YWJjOjEyMzQ1Ng==",
                "5fK2pQ9xAb==",
                "5fK2pQ9xAb=="
            ]
        );
        assert_eq!(found("%zz=%"), Vec::<String>::new());
    }
}
