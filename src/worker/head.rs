//! The head of a Workers request. Its headers stay in JavaScript, and each is fetched when it is asked for.

use worker::Request;
use worker::web_sys;

use crate::host::RequestHead;

pub(super) struct WorkerHead {
    request: web_sys::Request,
    headers: web_sys::Headers,
}

impl WorkerHead {
    pub(super) fn new(request: &Request) -> Self {
        // Another handle to the request. Its own method of that name would copy it, body and all.
        let request = Clone::clone(request.inner());
        Self { headers: request.headers(), request }
    }
}

impl RequestHead for WorkerHead {
    fn method(&self) -> String {
        self.request.method()
    }

    fn url(&self) -> String {
        self.request.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        // The only failure is a name that is no header's: there is none of it.
        self.headers.get(name).ok().flatten()
    }
}
