//! The W3C trace context of a request: `traceparent` and `tracestate` in its `_meta`.
//!
//! Source: 2026-07-28, basic, "`_meta`"; SEP-414; W3C Trace Context, §3.2 and §3.3.

use edge_json::Value;

use crate::limits::TRACESTATE_BYTES;

/// The number of parts of a `traceparent` in version 00: the version, the trace id, the span id and the flags.
const PARTS: usize = 4;
/// The flag that the trace is recorded.
const SAMPLED: u8 = 1;

/// A span within a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    trace_id: Box<str>,
    span_id: Box<str>,
    /// Whether the sender says that the trace is recorded.
    is_sampled: bool,
    /// Data of tracing systems, which goes on with the trace.
    state: Option<Box<str>>,
}

impl TraceContext {
    /// Reads the trace context in the `_meta` of a request. Returns `None` if it is not valid.
    pub(crate) fn read(meta: Option<Value<'_>>) -> Option<Self> {
        let meta = meta?;
        let parent = meta.get("traceparent")?.as_str()?;
        let parts: Vec<&str> = parent.splitn(PARTS.saturating_add(1), '-').collect();
        let [version, trace_id, span_id, flags, rest @ ..] = &*parts else { return None };
        // Later versions may add parts, which a program of version 00 ignores.
        let is_known = *version != "ff" && (*version != "00" || rest.is_empty());
        let is_hex = is_hex(version, 2) && is_hex(trace_id, 32) && is_hex(span_id, 16) && is_hex(flags, 2);
        let is_zero = |id: &str| id.bytes().all(|digit| digit == b'0');
        if !is_known || !is_hex || is_zero(trace_id) || is_zero(span_id) {
            return None;
        }
        let flags = u8::from_str_radix(flags, 16).ok()?;
        let state = meta.get("tracestate").and_then(Value::as_str);
        let is_visible = |state: &str| state.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let state = state.filter(|state| !state.is_empty() && state.len() <= TRACESTATE_BYTES && is_visible(state));
        Some(Self {
            state: state.map(Into::into),
            ..Self::new((*trace_id).into(), (*span_id).into(), flags & SAMPLED != 0)
        })
    }

    /// Creates the context of a span. The ids are lowercase hexadecimal numbers.
    pub(crate) fn new(trace_id: Box<str>, span_id: Box<str>, is_sampled: bool) -> Self {
        Self { trace_id, span_id, is_sampled, state: None }
    }

    /// Creates the context of another span of the same trace.
    pub(crate) fn with_span(&self, span_id: Box<str>) -> Self {
        Self { span_id, ..self.clone() }
    }

    /// Sets whether the trace is recorded.
    pub(crate) fn sampled(self, is_sampled: bool) -> Self {
        Self { is_sampled, ..self }
    }

    pub(crate) fn trace_id(&self) -> &str {
        &self.trace_id
    }

    pub(crate) fn span_id(&self) -> &str {
        &self.span_id
    }

    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Returns `traceparent`, in version 00.
    pub(crate) fn parent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace_id, self.span_id, u8::from(self.is_sampled))
    }

    /// Returns `tracestate`.
    pub(crate) fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
