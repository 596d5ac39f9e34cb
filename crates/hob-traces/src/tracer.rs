//! The tracer, which gives a trace the id that its first span names. The SDK asks a generator for the id of a trace without
//! telling it of which span, so the tracer tells it, on the thread on which both are called.

use std::cell::Cell;

use opentelemetry::{
    Context,
    trace::{SpanBuilder, SpanId, TraceContextExt, TraceId, Tracer},
};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SdkTracer, Span};

/// The field with the id of a trace, in hexadecimal. It does not become an attribute.
const TRACE_ID: &str = "trace_id";

thread_local! {
    static NEXT: Cell<Option<TraceId>> = const { Cell::new(None) };
}

/// Makes spans.
#[derive(Debug)]
pub(crate) struct NamedTraces(SdkTracer);

impl NamedTraces {
    pub(crate) fn new(tracer: SdkTracer) -> Self {
        Self(tracer)
    }
}

impl Tracer for NamedTraces {
    type Span = Span;

    fn build_with_context(&self, mut builder: SpanBuilder, parent: &Context) -> Span {
        let attributes = builder.attributes.as_mut();
        let named = attributes.and_then(|all| {
            let at = all.iter().position(|attribute| attribute.key.as_str() == TRACE_ID)?;
            TraceId::from_hex(&all.remove(at).value.as_str()).ok()
        });
        // Within a trace the id is that of the parent.
        NEXT.set(named.filter(|_| !parent.span().span_context().is_valid()));
        let span = self.0.build_with_context(builder, parent);
        NEXT.set(None);
        span
    }
}

/// Gives the id that the tracer was told, or a random one.
#[derive(Debug, Default)]
pub(crate) struct Ids(RandomIdGenerator);

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        NEXT.take().unwrap_or_else(|| self.0.new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}
