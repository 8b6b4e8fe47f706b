//! The answers of the pages, and the cookies of a browser.

use std::rc::Rc;

use edge_mcp::auth::Principal;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, RequestInfo};

use super::program::Program;

/// The answer of a page.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub text: String,
}

impl Page {
    pub fn read(response: http::Response<Vec<u8>>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status.as_u16(), headers: head.headers, text: String::from_utf8(body).expect("UTF-8") }
    }

    /// Returns the URL of a redirect.
    pub fn location(&self) -> &str {
        self.headers.get("location").unwrap_or_else(|| panic!("no redirect: {self:?}")).to_str().expect("ASCII")
    }

    /// Returns a parameter of the URL of a redirect.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let query = self.location().split_once('?').map_or("", |(_, query)| query);
        let found = form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned())
    }

    /// Returns the headers that set cookies.
    pub fn cookies(&self) -> Vec<&str> {
        self.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().expect("ASCII")).collect()
    }

    /// Returns whether the answer deletes a cookie of a sign-in.
    pub fn deletes_a_cookie(&self) -> bool {
        self.cookies().iter().any(|cookie| cookie.contains("mcp-sign-in-") && cookie.ends_with("; Max-Age=0"))
    }

    /// Returns the sentence of a refusal.
    pub fn refusal(&self) -> &str {
        assert_eq!(self.status, 400, "{self:?}");
        self.sentence()
    }

    pub fn sentence(&self) -> &str {
        let text = self.text.split_once("<p>").and_then(|(_, rest)| rest.split_once("</p>"));
        text.unwrap_or_else(|| panic!("no sentence: {self:?}")).0
    }
}

/// A browser with its cookies, in the order in which they were set.
#[derive(Clone, Default)]
pub struct Browser(pub Vec<(String, String)>);

impl Browser {
    /// Stores the cookies of an answer.
    pub fn accept(&mut self, page: &Page) {
        for cookie in page.cookies() {
            let (pair, attributes) = cookie.split_once("; ").expect("attributes");
            let (name, value) = pair.split_once('=').expect("a value");
            self.0.retain(|(known, _)| known != name);
            if !attributes.ends_with("Max-Age=0") {
                self.0.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    pub fn header(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// Opens the first page of a sign-in. `query` begins with `?`.
    pub fn begin(&mut self, program: &Program, query: &str, person: &str) -> Page {
        let page = program.begin(&self.context(&program.host, "", query, &[]), person);
        self.accept(&page);
        page
    }

    /// Opens the callback.
    pub fn finish(&mut self, program: &Program, query: &str, person: &str) -> Page {
        let (cx, person) = (self.context(&program.host, "/callback", query, &[]), Principal::new(person));
        let page = Page::read(run(&program.host, program.sign_in.finish(&cx, &person)));
        self.accept(&page);
        page
    }

    /// Returns the context of a page.
    pub fn context(&self, host: &TestHost, path: &str, query: &str, headers: &[(&str, &str)]) -> Context {
        let mut request = http::Request::get(format!("https://desk.example/sign-in{path}{query}"));
        if !self.0.is_empty() {
            request = request.header("cookie", self.header());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        context(request, host, None)
    }
}

/// Returns an encrypted text with another character in its middle.
pub fn altered(text: &str) -> String {
    let change = |(at, character)| match (at, character) {
        (40, 'A') => 'B',
        (40, _) => 'A',
        _ => character,
    };
    text.chars().enumerate().map(change).collect()
}

pub fn context(request: http::request::Builder, host: &TestHost, person: Option<Principal>) -> Context {
    let (head, ()) = request.body(()).expect("a request").into_parts();
    Context::for_program(RequestInfo::new(Rc::new(head), person), Rc::new(host.clone()))
}

pub fn run<T>(host: &TestHost, future: impl Future<Output = T>) -> T {
    testing::run(host.run(future)).expect("it ends")
}
