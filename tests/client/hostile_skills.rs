//! Hostile lists of skills, entries and folders.

use edge_mcp::client::{Definition, Failure, Listing};
use edge_mcp::skills::SkillEntry;
use edge_mcp::testing::TestHost;
use futures::FutureExt;
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, result};
use crate::skills::{SKILL, URI, changed, digest, discovered, entry, held, list, page, pinned, resource, with};

fn uris(listing: &Listing<SkillEntry>) -> Vec<&str> {
    listing.items.iter().map(SkillEntry::uri).collect()
}

/// Lists the skills of a server with these pages. Returns the list, and the number of pages that were requested.
fn list_of(pages: impl IntoIterator<Item = Answer>) -> (Listing<SkillEntry>, usize) {
    let peer = Peer::new([discovered(json!({}))].into_iter().chain(pages));
    (list(&pinned(&peer)).expect("a list"), peer.requests().len() - 1)
}

/// S33: an entry that is not valid is left out with a short reason, and the others stay.
#[test]
fn invalid_entries_are_left_out() {
    let digest = digest(b"");
    let file = |uri: String| json!({ "uri": uri, "digest": digest, "size": 0 });
    let add = |resource: Value| changed(|it| it["resources"].as_array_mut().expect("a list").push(resource));
    let add_file = |path: &str| add(file(format!("skill://orders/refunds/{path}")));
    let many = |count: usize| (0..count).map(move |nth| file(format!("skill://orders/refunds/{nth}")));
    let with_files = |count: usize| changed(|it| it["resources"].as_array_mut().expect("a list").extend(many(count)));
    let with_size = |size: u64| add(json!({ "uri": "skill://orders/refunds/x", "digest": digest, "size": size }));
    let rest = (16 << 20) - SKILL.len() as u64 - 8;
    for (case, entry) in [
        ("the entry", entry()),
        ("512 files", with_files(510)),
        ("16 MiB", with_size(rest)),
        ("another scheme", serde_json::from_str(&entry().to_string().replace("skill://", "repo+x://")).expect("JSON")),
        ("no further folder", serde_json::from_str(&entry().to_string().replace("orders/", "")).expect("JSON")),
        ("an escaped name", add_file("a%20b")),
        ("a name with a slash is refused below, a nested skill is not", add_file("inner/SKILL.md")),
    ] {
        let (listing, _) = list_of([page(json!([entry]), json!({}))]);
        assert_eq!((listing.items.len(), &listing.left_out[..]), (1, &[][..]), "{case}");
    }
    let last = "skill://last/SKILL.md";
    let good = || {
        let frontmatter = json!({ "name": "last", "description": "D" });
        json!({ "uri": last, "frontmatter": frontmatter, "resources": [resource(last, b"")] })
    };
    let frontmatter = |key: &'static str, value: Value| changed(|it| it["frontmatter"][key] = value);
    let first = |key: &'static str, value: Value| changed(|it| it["resources"][1][key] = value);
    let uri = |uri: &str| changed(|it| it["uri"] = json!(uri));
    let hidden = "skill://orders/refunds/\u{202e}SKILL.md";
    for bad in [
        json!(7),
        json!({}),
        uri("skill://orders/refunds"),
        uri("skill://SKILL.md"),
        uri("skill:///SKILL.md"),
        uri("orders/refunds/SKILL.md"),
        uri("skill://orders/../refunds/SKILL.md"),
        uri("skill://orders/refunds/SKILL.md#x"),
        uri(hidden),
        uri(&format!("skill://{}/refunds/SKILL.md", "x".repeat(9000))),
        changed(|it| it["frontmatter"] = json!([])),
        frontmatter("name", json!("other")),
        frontmatter("name", json!(7)),
        frontmatter("description", json!("")),
        frontmatter("description", json!("x".repeat(1025))),
        frontmatter("description", Value::Null),
        frontmatter("more", json!("x".repeat(64 << 10))),
        changed(|it| it["resources"] = json!({})),
        changed(|it| it["resources"] = json!("Dynamic")),
        changed(|it| it["resources"] = Value::Null),
        changed(|it| it["resources"] = json!([])),
        changed(|it| drop(it["resources"].as_array_mut().expect("a list").remove(0))),
        first("digest", json!(digest.to_uppercase())),
        first("digest", json!(digest.replace("sha256:", "SHA256:"))),
        first("digest", json!(digest.trim_start_matches("sha256:"))),
        first("digest", json!(format!("{digest}0"))),
        first("digest", json!(7)),
        first("size", json!(-1)),
        first("size", json!("8")),
        first("size", json!(1.5)),
        first("uri", json!("skill://orders/other/x")),
        first("uri", json!("skill://orders/refunds2/x")),
        first("uri", json!(URI)),
        add_file("%2e%2e/x"),
        add_file("a%2Fb"),
        add_file("a%5Cb"),
        add_file("a%00b"),
        add_file("a//b"),
        add_file("x/"),
        add_file("x?y"),
        add_file("references/%46ORMS.md"),
        with_files(511),
        with_size(rest + 1),
        with_size(u64::MAX),
        frontmatter("more", json!("x".repeat(600 << 10))),
    ] {
        let (listing, _) = list_of([page(json!([bad, good()]), json!({}))]);
        assert_eq!((uris(&listing), listing.left_out.len()), (vec![last], 1), "{:.300}", bad.to_string());
        let problem = &listing.left_out[0];
        assert!(problem.len() < 400 && problem.starts_with("The skill `"), "{problem}");
        assert!(!problem.chars().any(|it| it.is_control() || it == '\u{202e}'), "{problem}");
    }
}

/// S33, extension case 20: a listing without end, in pages and in one page. The entries so far are returned.
#[test]
fn listings_of_skills_end() {
    let nth = |nth: usize| {
        let text = entry().to_string().replace("orders/", &format!("o{nth}/"));
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let next = |cursor: &str| json!({ "nextCursor": cursor });
    let short = |nth: usize| {
        let uri = format!("skill://o{nth}/a/SKILL.md");
        json!({ "uri": uri, "frontmatter": { "name": "a", "description": "D" }, "resources": "dynamic" })
    };
    let long = "x".repeat(3 << 20);
    for (case, pages, items, requests, left_out) in [
        ("new cursors", (0..100).map(|at| page(json!([nth(at)]), next(&at.to_string()))).collect(), 32, 32, 0),
        ("the same cursor", vec![page(json!([nth(0)]), next("x")), page(json!([nth(1)]), next("x"))], 2, 2, 0),
        ("empty pages", (0..9).map(|at: usize| page(json!([]), next(&at.to_string()))).collect(), 0, 3, 0),
        ("many skills", vec![page((0..11_000).map(short).collect(), json!({}))], 10_000, 1, 0),
        ("many invalid entries", vec![page(json!(vec![7; 11_000]), json!({}))], 0, 1, 10_000),
        (
            "a long entry",
            vec![
                page(json!([nth(0), changed(|it| it["more"] = json!(long))]), next("1")),
                page(json!([nth(1)]), next("1")),
            ],
            2,
            2,
            1,
        ),
        (
            "a longer entry on the second page",
            vec![
                page(json!([nth(0)]), next("1")),
                page(json!([changed(|it| it["more"] = json!("x".repeat(20 << 20)))]), json!({})),
            ],
            1,
            2,
            0,
        ),
    ] {
        let (listing, sent) = list_of(pages);
        assert_eq!((listing.items.len(), sent, listing.left_out.len()), (items, requests, left_out), "{case}");
        assert!(listing.is_truncated, "{case}");
    }
    let peer = Peer::new([
        discovered(json!({})),
        page(json!([changed(|it| it["more"] = json!("x".repeat(20 << 20)))]), json!({})),
    ]);
    assert!(matches!(list(&pinned(&peer)).expect_err("too long").failure(), Failure::LimitExceeded(_)));
}

/// S33, extension case 20: of a URI that is listed twice, all copies are refused, also if one of them is not valid.
#[test]
fn all_copies_of_a_skill_are_refused() {
    let invalid = changed(|it| it["resources"] = json!([]));
    let escaped = serde_json::from_str(&entry().to_string().replace("orders/", "%6Frders/")).expect("JSON");
    for other in [entry(), invalid, escaped] {
        for all in [json!([entry(), other.clone()]), json!([other.clone(), entry()])] {
            let (listing, _) = list_of([page(all.clone(), json!({}))]);
            assert_eq!((listing.items.len(), listing.left_out.len()), (0, 2), "{all}");
            assert!(listing.left_out.iter().any(|it| it.contains("is listed twice")), "{:?}", listing.left_out);
        }
        let pages = [page(json!([entry()]), json!({ "nextCursor": "1" })), page(json!([other]), json!({}))];
        assert_eq!(list_of(pages).0.items.len(), 0);
    }
}

/// S14, extension case 20: a folder has only what is directly in it. A folder that lists itself does not lead anywhere.
#[test]
fn a_folder_lists_what_is_directly_in_it() {
    let child = |uri: &str| json!({ "uri": uri, "name": "x", "mimeType": "text/plain" });
    let folder = "skill://orders/refunds";
    let children = json!([
        child("skill://orders/refunds/a"),
        child(folder),
        child("skill://orders/refunds/"),
        child("skill://orders/refunds/b/c"),
        child("skill://orders/refunds/%2e%2e"),
        child("skill://orders"),
        child("https://evil.example/x"),
        child("skill://orders/refunds/a"),
        child("skill://orders/refunds/b"),
        {},
    ]);
    let answer = result(json!({ "resultType": "complete", "resources": children, "nextCursor": "1" }));
    let again = result(json!({ "resultType": "complete", "resources": [child(folder)], "nextCursor": "1" }));
    let peer = Peer::new([discovered(json!({ "directoryRead": true })), answer, again]);
    let read = |peer: edge_mcp::client::Peer| async move { peer.read_skill_directory(folder).await };
    let listing = with(&pinned(&peer), &TestHost::new(), |peer| read(peer).boxed_local()).expect("a folder");
    let names: Vec<_> = listing.items.iter().map(Definition::name).collect();
    assert_eq!(names, ["skill://orders/refunds/a", "skill://orders/refunds/b"]);
    assert_eq!((listing.left_out.len(), listing.is_truncated), (9, true));
    assert_eq!(peer.methods(), ["server/discover", "resources/directory/read", "resources/directory/read"]);
    let sent: Value = serde_json::from_str(peer.requests()[2].body()).expect("a message");
    assert_eq!((&sent["params"]["uri"], &sent["params"]["cursor"]), (&json!(folder), &json!("1")));
}

/// S33: hidden characters of a description are not shown.
#[test]
fn descriptions_have_no_hidden_characters() {
    let skill = held(&changed(|it| it["frontmatter"]["description"] = json!("Refunds\u{200b}\u{e0041} an order.")));
    assert_eq!(skill.description(), "Refunds an order.");
    assert!(skill.frontmatter().contains('\u{e0041}'));
}
