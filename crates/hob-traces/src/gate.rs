//! The gate before an exporter: no secret passes it, and a failure of the exporter is told once.

use std::{
    borrow::Cow,
    fmt::Debug,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use hob_text::{KnownSecrets, without_tokens};
use opentelemetry::{Array, KeyValue, StringValue, Value, trace::Status};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

/// Attributes that are lists by the conventions; a field of `tracing` has one value.
const LISTS: [&str; 1] = ["gen_ai.response.finish_reasons"];

/// An exporter behind the gate.
#[derive(Debug)]
pub(crate) struct Gate<E> {
    exporter: E,
    secrets: KnownSecrets,
    /// Whether the exporter failed last.
    fails: AtomicBool,
}

impl<E> Gate<E> {
    pub(crate) fn new(exporter: E, secrets: KnownSecrets) -> Self {
        Self { exporter, secrets, fails: AtomicBool::default() }
    }

    fn clean(&self, span: SpanData) -> SpanData {
        let attributes = span.attributes.into_iter().map(|KeyValue { key, value, .. }| {
            let value = match self.value(value) {
                Value::String(text) if LISTS.contains(&key.as_str()) => Value::Array(Array::String(vec![text])),
                value => value,
            };
            KeyValue::new(key, value)
        });
        let status = match span.status {
            Status::Error { description } => Status::error(self.text(&description)),
            status => status,
        };
        SpanData { name: Cow::Owned(self.text(&span.name)), attributes: attributes.collect(), status, ..span }
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text.as_str()).into()),
            Value::Array(Array::String(texts)) => {
                let texts = texts.iter().map(|text| StringValue::from(self.text(text.as_str())));
                Value::Array(Array::String(texts.collect()))
            }
            value => value,
        }
    }

    fn text(&self, text: &str) -> String {
        without_tokens(&self.secrets.redaction().text(text))
    }

    /// Says once that the exporter fails, and once that it does not any more.
    fn note(&self, exported: &OTelSdkResult) {
        match (exported, self.fails.swap(exported.is_err(), Ordering::Relaxed)) {
            (Err(error), false) => tracing::warn!(%error, "traces are lost, the work goes on: {error}"),
            (Ok(()), true) => tracing::info!("traces are taken again"),
            (Err(_), true) | (Ok(()), false) => {}
        }
    }
}

impl<E: SpanExporter> SpanExporter for Gate<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let batch = batch.into_iter().map(|span| self.clean(span)).collect();
        let exported = self.exporter.export(batch).await;
        self.note(&exported);
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::SystemTime,
    };

    use opentelemetry::{
        InstrumentationScope,
        trace::{SpanContext, SpanId, SpanKind},
    };
    use opentelemetry_sdk::{
        error::OTelSdkError,
        trace::{SpanEvents, SpanLinks},
    };

    use super::*;

    const SECRET: &str = "canary-5fK2pQ9x-canary";
    /// The form of a token that no list has.
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    /// Keeps what it gets, or fails.
    #[derive(Debug, Default, Clone)]
    struct Kept {
        spans: Arc<Mutex<Vec<SpanData>>>,
        fails: Arc<AtomicBool>,
    }

    impl SpanExporter for Kept {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            if self.fails.load(Ordering::Relaxed) {
                return Err(OTelSdkError::InternalFailure("down".to_owned()));
            }
            self.spans.lock().unwrap().extend(batch);
            Ok(())
        }
    }

    fn span() -> SpanData {
        SpanData {
            span_context: SpanContext::empty_context(),
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: format!("chat {SECRET}").into(),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes: vec![
                KeyValue::new("gen_ai.request.model", format!("a {SECRET} and {TOKEN}")),
                KeyValue::new("gen_ai.response.finish_reasons", "stop"),
                KeyValue::new("all", Value::Array(Array::String(vec![SECRET.into()]))),
                KeyValue::new("gen_ai.usage.input_tokens", 3),
            ],
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::error(SECRET),
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    #[tokio::test]
    async fn no_secret_passes_and_a_list_is_one() {
        let (kept, secrets) = (Kept::default(), KnownSecrets::default());
        let gate = Gate::new(kept.clone(), secrets.clone());
        // Also one that is known later.
        secrets.add([SECRET.to_owned().into()]);
        gate.export(vec![span()]).await.unwrap();
        let [span] = &kept.spans.lock().unwrap()[..] else { panic!() };
        let all = format!("{span:?}");
        assert!(!all.contains(SECRET) && !all.contains(TOKEN) && all.contains("redacted"), "{all}");
        assert_eq!(span.attributes[1].value, Value::Array(Array::String(vec!["stop".into()])));
        assert_eq!(span.attributes[3].value, Value::I64(3));
    }

    #[tokio::test]
    async fn a_failure_is_passed_on_and_remembered_until_it_is_over() {
        let kept = Kept::default();
        let gate = Gate::new(kept.clone(), KnownSecrets::default());
        for fails in [true, true, false] {
            kept.fails.store(fails, Ordering::Relaxed);
            assert_eq!(gate.export(vec![span()]).await.is_err(), fails);
            assert_eq!(gate.fails.load(Ordering::Relaxed), fails);
        }
    }
}
