//! A network with one server on it: what it answers, and what it was asked.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::host::{Fetch, FetchError, FetchLimits, Fetched};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

type Respond = Box<dyn Fn(&http::Request<String>) -> Result<Fetched, FetchError>>;

/// A network with one server on it.
pub struct Network {
    respond: RefCell<Respond>,
    requests: RefCell<Vec<http::Request<String>>>,
    pub limits: Cell<Option<FetchLimits>>,
}

impl Network {
    pub fn new(respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) -> Rc<Self> {
        Rc::new(Self {
            respond: RefCell::new(Box::new(respond)),
            requests: RefCell::default(),
            limits: Cell::new(None),
        })
    }

    /// One that always answers this.
    pub fn answering(status: u16, body: &(impl ToString + ?Sized)) -> Rc<Self> {
        let body = body.to_string().into_bytes();
        Self::new(move |_| Ok(Fetched::new(status, body.clone())))
    }

    /// Answers otherwise from now on.
    pub fn change(&self, respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) {
        *self.respond.borrow_mut() = Box::new(respond);
    }

    /// What it was asked.
    pub fn requests(&self) -> Vec<http::Request<String>> {
        self.requests.borrow().clone()
    }

    /// How often it was asked.
    pub fn count(&self) -> usize {
        self.requests.borrow().len()
    }
}

impl Fetch for Network {
    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        let answer = (self.respond.borrow())(&request);
        self.requests.borrow_mut().push(request);
        self.limits.set(Some(limits));
        async { answer }.boxed_local()
    }
}
