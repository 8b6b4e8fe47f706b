//! What the targets share: the endpoint that is asked, and what must hold of its answers, both as in the property test.

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

/// What a client knows from earlier answers of the endpoint.
pub fn with_known<T>(read: impl FnOnce(&Known) -> T) -> T {
    KNOWN.with(read)
}

/// Asks the endpoint: the status, and what came, of which everything holds.
pub fn ask(request: RawRequest) -> (u16, CheckedAnswer) {
    let answer = ENDPOINT.with(|endpoint| specimen::ask_at(endpoint, request.clone()));
    assert_ne!(answer.status(), 0, "{}", answer.text());
    match invariants::check(&request, &answer) {
        Ok(checked) => (answer.status(), checked),
        Err(problem) => panic!("{problem}\n{} {}", answer.status(), String::from_utf8_lossy(answer.body())),
    }
}
