//! Telemetry that records operations for tests.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::host::{Operation, Outcome, Span, Telemetry};

/// An operation that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub name: String,
    pub upstream: Option<String>,
    pub trace_id: String,
    pub span_id: String,
    pub parent_span_id: Option<String>,
    pub error_type: Option<String>,
    pub ms: u64,
    /// The names of all attributes, at the start and at the end.
    pub attributes: Vec<&'static str>,
}

/// Telemetry that keeps the operations, in the order in which they end. Clones have the same list.
#[derive(Clone, Default)]
pub struct TestTelemetry(Rc<RefCell<Vec<Recorded>>>);

impl TestTelemetry {
    /// Returns the operations, and forgets them.
    pub fn take(&self) -> Vec<Recorded> {
        self.0.take()
    }

    pub fn recorded(&self) -> Vec<Recorded> {
        self.0.borrow().clone()
    }
}

impl Telemetry for TestTelemetry {
    fn start(&self, operation: &Operation<'_>) -> Box<dyn Span> {
        let recorded = Recorded {
            name: operation.name(),
            upstream: operation.upstream.map(str::to_owned),
            trace_id: operation.trace_id.to_owned(),
            span_id: operation.span_id.to_owned(),
            parent_span_id: operation.parent_span_id.map(str::to_owned),
            error_type: None,
            ms: 0,
            attributes: operation.attributes().into_iter().map(|(name, _)| name).collect(),
        };
        Box::new(Running { recorded, list: self.0.clone() })
    }
}

struct Running {
    recorded: Recorded,
    list: Rc<RefCell<Vec<Recorded>>>,
}

impl Span for Running {
    fn end(&mut self, outcome: &Outcome) {
        let mut recorded = self.recorded.clone();
        recorded.error_type = outcome.error_type.as_deref().map(str::to_owned);
        recorded.ms = outcome.ms;
        recorded.attributes.extend(outcome.attributes().into_iter().map(|(name, _)| name));
        self.list.borrow_mut().push(recorded);
    }
}
