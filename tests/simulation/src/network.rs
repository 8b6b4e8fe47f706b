//! The network: it carries requests to services and answers back, and it can fail at each part of an exchange.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;

use edge_mcp::host::{FetchError, Opened};
use futures::channel::{mpsc, oneshot};
use futures::future::select;
use futures::{FutureExt, StreamExt};
use http::HeaderMap;

use crate::faults::{Fault, Point};
use crate::program::ORIGIN;
use crate::schedule::Owner;
use crate::world::World;

/// A request on the network.
#[derive(Clone, Debug)]
pub struct Sent {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body ended early.
    pub is_cut: bool,
    /// Whether the body never ends, and the connection stays open.
    pub is_stalled: bool,
    /// Whether the network delivers it a second time.
    pub is_again: bool,
}

impl Sent {
    pub fn post(url: &str, body: Vec<u8>) -> Self {
        let headers = vec![("content-length".to_owned(), body.len().to_string())];
        Self {
            method: "POST".into(),
            url: url.into(),
            headers,
            body,
            is_cut: false,
            is_stalled: false,
            is_again: false,
        }
    }

    pub fn get(url: &str) -> Self {
        Self { method: "GET".into(), headers: Vec::new(), ..Self::post(url, Vec::new()) }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns the value of a header.
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The beginning of an answer. The chunks of its body follow.
pub struct Head {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: mpsc::UnboundedReceiver<Vec<u8>>,
    /// Dropping it tells the server that the client does not wait for the answer.
    pub reader: Reader,
}

/// Exists as long as somebody reads an answer.
pub struct Reader(#[expect(dead_code, reason = "it is only dropped")] oneshot::Sender<()>);

/// Completes when the client has stopped to read the answer.
pub type Left = oneshot::Receiver<()>;

/// Creates the two ends of an answer that is read.
pub fn reader() -> (Reader, Left) {
    let (reader, left) = oneshot::channel();
    (Reader(reader), left)
}

/// A server on the network.
pub trait Service {
    /// Answers a request with a task of its own. A task that ends without an answer closes the connection.
    fn serve(&self, request: Sent, answer: oneshot::Sender<Head>);
}

/// Sends a request to a service, and returns the head of its answer.
pub async fn exchange(world: Rc<World>, service: Rc<dyn Service>, mut request: Sent) -> Result<Opened, FetchError> {
    let faults = &world.faults;
    if let Some(fault) = faults.at(Point::RequestLost) {
        world.schedule.sleep(fault.ms(20_000)).await;
        return Err(lost());
    }
    if let Some(fault) = faults.at(Point::RequestDelayed) {
        world.schedule.sleep(fault.ms(30_000)).await;
    }
    if let Some(fault) = faults.at(Point::RequestCut) {
        request.body.truncate(fault.size(request.body.len() + 1));
        request.is_cut = true;
    }
    if request.url.starts_with(ORIGIN) && faults.at(Point::RequestStalls).is_some() {
        request.is_stalled = true;
    }
    let (answer, mut head) = oneshot::channel();
    if let Some(fault) = faults.at(Point::RequestTwice) {
        let (again_in, service) = (world.clone(), service.clone());
        let request = Sent { is_again: true, ..request.clone() };
        let again = async move {
            let world = again_in;
            world.schedule.sleep(fault.ms(5000)).await;
            let (answer, head) = oneshot::channel();
            service.serve(request, answer);
            // The answer to the second request is read, and nobody gets it.
            if let Ok(head) = head.await {
                read(&world, head).await;
            }
        };
        world.schedule.spawn(Owner::World, again.boxed_local());
    }
    service.serve(request, answer);
    // Each part of the way takes a moment, in which other work continues.
    world.schedule.sleep(1).await;
    if faults.at(Point::AnswerLost).is_some() {
        // The server answers nevertheless.
        let _answer = (&mut head).await;
        return Err(lost());
    }
    let Head { status, headers, body, reader } = head.await.map_err(|_| lost())?;
    if let Some(fault) = faults.at(Point::AnswerDelayed) {
        world.schedule.sleep(fault.ms(30_000)).await;
    }
    let end = End::of(&world);
    let chunks = Chunks { world, body, end, passed: 0, _reader: reader };
    Ok(Opened { status, headers, body: futures::stream::unfold(chunks, Chunks::next).boxed_local() })
}

/// Reads an answer to its end, for at most two minutes.
async fn read(world: &Rc<World>, mut head: Head) {
    let body = async { while head.body.next().await.is_some() {} };
    let _ended = select(pin!(body), world.schedule.sleep(120_000)).await;
}

/// The error of a connection that ends. It is the one of the runtime of Workers.
pub fn lost() -> FetchError {
    FetchError::Failed("Network connection lost.".into())
}

/// The way in which the body of an answer ends.
#[derive(Clone, Copy)]
enum End {
    Whole,
    /// The connection ends after this number of bytes.
    Cut(usize),
    /// The body ends after this number of bytes, as if it were complete.
    Early(usize),
    /// Nothing comes after this number of bytes.
    Stalled(usize),
}

impl End {
    fn of(world: &World) -> Self {
        let bytes = |fault: Fault| fault.size(600);
        let at = |point| world.faults.at(point).map(bytes);
        if let Some(bytes) = at(Point::AnswerCut) {
            Self::Cut(bytes)
        } else if let Some(bytes) = at(Point::AnswerEnds) {
            Self::Early(bytes)
        } else if let Some(bytes) = at(Point::AnswerStalls) {
            Self::Stalled(bytes)
        } else {
            Self::Whole
        }
    }
}

struct Chunks {
    world: Rc<World>,
    body: mpsc::UnboundedReceiver<Vec<u8>>,
    end: End,
    passed: usize,
    _reader: Reader,
}

impl Chunks {
    async fn next(mut self) -> Option<(Result<Vec<u8>, FetchError>, Self)> {
        let (End::Cut(most) | End::Early(most) | End::Stalled(most)) = self.end else {
            let chunk = self.body.next().await?;
            return Some((Ok(chunk), self));
        };
        let left = most.saturating_sub(self.passed);
        let chunk = if left > 0 { self.body.next().await } else { None };
        if let Some(mut chunk) = chunk {
            chunk.truncate(left);
            self.passed += chunk.len();
            return Some((Ok(chunk), self));
        }
        match self.end {
            End::Whole | End::Early(_) => None,
            End::Cut(_) => {
                self.end = End::Early(0);
                Some((Err(lost()), self))
            }
            End::Stalled(_) => {
                // The connection stays open for longer than anybody waits.
                self.world.schedule.sleep(3_600_000).await;
                None
            }
        }
    }
}

/// Answers a request at once.
pub fn answer(to: oneshot::Sender<Head>, status: u16, headers: HeaderMap, chunks: Vec<Vec<u8>>) {
    let (sender, body) = mpsc::unbounded();
    for chunk in chunks {
        // The receiver is alive, because it is in the answer.
        let _sent = sender.unbounded_send(chunk);
    }
    let (reader, _left) = reader();
    let _sent = to.send(Head { status, headers, body, reader });
}

/// Sends the chunks of a body until nobody reads them any more.
pub async fn pump(body: impl futures::Stream<Item = Vec<u8>>, to: mpsc::UnboundedSender<Vec<u8>>, left: Left) {
    let sending = async {
        let mut body = pin!(body);
        while let Some(chunk) = body.next().await {
            if to.unbounded_send(chunk).is_err() {
                return;
            }
        }
    };
    select(pin!(sending), left.map(drop)).await;
}

/// The services by their origins.
#[derive(Default)]
pub struct Services(RefCell<Vec<(String, Rc<dyn Service>)>>);

impl Services {
    pub fn add(&self, origin: &str, service: Rc<dyn Service>) {
        self.0.borrow_mut().push((origin.to_owned(), service));
    }

    /// Removes all services, which may refer to the run.
    pub fn stop(&self) {
        self.0.borrow_mut().clear();
    }

    /// Returns the service at a URL.
    pub fn at(&self, url: &str) -> Option<Rc<dyn Service>> {
        let services = self.0.borrow();
        let found = services.iter().find(|(origin, _)| {
            url.strip_prefix(origin.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        found.map(|(_, service)| service.clone())
    }
}
