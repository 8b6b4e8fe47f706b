//! The numbers of the rules, and the rules without a test.

use std::ops::RangeInclusive;

/// A group of rules with its own numbers.
pub(crate) struct Group {
    /// How a comment names a rule: a letter before the number (`C7`), or a word (`Rule 7`, `Rules 6 and 7`).
    pub(crate) name: &'static str,
    /// The number of the last rule. The first one is 1.
    pub(crate) last: u8,
    /// The folders whose tests name the rules.
    pub(crate) folders: &'static [&'static str],
    /// The rules without a test.
    pub(crate) exceptions: &'static [Exception],
}

/// Rules that no test names.
pub(crate) struct Exception {
    pub(crate) numbers: &'static [RangeInclusive<u8>],
    /// Why there is no test: the rule does not apply, or another place checks it.
    pub(crate) reason: &'static str,
}

const fn except(numbers: &'static [RangeInclusive<u8>], reason: &'static str) -> Exception {
    Exception { numbers, reason }
}

pub(crate) const GROUPS: &[Group] = &[
    // The protocol, for a server.
    Group {
        name: "Rule",
        last: 109,
        folders: &["tests/spec", "tests/auth", "crates", "tests/e2e", "src"],
        exceptions: &[
            except(
                &[24..=24],
                "A server with modern revisions only names them in its response to `initialize`: this one also serves others.",
            ),
            except(
                &[81..=81],
                "Sampling with tools answers each tool use: the server requests sampling without tools.",
            ),
            except(&[93..=93], "Session ids are well-formed: the server does not issue any."),
            except(&[109..=109], "Tasks are durable and authorized: the rules T6 and T27 have tests."),
        ],
    },
    // The MCP client.
    Group {
        name: "C",
        last: 125,
        folders: &["tests/client", "tests/gateway", "src/client", "src/gateway", "src/protocol"],
        exceptions: &[
            except(&[121..=121], "The compiler checks that handlers need not be `Send`."),
            except(&[123..=125], "The costs of the client are measured: docs/performance.md."),
        ],
    },
    // Retrieval.
    Group {
        name: "R",
        last: 112,
        folders: &[
            "tests/rag_filter",
            "tests/rag_models",
            "tests/rag_store",
            "tests/rag_tools",
            "tests/rag_vectors",
            "tests/e2e",
            "src/models",
            "src/rag",
            "src/text.rs",
            "src/words",
            "app/src",
        ],
        exceptions: &[
            except(
                &[24..=25],
                "No filter is passed to Vectorize, and a search does not tell that: see docs/retrieval.md.",
            ),
            except(&[39..=39], "The codes come with the other rows, as JSON."),
            except(&[54..=54, 95..=95], "docs/retrieval.md says what leaves the server, and what vectors reveal."),
            except(&[68..=68], "The scores are added and not ranks: docs/retrieval.md has the measurements."),
            except(&[106..=106], "The embedding models of the tests are not part of the library."),
            except(
                &[100..=100],
                "The costs of a search are measured: benches/search.mjs, benches/rag and docs/knowledge-base.md.",
            ),
            except(&[104..=104], "The size of the feature `rag` is measured: docs/performance.md."),
            except(&[108..=108], "The fuzz targets are in fuzz/fuzz_targets: filter.rs, chunk.rs and code.rs."),
        ],
    },
    // Extensions of the protocol, MCP Apps, and skills.
    Group {
        name: "E",
        last: 19,
        folders: &["tests/spec", "tests/client", "tests/gateway", "tests/e2e"],
        exceptions: &[except(&[3..=3, 5..=5, 17..=17], "There is no rule with this number.")],
    },
    Group {
        name: "A",
        last: 33,
        folders: &["tests/spec", "tests/client", "tests/gateway", "tests/e2e"],
        exceptions: &[
            except(&[5..=5, 14..=14, 16..=16, 19..=19], "There is no rule with this number."),
            except(
                &[33..=33],
                "The scopes of a mount hold for its tools and their pages alike: a caller has both or none.",
            ),
            except(&[17..=17, 22..=23], "docs/apps.md says what a page in a frame is, and how it talks to its host."),
        ],
    },
    Group {
        name: "S",
        last: 37,
        folders: &["tests/spec", "tests/client", "tests/gateway", "tests/e2e"],
        exceptions: &[
            except(&[15..=15, 35..=35], "There is no rule with this number."),
            except(&[28..=28], "The instructions of a server are text of the program."),
        ],
    },
    // Durable tasks.
    Group { name: "T", last: 28, folders: &["tests/tasks", "tests/client", "src/tasks"], exceptions: &[] },
    // The hostile behavior of other servers. A row of a table in these folders can begin with the number of its case.
    Group {
        name: "hostile case",
        last: 64,
        folders: &["tests/client", "tests/gateway", "src/client"],
        exceptions: &[],
    },
];
