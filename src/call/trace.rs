//! The place of a request in a trace, and the spans of a request and of the requests that its handler sends to other servers.

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;

use edge_json::Value;

use crate::host::{Host, Operation, Outcome, Span, Telemetry};
use crate::protocol::error::ErrorCode;
use crate::protocol::trace_context::TraceContext;

/// The bytes of a trace id.
const TRACE_ID: usize = 16;
/// The bytes of a span id.
const SPAN_ID: usize = 8;

/// An operation without its place in a trace.
pub(crate) struct NewOperation<'a> {
    pub upstream: Option<&'a str>,
    pub method: &'a str,
    pub target: Option<&'a str>,
    pub revision: &'static str,
}

/// Starts spans. `Endpoint::telemetry` creates the only implementation, so the wasm module of a program without telemetry does not contain it.
pub(crate) trait Tracer {
    /// Returns a copy that also reports to `telemetry`.
    fn with(&self, telemetry: Rc<dyn Telemetry>) -> Rc<dyn Tracer>;

    /// Returns the context of a new span in the trace of `parent`, or in a new trace.
    fn context(&self, parent: Option<&TraceContext>, host: &dyn Host) -> TraceContext;

    /// Starts the span with the context `own`.
    fn start(
        &self,
        work: &NewOperation<'_>,
        own: TraceContext,
        parent: Option<&TraceContext>,
        host: Rc<dyn Host>,
    ) -> Box<Recording>;
}

#[derive(Default)]
pub(crate) struct AllTelemetry(Vec<Rc<dyn Telemetry>>);

impl Tracer for AllTelemetry {
    fn with(&self, telemetry: Rc<dyn Telemetry>) -> Rc<dyn Tracer> {
        Rc::new(Self(self.0.iter().cloned().chain([telemetry]).collect()))
    }

    fn context(&self, parent: Option<&TraceContext>, host: &dyn Host) -> TraceContext {
        let mut random = [0; TRACE_ID + SPAN_ID];
        // Without randomness the ids are zeros, which the next server ignores. That must not fail the request.
        let _ = host.fill_random(&mut random);
        let (trace, span) = random.split_at(TRACE_ID);
        match parent {
            Some(parent) => parent.with_span(hex(span)),
            None => TraceContext::new(hex(trace), hex(span), false),
        }
    }

    fn start(
        &self,
        work: &NewOperation<'_>,
        own: TraceContext,
        parent: Option<&TraceContext>,
        host: Rc<dyn Host>,
    ) -> Box<Recording> {
        let NewOperation { upstream, method, target, revision } = *work;
        let (trace_id, span_id, parent_span_id) = (own.trace_id(), own.span_id(), parent.map(TraceContext::span_id));
        let operation = Operation { upstream, method, target, revision, trace_id, span_id, parent_span_id };
        let spans: Vec<_> = self.0.iter().map(|telemetry| telemetry.start(&operation)).collect();
        // The server that begins a trace decides whether it is sampled. Later servers keep the flag of their caller.
        let is_sampled = parent.map_or_else(|| spans.iter().any(|span| span.is_recorded()), TraceContext::is_sampled);
        let started = host.now_ms();
        Box::new(Recording { context: own.sampled(is_sampled), spans, started, host, outcome: Outcome::cancelled() })
    }
}

fn hex(bytes: &[u8]) -> Box<str> {
    let mut digits = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits.into()
}

/// A span in progress. If it is dropped without an end, the operation was cancelled.
pub(crate) struct Recording {
    context: TraceContext,
    spans: Vec<Box<dyn Span>>,
    /// The time at which it started, in milliseconds.
    started: u64,
    host: Rc<dyn Host>,
    outcome: Outcome,
}

impl Recording {
    /// Returns the place of the span in the trace.
    pub(crate) fn context(&self) -> &TraceContext {
        &self.context
    }

    pub(crate) fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.outcome.ms = self.host.now_ms().saturating_sub(self.started);
        for span in &mut self.spans {
            span.end(&self.outcome);
        }
    }
}

/// The place of a request in a trace.
#[derive(Default)]
pub(crate) struct Trace {
    /// The span of the client that sent the request.
    parent: Option<TraceContext>,
    /// The span of the request.
    own: Option<TraceContext>,
    is_sampled: Cell<bool>,
    telemetry: Option<Rc<dyn Tracer>>,
    recording: Cell<Option<Box<Recording>>>,
    /// Whether the result has `isError`.
    is_tool_error: Cell<bool>,
}

impl Trace {
    /// Returns the trace of a request, with the parent in its `_meta`. Returns `None` if there is neither telemetry nor a parent.
    pub(crate) fn of(
        meta: Option<Value<'_>>,
        telemetry: Option<&Rc<dyn Tracer>>,
        host: &Rc<dyn Host>,
    ) -> Option<Rc<Self>> {
        let parent = TraceContext::read(meta);
        let own = telemetry.map(|telemetry| telemetry.context(parent.as_ref(), host.as_ref()));
        let has_trace = parent.is_some() || own.is_some();
        let is_sampled = Cell::new(parent.as_ref().is_some_and(TraceContext::is_sampled));
        has_trace.then(|| Rc::new(Self { parent, own, is_sampled, telemetry: telemetry.cloned(), ..Self::default() }))
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.own.as_ref().or(self.parent.as_ref()).map(TraceContext::trace_id)
    }

    /// Returns the context that requests to other servers carry: the span of this request or, without telemetry, the span of its client.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        let own = self.own.clone().map(|own| own.sampled(self.is_sampled.get()));
        own.or_else(|| self.parent.clone())
    }

    /// Starts the span of the request.
    pub(crate) fn start(&self, work: &NewOperation<'_>, host: &Rc<dyn Host>) {
        if let (Some(telemetry), Some(own)) = (&self.telemetry, &self.own) {
            let recording = telemetry.start(work, own.clone(), self.parent.as_ref(), host.clone());
            self.is_sampled.set(recording.context().is_sampled());
            self.recording.set(Some(recording));
        }
    }

    /// Starts the span of a request to another server.
    pub(crate) fn start_within(&self, work: &NewOperation<'_>, host: &Rc<dyn Host>) -> Option<Box<Recording>> {
        let telemetry = self.telemetry.as_ref()?;
        let parent = self.context();
        let own = telemetry.context(parent.as_ref(), host.as_ref());
        Some(telemetry.start(work, own, parent.as_ref(), host.clone()))
    }

    /// Records that the result has `isError`.
    pub(crate) fn tool_failed(&self) {
        self.is_tool_error.set(true);
    }

    /// Ends the span of the request. `error` is the code of the error, if the answer is one.
    pub(crate) fn end(&self, error: Option<ErrorCode>) {
        if let Some(recording) = self.recording.take() {
            let outcome = match error {
                Some(code) => Outcome::error(code.number().into()),
                None if self.is_tool_error.get() => Outcome::failed("tool_error"),
                None => Outcome::default(),
            };
            recording.end(outcome);
        }
    }
}
