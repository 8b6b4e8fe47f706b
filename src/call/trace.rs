//! The place of a request in a trace, and the spans of a request and of the requests that its handler sends to other servers.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;

use edge_json::Value;

use crate::host::{Host, Operation, Outcome, Span, Telemetry};
use crate::protocol::error::ErrorCode;
use crate::protocol::trace_context::TraceContext;

/// The number of bytes of a trace id, and of a span id.
const TRACE_ID: usize = 16;
const SPAN_ID: usize = 8;

/// An operation without its place in a trace.
pub(crate) struct Work<'a> {
    pub upstream: Option<&'a str>,
    pub method: &'a str,
    pub target: Option<&'a str>,
    pub revision: &'static str,
}

/// Starts spans. `Endpoint::telemetry` creates the only implementation, so the wasm module of a program without telemetry does not contain it.
pub(crate) trait StartSpans {
    /// Returns the same with one more telemetry.
    fn with(&self, telemetry: Rc<dyn Telemetry>) -> Rc<dyn StartSpans>;

    /// Returns the context of a new span in the trace of `parent`, or in a new trace.
    fn context(&self, parent: Option<&TraceContext>, host: &dyn Host) -> TraceContext;

    /// Starts the span with the context `own`.
    fn start(
        &self,
        work: &Work<'_>,
        own: TraceContext,
        parent: Option<&TraceContext>,
        host: Rc<dyn Host>,
    ) -> Box<Recording>;
}

/// All telemetry of an endpoint.
#[derive(Default)]
pub(crate) struct Telemetries(Vec<Rc<dyn Telemetry>>);

impl StartSpans for Telemetries {
    fn with(&self, telemetry: Rc<dyn Telemetry>) -> Rc<dyn StartSpans> {
        Rc::new(Self(self.0.iter().cloned().chain([telemetry]).collect()))
    }

    fn context(&self, parent: Option<&TraceContext>, host: &dyn Host) -> TraceContext {
        let mut random = [0; TRACE_ID + SPAN_ID];
        // Without randomness, the ids are not unique. That must not fail the request.
        let _ = host.fill_random(&mut random);
        let (trace, span) = random.split_at(TRACE_ID);
        match parent {
            Some(parent) => parent.with_span(hex(span)),
            None => TraceContext::new(hex(trace), hex(span), false),
        }
    }

    fn start(
        &self,
        work: &Work<'_>,
        own: TraceContext,
        parent: Option<&TraceContext>,
        host: Rc<dyn Host>,
    ) -> Box<Recording> {
        let Work { upstream, method, target, revision } = *work;
        let (trace_id, span_id, parent_span_id) = (own.trace_id(), own.span_id(), parent.map(TraceContext::span_id));
        let operation = Operation { upstream, method, target, revision, trace_id, span_id, parent_span_id };
        let spans: Vec<_> = self.0.iter().map(|telemetry| telemetry.start(&operation)).collect();
        // Who begins a trace decides whether it is sampled. The other ones only pass this on.
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
    telemetry: Option<Rc<dyn StartSpans>>,
    recording: RefCell<Option<Box<Recording>>>,
    /// Whether the result has `isError`.
    is_tool_error: Cell<bool>,
}

impl Trace {
    /// Returns the trace of a request from its `_meta`. Without telemetry, only a request whose client has a trace has one.
    pub(crate) fn of(
        meta: Option<Value<'_>>,
        telemetry: Option<&Rc<dyn StartSpans>>,
        host: &Rc<dyn Host>,
    ) -> Option<Rc<Self>> {
        let parent = TraceContext::read(meta);
        let own = telemetry.map(|telemetry| telemetry.context(parent.as_ref(), host.as_ref()));
        let has_trace = parent.is_some() || own.is_some();
        has_trace.then(|| Rc::new(Self { parent, own, telemetry: telemetry.cloned(), ..Self::default() }))
    }

    /// Returns the id of the trace.
    pub(crate) fn id(&self) -> Option<&str> {
        self.own.as_ref().or(self.parent.as_ref()).map(TraceContext::trace_id)
    }

    /// Returns the context for requests to other servers: that of this request. Without telemetry, it is that of the client.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        let recorded = self.recording.borrow().as_ref().map(|recording| recording.context().clone());
        recorded.or_else(|| self.own.clone()).or_else(|| self.parent.clone())
    }

    /// Starts the span of the request.
    pub(crate) fn start(&self, work: &Work<'_>, host: &Rc<dyn Host>) {
        if let (Some(telemetry), Some(own)) = (&self.telemetry, &self.own) {
            let recording = telemetry.start(work, own.clone(), self.parent.as_ref(), host.clone());
            *self.recording.borrow_mut() = Some(recording);
        }
    }

    /// Starts the span of a request to another server.
    pub(crate) fn start_within(&self, work: &Work<'_>, host: &Rc<dyn Host>) -> Option<Box<Recording>> {
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
