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
