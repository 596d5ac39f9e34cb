//! The metrics as text, in the two formats that collectors read.

use std::{fmt::Write, sync::LazyLock};

use prometheus_client::{
    encoding::{prometheus_text, text},
    registry::Registry,
};

use crate::metrics::{events, named::Named, profiles};

/// OpenMetrics' media type.
const OPEN_METRICS: &str = "application/openmetrics-text";

static REGISTRY: LazyLock<Registry> = LazyLock::new(registry);

/// The order is that of the text.
fn registry() -> Registry {
    let mut registry = Registry::with_prefix("hob");
    let mut named = Named(&mut registry);
    profiles::register(&mut named);
    events::register(&mut named);
    registry
}

/// A format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// Prometheus' own text format, 0.0.4.
    Prometheus,
}

impl MetricsFormat {
    /// The format for a request with this header `Accept`: OpenMetrics if it names it, as Prometheus does.
    pub fn accepted(accept: &str) -> Self {
        let names_it = accept.split(',').any(|range| {
            let mut parts = range.split(';').map(str::trim);
            let is_named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(OPEN_METRICS));
            is_named && !parts.any(|part| part.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0)))
        });
        if names_it { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
        }
    }
}

/// All metrics of this process.
pub fn metrics(format: MetricsFormat) -> String {
    let mut written = String::new();
    let encoded = match format {
        MetricsFormat::OpenMetrics => text::encode(&mut written, &REGISTRY),
        MetricsFormat::Prometheus => prometheus_text::encode(&mut written, &REGISTRY),
    };
    if let Err(error) = encoded {
        // Writing to a string cannot fail; a reader would see it anyway.
        writeln!(written, "# {error}").ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmetrics_is_for_those_who_name_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, format) in [
            (prometheus, MetricsFormat::OpenMetrics),
            ("text/plain, Application/OpenMetrics-Text", MetricsFormat::OpenMetrics),
            ("application/openmetrics-text;q=0, text/plain", MetricsFormat::Prometheus),
            ("application/openmetrics-text-x", MetricsFormat::Prometheus),
            ("*/*", MetricsFormat::Prometheus),
            ("", MetricsFormat::Prometheus),
        ] {
            assert_eq!(MetricsFormat::accepted(accept), format, "{accept}");
        }
    }

    /// Every metric is in the document, with its type.
    #[test]
    fn the_metrics_are_those_of_the_document() {
        let document = include_str!("../../../../docs/design/logging.md");
        let text = metrics(MetricsFormat::Prometheus);
        let families: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        for family in &families {
            let (name, _) = family.split_once(' ').unwrap();
            assert!(document.contains(&format!("| `{name}` |")), "docs/design/logging.md lacks {name}");
        }
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let documented = rows.map(|(name, _)| name).filter(|name| name.starts_with("hob_"));
        for name in documented {
            assert!(families.iter().any(|family| family.starts_with(&format!("{name} "))), "{name} is not exported");
        }
    }
}
