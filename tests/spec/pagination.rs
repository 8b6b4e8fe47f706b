//! Pagination of lists.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use edge_mcp::{Endpoint, McpServer, Prompt, Resource, ResourceDescription, ResourceTemplate, Tool};
use serde_json::{Value, json};

use crate::support::{Answer, legacy, modern};

/// Returns an endpoint with 7 tools, prompts and resources and 8 templates, in pages of `size` items.
fn endpoint(size: usize) -> Endpoint {
    Endpoint::new(move |_| {
        let read = |_: BTreeMap<String, String>| async { "text" };
        let listed = || async { vec![ResourceDescription::new("b://0", "0"), ResourceDescription::new("b://1", "1")] };
        let mut server = McpServer::builder("s", "1").page_size(NonZeroUsize::new(size).expect("not 0"));
        for nth in 0..7 {
            server = server
                .tool(Tool::new(format!("t{nth}"), "d", || async {}))
                .prompt(Prompt::new(format!("p{nth}"), || async { "" }).version("v1"))
                .prompt(Prompt::new(format!("p{nth}"), || async { "" }).version("v2"))
                .resource_template(ResourceTemplate::new(format!("a{nth}://{{x}}"), read));
        }
        for nth in 0..5 {
            server = server.resource(Resource::new(format!("a://{nth}"), || async { "text" }));
        }
        server.resource_template(ResourceTemplate::new("b://{x}", read).list(listed)).build()
    })
    .without_auth()
}

/// The method of each list, the member with its items, the key that identifies an item, and the number of items.
const LISTS: [(&str, &str, &str, usize); 4] = [
    ("tools/list", "tools", "name", 7),
    ("prompts/list", "prompts", "name", 7),
    ("resources/list", "resources", "uri", 7),
    ("resources/templates/list", "resourceTemplates", "uriTemplate", 8),
];

/// Returns the keys of the items on each page of a list.
fn pages(list: (&str, &str, &str, usize), size: usize) -> Vec<Vec<String>> {
    let (method, member, key, _) = list;
    let (mut pages, mut params) = (Vec::new(), json!({}));
    loop {
        let answer = modern(method, params).ask_at(&endpoint(size));
        let items = answer.result()[member].as_array().expect("a list").clone();
        pages.push(items.iter().map(|item| item[key].as_str().expect("a string").to_owned()).collect());
        match answer.result().get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return pages,
        }
    }
}

/// Rule 51: the concatenated pages are the whole list, and the last page has no cursor. Each request uses a new endpoint.
#[test]
fn concatenated_pages_are_the_whole_list() {
    for list in LISTS {
        let whole = pages(list, 100);
        assert_eq!((whole.len(), whole[0].len()), (1, list.3), "{}", list.0);
        for size in [1, 2, 3, 6, 7, 8] {
            let pages = pages(list, size);
            assert!(pages.iter().rev().skip(1).all(|page| page.len() == size), "{pages:?}");
            assert_eq!(pages.concat(), whole.concat(), "{} by {size}", list.0);
            assert_eq!(pages.len(), list.3.div_ceil(size), "{} by {size}", list.0);
        }
    }
}

fn cursor(answer: &Answer) -> String {
    answer.result()["nextCursor"].as_str().expect("a cursor").to_owned()
}

/// Rule 51: a cursor is rejected if it is damaged, belongs to another list, or is past the end of the list.
#[test]
fn invalid_cursors_are_rejected() {
    let good = cursor(&modern("tools/list", json!({})).ask_at(&endpoint(3)));
    let assert_rejected = |method: &str, cursor: Value, size| {
        for answer in [
            modern(method, json!({ "cursor": cursor })).ask_at(&endpoint(size)),
            legacy(method, json!({ "cursor": cursor })).ask_at(&endpoint(size)),
        ] {
            assert_eq!(answer.refusal(), (200, -32602), "{method} {cursor}");
        }
    };
    for (method, ..) in LISTS.into_iter().skip(1) {
        assert_rejected(method, json!(good), 3);
    }
    let flipped = (0..good.len()).flat_map(|at| {
        let mut bytes = good.clone().into_bytes();
        [b'A', b'_', b'!', b'='].map(|byte| {
            bytes[at] = byte;
            String::from_utf8(bytes.clone()).expect("ASCII")
        })
    });
    for damaged in flipped.filter(|damaged| *damaged != good) {
        assert_rejected("tools/list", json!(damaged), 3);
    }
    for other in
        [json!(""), json!("abc"), json!(good[1..]), json!(format!("{good}A")), json!(format!("{good}=")), json!(7)]
    {
        assert_rejected("tools/list", other, 3);
    }
    let last = cursor(&modern("tools/list", json!({ "cursor": good })).ask_at(&endpoint(3)));
    let shorter = Endpoint::new(|_| {
        let one = NonZeroUsize::new(1).expect("not 0");
        McpServer::builder("s", "1").page_size(one).tool(Tool::new("t", "d", || async {})).build()
    });
    let answer = modern("tools/list", json!({ "cursor": last })).ask_at(&shorter.without_auth());
    assert_eq!(answer.refusal(), (200, -32602), "the list is now shorter than the cursor");
}

/// Rule 48: all pages of a list have the same cache scope.
#[test]
fn all_pages_of_a_list_have_one_cache_scope() {
    let first = modern("tools/list", json!({})).ask_at(&endpoint(3));
    let second = modern("tools/list", json!({ "cursor": cursor(&first) })).ask_at(&endpoint(3));
    assert_eq!(first.result()["cacheScope"], second.result()["cacheScope"]);
}
