//! The browser of a person: it signs in over the pages of the program, with cookies. Some browsers are hostile.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;

use futures::StreamExt;
use futures::future::{Either, join, select};
use serde_json::Value;

use crate::authorization::{self, COUNT};
use crate::faults::Point;
use crate::identities;
use crate::ledger::Invariant;
use crate::network::Sent;
use crate::program::{ORIGIN, token};
use crate::rogue;
use crate::sign_in::{self, CALLBACK, PAGE, SESSION};
use crate::upstream;
use crate::world::World;

/// The time for which a person waits for a page, in milliseconds.
const PATIENCE: u64 = 60_000;

/// The lifetime of links and of sign-ins in milliseconds.
const LINK_MS: u64 = 600_000;

/// The faults after which an access can be lost.
const LOSSES: &[Point] = &[
    Point::RequestLost,
    Point::RequestDelayed,
    Point::RequestTwice,
    Point::RequestCut,
    Point::AnswerLost,
    Point::AnswerDelayed,
    Point::AnswerCut,
    Point::AnswerEnds,
    Point::AnswerStalls,
    Point::TokenRevoked,
    Point::TokenServerFails,
    Point::TokenServerFailsLate,
    Point::ClientForgotten,
    Point::GrantEnds,
    Point::TokenWriteFails,
    Point::DatabaseFails,
    Point::DatabaseFailsLate,
    Point::DatabaseIsSlow,
    Point::IsolateEnds,
    Point::ObjectEnds,
    Point::WriteEnds,
    Point::ClockJumps,
];

/// A cookie: its origin, name and value.
type Cookie = (String, String, String);

/// A browser.
pub struct Browser {
    world: Rc<World>,
    person: String,
    /// The cookies, the oldest first.
    cookies: RefCell<Vec<Cookie>>,
    /// Whether a sign-in has removed the cookie of an earlier one, because there were too many.
    has_evicted: Cell<bool>,
    /// The links in failures, by their servers.
    links: RefCell<BTreeMap<usize, String>>,
    /// The time at which the person has begun to do something.
    since: Cell<u64>,
}

/// An answer.
#[derive(Debug)]
struct Page {
    status: u16,
    location: Option<String>,
    text: String,
}

impl Page {
    /// Returns whether the page says that the person is signed in.
    fn is_done(&self) -> bool {
        self.status == 200 && self.text.contains("You are signed in to the server")
    }
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

fn origin_of(url: &str) -> String {
    url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/")
}

impl Browser {
    /// Creates the browser of a person who is known to the program and to the authorization servers.
    pub fn new(world: &Rc<World>, person: &str) -> Rc<Self> {
        let session = (ORIGIN.to_owned(), SESSION.to_owned(), token(person));
        let login = |number| (authorization::issuer(number), "login".to_owned(), authorization::login(person));
        Rc::new(Self {
            world: world.clone(),
            person: person.to_owned(),
            cookies: RefCell::new([session].into_iter().chain((0..COUNT).map(login)).collect()),
            has_evicted: Cell::new(false),
            links: RefCell::default(),
            since: Cell::new(world.schedule.now_ms()),
        })
    }

    pub fn begin_operation(&self) {
        self.since.set(self.world.schedule.now_ms());
    }

    fn once_in(&self, times: usize) -> bool {
        self.world.below(times) == 0
    }

    fn violate(&self, invariant: Invariant, text: String) {
        self.world.ledger.violate(invariant, format!("the browser of {}: {text}", self.person));
    }

    /// Sends the request for a page, and reads the answer.
    async fn get(&self, url: &str) -> Option<Page> {
        let origin = origin_of(url);
        let cookies: Vec<_> = {
            let cookies = self.cookies.borrow();
            let own = cookies.iter().filter(|(of, ..)| *of == origin);
            own.map(|(_, name, value)| format!("{name}={value}")).collect()
        };
        let request = Sent::get(url).header("cookie", &cookies.join("; "));
        self.world.trace(|| format!("the browser of {} opens {url}", self.person));
        let page = pin!(self.page(request, &origin));
        match select(page, self.world.schedule.sleep(PATIENCE)).await {
            Either::Left((page, _)) => page,
            Either::Right(_) => None,
        }
    }

    async fn page(&self, request: Sent, origin: &str) -> Option<Page> {
        let mut opened = self.world.send(request).await.ok()?;
        let mut body = Vec::new();
        while let Some(chunk) = opened.body.next().await {
            body.extend(chunk.ok()?);
        }
        self.world.schedule.record(&body);
        let reader = format!("the browser of {}", self.person);
        self.world.ledger.scan(&body, &[], &reader);
        let code = (0..COUNT).find(|number| authorization::issuer(*number) == origin);
        let code = code.map(|number| format!("{}-code-{}", self.person, authorization::name(number)));
        for (_, value) in &opened.headers {
            self.world.ledger.scan(value.as_bytes(), code.as_deref().as_slice(), &reader);
        }
        for cookie in opened.headers.get_all("set-cookie") {
            self.set_cookie(origin, cookie.to_str().unwrap_or_default());
        }
        let location = opened.headers.get("location").and_then(|location| location.to_str().ok()).map(str::to_owned);
        let page = Page { status: opened.status, location, text: String::from_utf8_lossy(&body).into_owned() };
        self.world.trace(|| format!("the browser of {} gets {page:?}", self.person));
        Some(page)
    }

    fn set_cookie(&self, origin: &str, cookie: &str) {
        let Some((name, (value, attributes))) =
            cookie.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once(';')?)))
        else {
            return self.violate(Invariant::OneAnswer, format!("a cookie is not valid: {cookie}"));
        };
        for attribute in ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"] {
            let has_attribute = attributes.split(';').any(|known| known.trim() == attribute);
            self.world
                .ledger
                .check(has_attribute, Invariant::NoLeak, || format!("a cookie is not {attribute}: {cookie}"));
        }
        let mut cookies = self.cookies.borrow_mut();
        cookies.retain(|(of, known, _)| !(of == origin && known == name));
        if !attributes.contains("Max-Age=0") {
            cookies.push((origin.to_owned(), name.to_owned(), value.to_owned()));
        }
    }

    /// Opens a page, and opens it again if no answer arrives.
    async fn get_again(&self, url: &str) -> Option<Page> {
        for _ in 0..3 {
            let page = self.get(url).await;
            if page.is_some() {
                return page;
            }
        }
        None
    }

    /// Records a page that does not do what it should do.
    fn failed(&self, what: &str, page: &Page) {
        self.world.trace(|| format!("{what} of {} fails: {page:?}", self.person));
        if !self.world.faults.has_failed() && !self.has_evicted.get() {
            self.violate(Invariant::Success, format!("{what} fails without a fault: {page:?}"));
        }
    }

    /// Checks the page that a hostile browser gets.
    fn refused(&self, what: &str, page: Option<&Page>) {
        if let Some(page) = page.filter(|page| page.is_done() || page.status == 302) {
            self.violate(Invariant::OwnResult, format!("{what} is not refused: {page:?}"));
        }
    }

    /// Signs in to the hostile server, as far as the program lets the person do that.
    pub async fn sign_in_to_rogue(&self) {
        let mut page = if self.is_known() { self.get(&format!("{PAGE}?server={}", rogue::NAME)).await } else { None };
        // The browser goes to the authorization server, and back to the program.
        for _ in 0..2 {
            let Some(location) = page.filter(|page| page.status == 302).and_then(|page| page.location) else { return };
            page = self.get(&location).await;
        }
    }

    /// Returns whether the pages of the program know the person.
    fn is_known(&self) -> bool {
        let is_listed = identities::is_listed(self.world.plan(), &self.person);
        is_listed || self.world.known.principal(&self.person).is_some()
    }

    /// Signs in to a server. Returns whether it worked.
    pub async fn sign_in(&self, server: usize) -> bool {
        if !self.is_known() {
            return false;
        }
        let link = self.links.borrow_mut().remove(&server).filter(|_| !self.once_in(3));
        let link = link.unwrap_or_else(|| format!("{PAGE}?server={}", upstream::name(server)));
        self.sign_in_at(server, &link).await
    }

    /// Signs in to a server with a link.
    async fn sign_in_at(&self, server: usize, link: &str) -> bool {
        if parameter(link, "ticket").is_some()
            && self.world.faults.at(Point::TicketForeign).is_some()
            && let Some(other) = self.other_person()
        {
            let page = other.get(link).await;
            other.refused("the link of another person", page.as_ref());
        }
        if parameter(link, "ticket").is_some() && self.world.faults.at(Point::LinkIsOld).is_some() {
            return self.open_late("a link", link).await;
        }
        let Some(callback) = self.code_at(link).await else { return false };
        if self.world.faults.at(Point::LinkIsOld).is_some() {
            return self.open_late("the end of a sign-in", &callback).await;
        }
        // The person needs some time.
        self.world.schedule.sleep(self.world.below(3000) as u64).await;
        if self.world.faults.at(Point::CodeForeign).is_some() {
            self.send_foreign_code(server, &callback).await;
        }
        if self.world.faults.at(Point::CallbackForeign).is_some() {
            self.open_elsewhere(&callback).await;
        }
        let cookies = self.cookies.borrow().clone();
        let twice = self.world.faults.at(Point::CallbackTwice).map(|fault| fault.size(2));
        let again = async {
            twice?;
            let tab = Self::new(&self.world, &self.person);
            tab.cookies.replace(cookies);
            tab.get(&callback).await
        };
        let (first, second) = if twice == Some(0) {
            join(self.get(&callback), again).await
        } else {
            let first = self.get(&callback).await;
            (first, again.await)
        };
        self.finished(server, &callback, [first, second])
    }

    /// Opens a page after its expiry. It must not work.
    async fn open_late(&self, what: &str, url: &str) -> bool {
        self.world.schedule.sleep(LINK_MS).await;
        let page = self.get(url).await;
        if let Some(page) = page.filter(|page| page.is_done() || page.status == 302) {
            self.violate(Invariant::Expiry, format!("{what} that has expired is accepted: {page:?}"));
        }
        false
    }

    /// Checks the pages at the end of a sign-in.
    fn finished(&self, server: usize, callback: &str, pages: [Option<Page>; 2]) -> bool {
        let pages: Vec<Page> = pages.into_iter().flatten().collect();
        let done = pages.iter().filter(|page| page.is_done()).count();
        self.world.ledger.check(done <= 1, Invariant::OneRefresh, || format!("{callback} is finished twice"));
        let code = parameter(callback, "code");
        if done == 0 {
            if let (Some(page), Some(_)) = (pages.last(), code) {
                self.failed("the end of a sign-in", page);
            }
            return false;
        }
        let granted = code.and_then(|code| self.world.sign_ins.grants.of_code(&code));
        let own = Some((self.person.clone(), server));
        self.world.ledger.check(granted == own, Invariant::OwnResult, || {
            format!("the sign-in of {own:?} has ended with the code of {granted:?}")
        });
        self.world.sign_ins.change(&self.world, &self.person, server, true);
        true
    }

    /// Opens a link and the page of the authorization server. Returns the URL to which it sends the browser back.
    async fn code_at(&self, link: &str) -> Option<String> {
        let known = self.pending();
        let begun = self.get_again(link).await?;
        let gone = known.iter().any(|name| !self.pending().contains(name));
        self.has_evicted.set(self.has_evicted.get() || gone);
        let Some(location) = begun.location.as_ref().filter(|_| begun.status == 302) else {
            // A durable task can end with a link that it got more than ten minutes before.
            let is_old = begun.text.contains("This link has expired") && self.world.schedule.elapsed_ms() >= 600_000;
            if !is_old {
                self.failed("the beginning of a sign-in", &begun);
            }
            return None;
        };
        let page = self.get_again(location).await?;
        let Some(location) = page.location.as_ref().filter(|_| page.status == 302) else {
            if !page.text.contains(authorization::UNKNOWN_CLIENT) {
                self.failed("the authorization", &page);
            }
            return None;
        };
        let is_callback = location.split('?').next() == Some(CALLBACK);
        self.world.ledger.check(is_callback, Invariant::NoLeak, || format!("a code is sent to {location}"));
        Some(location.clone())
    }

    /// Returns the names of the cookies of sign-ins.
    fn pending(&self) -> Vec<String> {
        let cookies = self.cookies.borrow();
        let pending = cookies.iter().filter(|(_, name, _)| name.starts_with("__Host-mcp-sign-in-"));
        pending.map(|(_, name, _)| name.clone()).collect()
    }

    fn other_person(&self) -> Option<Rc<Self>> {
        let others: Vec<&String> = self.world.callers.iter().filter(|person| **person != self.person).collect();
        (!others.is_empty()).then(|| Self::new(&self.world, others[self.world.below(others.len())]))
    }

    /// Opens the end of this sign-in in another browser, or as another person.
    async fn open_elsewhere(&self, callback: &str) {
        let other = self.other_person();
        let is_stolen = other.is_some() && self.once_in(2);
        let other = other.unwrap_or_else(|| Self::new(&self.world, &self.person));
        if is_stolen {
            // The cookies of the sign-in have been stolen, but the session is that of another person.
            let stolen =
                self.cookies.borrow().clone().into_iter().filter(|(_, name, _)| name.starts_with("__Host-mcp-"));
            other.cookies.borrow_mut().extend(stolen);
        }
        let page = other.get(callback).await;
        other.refused("the end of another sign-in", page.as_ref());
    }

    /// Ends another sign-in with the code of this one.
    async fn send_foreign_code(&self, server: usize, callback: &str) {
        let other = self.other_person().unwrap_or_else(|| Self::new(&self.world, &self.person));
        let link = format!("{PAGE}?server={}", upstream::name(server));
        let Some(own) = other.code_at(&link).await else { return };
        let (Some(state), Some(code)) = (parameter(&own, "state"), parameter(callback, "code")) else { return };
        let mut query = form_urlencoded::Serializer::new(String::new());
        let issuer = authorization::issuer(authorization::of_server(server));
        query.append_pair("state", &state).append_pair("code", &code).append_pair("iss", &issuer);
        let page = other.get(&format!("{CALLBACK}?{}", query.finish())).await;
        other.refused("the code of another sign-in", page.as_ref());
    }

    /// Removes the access to a server.
    pub async fn forget(&self, server: usize) {
        self.world.sign_ins.change(&self.world, &self.person, server, false);
        if !self.is_known() {
            return;
        }
        let Some(page) = self.get_again(&sign_in::forget_url(&upstream::name(server))).await else { return };
        if page.status != 200 {
            self.failed("the removal of an access", &page);
        }
    }

    /// Opens the links of questions, unless the person does not want to.
    pub async fn open_links(&self, questions: &Value) {
        for (_, question) in questions.as_object().into_iter().flatten() {
            let (message, url) = (&question["params"]["message"], &question["params"]["url"]);
            let server = message.as_str().and_then(servers_in);
            if let (Some(server), Some(url), false) = (server, url.as_str(), self.once_in(5)) {
                self.sign_in_at(server, url).await;
            }
        }
    }

    /// Returns whether a failure says that the person has not signed in, and that is so. Keeps the link.
    pub fn explains(&self, failure: &str) -> bool {
        let Some(server) = servers_in(failure) else { return false };
        if failure.contains("because you did not agree to sign in") {
            return true;
        }
        let link = failure.find(PAGE).map(|at| &failure[at..]);
        let end = |link: &str| link.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:/?=".contains(c)));
        let Some(link) = link.map(|link| &link[..end(link).unwrap_or(link.len())]) else { return false };
        self.links.borrow_mut().insert(server, link.to_owned());
        self.is_out(server)
    }

    /// Returns whether the person was not signed in to a server all the time since the operation began.
    pub fn is_out(&self, server: usize) -> bool {
        !self.world.sign_ins.is_in_since(&self.person, server, self.since.get())
    }

    /// Checks after the run that an access that was lost had a reason.
    pub fn check_lost(&self, server: usize) {
        let World { sign_ins, faults, .. } = &*self.world;
        let Some((sqlite, rows)) = sign_ins.database.get() else { return };
        let is_lost = !sign_ins.is_in_since(&self.person, server, u64::MAX)
            || faults.has_fired(LOSSES)
            || !rows.is_usable(&self.world, sqlite, &self.person, server);
        if !is_lost {
            self.violate(Invariant::NoLostEffect, format!("the access to s{server} is lost without a reason"));
        }
    }
}

/// Returns the number of the server that a sentence about a sign-in names.
fn servers_in(sentence: &str) -> Option<usize> {
    let (_, rest) = sentence.split_once("The server `s")?;
    let (number, rest) = rest.split_once('`')?;
    (rest.contains("sign in")).then(|| number.parse().ok())?
}
