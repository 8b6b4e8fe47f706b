//! A network with prepared responses for tests.

use std::cell::RefCell;

use http::Request;

use crate::host::{FetchError, FetchLimits, Fetched, origin_of};

/// The prepared responses, and the requests so far.
#[derive(Default)]
pub(super) struct TestNetwork {
    responses: RefCell<Vec<PreparedResponse>>,
    /// The origins of the servers that cannot be reached.
    blocked: RefCell<Vec<String>>,
    requests: RefCell<Vec<Request<String>>>,
}

struct PreparedResponse {
    method: String,
    url: String,
    response: Fetched,
}

impl TestNetwork {
    pub(super) fn prepare(&self, method: String, url: String, response: Fetched) {
        self.responses.borrow_mut().push(PreparedResponse { method, url, response });
    }

    /// Makes the server with this origin unreachable.
    pub(super) fn block(&self, origin: String) {
        self.blocked.borrow_mut().push(origin);
    }

    pub(super) fn is_blocked(&self, request: &Request<String>) -> bool {
        let url = request.uri().to_string();
        let origin = origin_of(&url);
        self.blocked.borrow().iter().any(|blocked| origin.is_some() && origin_of(blocked) == origin)
    }

    /// Records a request, with its limits as an extension.
    pub(super) fn record(&self, request: &Request<String>, limits: FetchLimits) {
        let mut request = request.clone();
        request.extensions_mut().insert(limits);
        self.requests.borrow_mut().push(request);
    }

    pub(super) fn requests(&self) -> Vec<Request<String>> {
        self.requests.borrow().clone()
    }

    /// Returns the next response to `request`. The last response is not removed, so it is repeated.
    pub(super) fn respond(&self, request: &Request<String>) -> Result<Fetched, FetchError> {
        let (method, url) = (request.method().as_str(), request.uri().to_string());
        let mut responses = self.responses.borrow_mut();
        let mut matching = responses.iter().enumerate().filter(|(_, it)| it.method == method && it.url == url);
        let Some((first, prepared)) = matching.next() else {
            let problem = format!(
                "the test has no response to {method} {url}: prepare one with TestHost::respond(\"{method}\", \"{url}\", …)"
            );
            return Err(FetchError::Failed(problem));
        };
        let (response, has_another) = (prepared.response.clone(), matching.next().is_some());
        if has_another {
            responses.remove(first);
        }
        Ok(response)
    }
}
