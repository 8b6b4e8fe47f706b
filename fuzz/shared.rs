//! Code that the targets share: the endpoint under test, and the properties of its answers. Both are those of the property test.

#[path = "../tests/property/invariants.rs"]
pub mod invariants;
#[path = "../tests/property/json.rs"]
pub mod json;
#[path = "../tests/property/random.rs"]
pub mod random;
#[path = "../tests/property/requests.rs"]
pub mod requests;
#[path = "../tests/property/specimen.rs"]
pub mod specimen;

use std::rc::Rc;

use edge_mcp::Endpoint;

use invariants::CheckedAnswer;
use requests::Known;
use specimen::RawRequest;

thread_local! {
    static ENDPOINT: Rc<Endpoint> = Rc::new(specimen::endpoint());
    static KNOWN: Known = ENDPOINT.with(Known::of);
}

/// Calls `read` with the values that a client has from earlier answers of the endpoint.
pub fn with_known<T>(read: impl FnOnce(&Known) -> T) -> T {
    KNOWN.with(read)
}

/// Sends a request to the endpoint and checks the properties of the answer. Returns the status and the content of the answer.
pub fn ask(request: RawRequest) -> (u16, CheckedAnswer) {
    let answer = ENDPOINT.with(|endpoint| specimen::ask_at(endpoint, request.clone()));
    assert_ne!(answer.status(), 0, "{}", answer.text());
    match invariants::check(&request, &answer) {
        Ok(checked) => (answer.status(), checked),
        Err(problem) => panic!("{problem}\n{} {}", answer.status(), String::from_utf8_lossy(answer.body())),
    }
}
