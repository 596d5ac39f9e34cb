//! The metrics as text, in the two formats that collectors read.

use std::fmt::Write;

use prometheus_client::{
    encoding::{prometheus_text, text},
    registry::Registry,
};

use crate::metrics::all::{METRICS, Metrics};

/// OpenMetrics' media type.
const OPEN_METRICS: &str = "application/openmetrics-text";

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
    text_of(&METRICS, format)
}

/// From now on, metrics are sums over all repositories, and no series has the label `repository`.
pub fn sum_metrics() {
    METRICS.room.sum();
}

/// The same without those of the process itself, in OpenMetrics: who collects files has metrics of these names of their own.
pub fn metrics_for_file() -> String {
    written(&[&METRICS.registry], MetricsFormat::OpenMetrics)
}

/// These metrics as text.
pub(super) fn text_of(metrics: &Metrics, format: MetricsFormat) -> String {
    written(&[&metrics.registry, &metrics.process], format)
}

fn written(registries: &[&Registry], format: MetricsFormat) -> String {
    let mut written = String::new();
    let encoded = registries.iter().try_for_each(|registry| match format {
        MetricsFormat::OpenMetrics => text::encode_registry(&mut written, registry),
        MetricsFormat::Prometheus => prometheus_text::encode(&mut written, registry),
    });
    let ended = match format {
        MetricsFormat::OpenMetrics => text::encode_eof(&mut written),
        MetricsFormat::Prometheus => Ok(()),
    };
    if let Err(error) = encoded.and(ended) {
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

    /// Requirement M9: every metric is in the document.
    #[test]
    fn the_metrics_are_those_of_the_document() {
        let document = include_str!("../../../../docs/design/logging.md");
        let text = metrics(MetricsFormat::Prometheus);
        let families: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        for family in &families {
            let (name, _) = family.split_once(' ').unwrap();
            assert!(document.contains(&format!("| `{name}` |")), "docs/design/logging.md lacks {name}");
        }
    }
}
