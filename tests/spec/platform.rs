//! The core does not depend on the platform that it runs on.

use std::fs;
use std::path::{Path, PathBuf};

/// Headers in which platforms and proxies send the address of the client or the id of the request.
const PLATFORM_HEADERS: [&str; 6] =
    ["cf-", "true-client-ip", "x-real-ip", "x-forwarded-", "x-request-id", "\"forwarded\""];

/// Returns all `.rs` files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The host provides the address of the client and the id of the request. If the core read these headers, clients of another host
/// could choose both. One file names the headers of proxies, to refuse requests that have them.
#[test]
fn only_the_worker_module_names_a_platform_header() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&src).into_iter().filter(|path| !path.ends_with("http/proxies.rs"));
    let (worker, core): (Vec<_>, Vec<_>) = files.partition(|path| path.starts_with(src.join("worker")));
    let naming = |files: &[PathBuf]| -> Vec<String> {
        let named = files.iter().flat_map(|path| {
            let text = fs::read_to_string(path).expect("a source file").to_ascii_lowercase();
            let headers = PLATFORM_HEADERS.iter().filter(move |header| text.contains(**header));
            headers.map(move |header| format!("{} names {header}", path.display()))
        });
        named.collect()
    };
    assert_eq!(naming(&core), Vec::<String>::new());
    assert!(!naming(&worker).is_empty(), "the search finds the headers in the worker module");
}
