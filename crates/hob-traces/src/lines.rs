//! The file of traces: a line of JSON for each batch, as the specification of OpenTelemetry's file exporter has it.
//! <https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/>

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use opentelemetry_proto::{
    tonic::collector::trace::v1::ExportTraceServiceRequest,
    transform::{common::tonic::ResourceAttributesWithSchema, trace::tonic::group_spans_by_resource_and_scope},
};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{SpanData, SpanExporter},
};

/// Appends batches to a file.
#[derive(Debug)]
pub(crate) struct Lines {
    file: Mutex<File>,
    resource: ResourceAttributesWithSchema,
}

impl Lines {
    /// Opens the file, which may have lines already.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file: Mutex::new(file), resource: ResourceAttributesWithSchema::default() })
    }

    fn write(&self, batch: Vec<SpanData>) -> io::Result<()> {
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let mut line = serde_json::to_vec(&ExportTraceServiceRequest { resource_spans })?;
        line.push(b'\n');
        // At once, so that the lines of two processes do not mix.
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }
}

impl SpanExporter for Lines {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.write(batch).map_err(|error| OTelSdkError::InternalFailure(error.to_string()))
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}
