//! A network with one server on it: what it answers, and what it was asked.

use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::rc::Rc;

use edge_mcp::host::{FetchError, FetchLimits, Fetched};

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

    /// The function that a host takes as its network.
    pub fn fetch(
        self: &Rc<Self>,
    ) -> impl Fn(http::Request<String>, FetchLimits) -> Ready<Result<Fetched, FetchError>> + 'static {
        let network = self.clone();
        move |request, limits| {
            let answer = (network.respond.borrow())(&request);
            network.requests.borrow_mut().push(request);
            network.limits.set(Some(limits));
            ready(answer)
        }
    }
}
