//! Every bound of the library, in one table.
//!
//! A loop over input, a list that grows, or a wait has its bound here, and the page docs/limits.md shows the table: a test compares the
//! two. Bounds that only make something faster (from which size on a cache is used, say) are with their code.

use std::fmt;

/// A bound.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What is bounded.
    pub what: &'static str,
    /// The number, in its unit.
    pub number: u64,
    /// What the number counts.
    pub unit: Unit,
    /// Where a program can set another number, if it can.
    pub set_by: &'static str,
    /// What happens past it.
    pub past_it: &'static str,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// What the text says.
    Count,
}

impl fmt::Display for Limit {
    /// Writes the number as people write it: `4 MiB`, `30 s`, `500 000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 2] = [(1 << 20, "MiB"), (1 << 10, "KiB")];
        if self.unit == Unit::Bytes {
            let unit = UNITS.into_iter().find(|(size, _)| self.number.checked_rem(*size) == Some(0));
            return match unit.and_then(|(size, name)| Some((self.number.checked_div(size)?, name))) {
                Some((number, name)) => write!(f, "{number} {name}"),
                None => write!(f, "{} bytes", grouped(self.number)),
            };
        }
        write!(f, "{}{}", grouped(self.number), if self.unit == Unit::Seconds { " s" } else { "" })
    }
}

/// A number with a space between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && digits.len().saturating_sub(nth).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Bounds about one subject.
pub struct Group {
    /// What they are about.
    pub subject: &'static str,
    /// The bounds.
    pub limits: &'static [Limit],
}

macro_rules! limits {
    ($($subject:literal { $($name:ident: $kind:ty = $number:expr, $unit:ident, $set_by:literal: $what:literal => $past_it:literal;)* })*) => {
        $($(
            #[doc = $what]
            pub(crate) const $name: $kind = $number;
        )*)*

        /// The table.
        // The numbers are small enough for any integer.
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        pub const TABLE: &[Group] = &[$(Group {
            subject: $subject,
            limits: &[$(Limit {
                what: $what,
                number: $name as u64,
                unit: Unit::$unit,
                set_by: $set_by,
                past_it: $past_it,
            }),*],
        }),*];
    };
}

limits! {
    "Requests" {
        BODY: usize = 4 << 20, Bytes, "`Limits::body`":
            "a body" => "413; the rest of the body is not read, whatever length was announced";
        BODY_SECONDS: u64 = 30, Seconds, "":
            "the time in which a body must arrive" => "408";
        IN_FLIGHT: usize = 64 << 20, Bytes, "`Limits::in_flight`, at least `Limits::body`":
            "all bodies that an isolate reads or holds at the same time" => "503 with `Retry-After: 1`; the body is not read";
        RESERVATION_SECONDS: u64 = 300, Seconds, "":
            "the time after which a body no longer counts, if the platform has stopped its request without a word"
            => "nothing; it may take twice as long";
        JSON_DEPTH: usize = 100, Count, "`Limits::json.depth`, at most 120":
            "arrays and objects inside one another" => "400 with `-32600`, and the id if it can be read";
        JSON_VALUES: usize = 500_000, Count, "`Limits::json.values`":
            "JSON values in a body, keys included" => "400 with `-32600`, and the id if it can be read";
        HEADER: usize = 64 << 10, Bytes, "`Limits::header`":
            "the value of a header" => "431, which names the header, if the endpoint reads it; otherwise the program does not see the header";
        BATCH: usize = 100, Count, "`Limits::batch`":
            "messages in a batch (2025-03-26)" => "400 with `-32600`; none of them is answered";
        CONCURRENT: usize = 4, Count, "`Limits::concurrent`":
            "messages of a batch that are worked on at the same time" => "nothing; the others wait";
        PROGRESS_TOKEN_BYTES: usize = 256, Bytes, "":
            "a progress token" => "`-32602`, which names the field";
    }
    "Answers" {
        OUTPUT: usize = 16 << 20, Bytes, "`Limits::output`":
            "an answer; those to a batch share it" => "a tool: a result with `isError`; otherwise `-32603`";
        WAITING_NOTIFICATIONS: usize = 1024, Count, "":
            "notifications of a call that wait until the client reads them" => "new ones are dropped";
        WAITING_BYTES: usize = 1 << 20, Bytes, "":
            "the same in bytes; a single one may be longer" => "new ones are dropped";
        SILENCE_SECONDS: u64 = 5, Seconds, "":
            "silence on a stream" => "a comment is sent, which clients ignore";
        COMPLETION_VALUES: usize = 100, Count, "":
            "values of a completion (the specification's own limit)" => "the rest is not sent, and `hasMore` is true";
        SERVER_JSON_DESCRIPTION: usize = 100, Count, "":
            "characters of the description in `/server.json`" => "it is shortened";
        SERVER_JSON_NAME: usize = 200, Count, "":
            "characters of the name in `/server.json` that is made of the URL" => "there is no such name, and the log says so";
    }
    "Calls" {
        DEADLINE_SECONDS: u64 = 30, Seconds, "`deadline` of a tool, prompt or resource":
            "a handler, once it waits for something" => "it is dropped; a tool: a result with `isError`; otherwise `-32603`";
        LONGEST_DEADLINE_SECONDS: u64 = 300, Seconds, "":
            "a deadline that can be set" => "it is shortened to this";
        NESTED_CALLS: u8 = 8, Count, "":
            "calls of tools within one another" => "the inner call fails";
        APPROVAL_CHARACTERS: usize = 1000, Count, "":
            "characters of the arguments that a question for approval shows" => "the rest is counted";
        QUESTIONS: usize = 256, Count, "":
            "questions that a call asks its client, over all its rounds" => "`-32603`; the log says why";
        FINISHED_STEPS: usize = 1024, Count, "":
            "results of steps that a call remembers between its rounds" => "`-32603` once it asks; the log says why";
        STATE_BYTES: usize = 512 << 10, Bytes, "`Limits::state`":
            "a request state" => "sent: `-32603`, and the log says why; received: `-32602`";
        STATE_SECONDS: u64 = 600, Seconds, "`StateKeys::lifetime`":
            "the time for which a request state is valid" => "`-32602`; the client calls again without it";
        FETCH_SECONDS: u64 = 10, Seconds, "`FetchLimits`":
            "an answer to `Context::fetch`" => "the request is aborted, and `fetch` fails";
        FETCH_BYTES: usize = 1 << 20, Bytes, "`FetchLimits`":
            "the body of an answer to `Context::fetch`" => "the request is aborted, and `fetch` fails";
    }
    "Schemas" {
        CHECK_STEPS: u32 = 4_600_000, Count, "":
            "steps of a check, of about 10 ns each" => "the value is rejected: \"this takes too long to check\"";
        EXPLANATION_STEPS: u32 = 400_000, Count, "":
            "steps for saying which alternative came closest, beside as many as the check has taken"
            => "the mistake says only that none fits";
        RULES_WITHIN_RULES: u32 = 400, Count, "":
            "schemas that are applied within one another" => "the value is rejected: \"this takes too long to check\"";
        MISTAKES: usize = 10, Count, "":
            "mistakes that are listed" => "the rest is not";
        LISTED_VALUES: usize = 50, Count, "":
            "values of an `enum` that a mistake lists" => "the rest is not";
        REMEMBERED_ANSWERS: usize = 1 << 15, Count, "":
            "answers that a check remembers, of 8 bytes each" => "a new one takes the place of another";
        PATTERN_STATES: usize = 5_000, Count, "":
            "states of a `pattern`" => "the server cannot be built";
        PATTERNS_STATES: usize = 50_000, Count, "":
            "states of all patterns of a schema" => "the server cannot be built";
        PATTERN_CLASSES: usize = 2_000, Count, "":
            "classes of characters that a `pattern` distinguishes" => "the server cannot be built";
        PATTERN_GROUPS: usize = 64, Count, "":
            "groups within one another in a `pattern`" => "the server cannot be built";
        PATTERN_CACHE: usize = 1 << 20, Bytes, "":
            "cached states of all patterns of a check; of a single one, once more" => "the cache is emptied";
        SCHEMA_DEPTH: usize = 128, Count, "":
            "schemas inside one another" => "the server cannot be built";
        SCHEMA_CHAIN: usize = 64, Count, "":
            "schemas that lead to one another about one value" => "the server cannot be built";
        SCHEMAS: usize = 256, Count, "":
            "compiled schemas that are cached, of those that are data" => "one of them is evicted";
    }
    "Access tokens" {
        ISSUER_SECONDS: u64 = 5, Seconds, "":
            "an answer of an authorization server (introspection, keys)" => "503 with `Retry-After`";
        ISSUER_BYTES: usize = 64 << 10, Bytes, "":
            "the same in bytes" => "503 with `Retry-After`";
        TOKEN_ANSWERS: usize = 1000, Count, "":
            "answers about tokens that are cached" => "those that expire soonest are evicted";
        INTROSPECTION_SECONDS: u64 = 60, Seconds, "`Introspection::kept_for`":
            "the time for which an answer about a valid token is cached" => "the server asks again";
        REFUSAL_SECONDS: u64 = 5, Seconds, "":
            "the same for a token that is not valid" => "the server asks again";
        KEYS: usize = 32, Count, "":
            "keys of an issuer" => "the rest is not used";
        ISSUER_COUNT: usize = 16, Count, "":
            "issuers whose keys are cached" => "those that expire soonest are evicted";
        KEYS_SECONDS: u64 = 600, Seconds, "":
            "the time for which keys are cached" => "they are fetched again";
        KEYS_AGAIN_SECONDS: u64 = 60, Seconds, "":
            "the time between two fetches for a key that is not known" => "401 until then";
        KEYS_AFTER_FAILURE_SECONDS: u64 = 5, Seconds, "":
            "the time between a failed fetch of keys and the next" => "503 with `Retry-After: 5` until then";
        CLOCK_SKEW_SECONDS: u64 = 60, Seconds, "":
            "the difference between the clocks of two machines" => "a token is expired, or not yet valid";
    }
    "Agents" {
        AGENT_ROUNDS: u8 = 8, Count, "":
            "rounds with the model; in the last it may call nothing" => "the call fails";
        AGENT_CALLS: usize = 16, Count, "":
            "tool calls in one answer of the model" => "further calls are not made, and the model is told";
        AGENT_RESULT: usize = 64 << 10, Bytes, "":
            "the tool result that is sent to the model" => "it is cut off, and the model is told";
        AGENT_DESCRIPTION: usize = 1024, Bytes, "":
            "the tool description that is sent to the model" => "it is cut off";
        MODEL_ANSWER: usize = 1 << 20, Bytes, "":
            "an answer of the model" => "the call fails";
        AGENT_SECONDS: u64 = 60, Seconds, "`ChatAgent::time_limit`":
            "an answer of the model" => "the call fails";
    }
    "MCP client" {
        UPSTREAM_SECONDS: u64 = 25, Seconds, "`Upstream::timeout`":
            "a request to another MCP server" => "the request is aborted, and the call fails";
        UPSTREAM_LIST_SECONDS: u64 = 10, Seconds, "`Upstream::list_timeout`":
            "a page of a list of another MCP server" => "the request is aborted, and the server is missing in the list";
        UPSTREAM_NEGOTIATION_SECONDS: u64 = 5, Seconds, "":
            "a request of the negotiation with another MCP server" => "the request is aborted, and the call fails";
        UPSTREAM_BYTES: usize = 4 << 20, Bytes, "":
            "an answer of another MCP server, or one event of its stream" => "the request is aborted, and the call fails";
        UPSTREAM_STREAM_BYTES: usize = 16 << 20, Bytes, "":
            "an event stream of another MCP server" => "the request is aborted, and the call fails";
        UPSTREAM_EVENTS: usize = 1000, Count, "":
            "events of a stream of another MCP server" => "the request is aborted, and the call fails";
        UPSTREAM_REQUESTS: usize = 40, Count, "":
            "requests of a connection to other MCP servers" => "the call fails";
        UPSTREAM_ATTEMPTS: usize = 4, Count, "":
            "times that a request is sent, for all reasons to send it again" => "the call fails";
        UPSTREAM_PAGES: usize = 32, Count, "":
            "pages of a list of another MCP server" => "the list has the items so far";
        UPSTREAM_ITEMS: usize = 1000, Count, "":
            "items of a list of another MCP server" => "the list has the items so far";
        UPSTREAM_DEFINITION_BYTES: usize = 64 << 10, Bytes, "":
            "the definition of a tool, a resource or a prompt of another MCP server" => "the list does not have it";
        UPSTREAM_NAME_BYTES: usize = 8 << 10, Bytes, "":
            "the name or the URI of an item of another MCP server" => "the list does not have it";
        UPSTREAM_CURSOR_BYTES: usize = 4 << 10, Bytes, "":
            "a cursor of another MCP server" => "the list has the items so far";
        UPSTREAM_LEGACY_SECONDS: u64 = 3600, Seconds, "":
            "the time for which the client remembers that a server is legacy" => "the client negotiates again";
    }
    "Log and crashes" {
        REQUEST_ID_BYTES: usize = 128, Bytes, "":
            "a request id of the platform in the log" => "it is cut off";
        WARNINGS: usize = 32, Count, "":
            "different warnings that an isolate writes once each" => "the rest is not written";
        CRASH_ID_BYTES: usize = 16 << 10, Bytes, "":
            "JSON-RPC ids of a request that are kept for the answer if the module breaks" => "that answer has no id";
        HEADER_NAMES: usize = 64, Count, "":
            "names of headers that are kept as JavaScript strings" => "others are made anew each time";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table as the page has it.
    fn page() -> String {
        let row = |limit: &Limit| {
            let Limit { what, set_by, past_it, .. } = limit;
            format!("| {what} | {limit} | {set_by} | {past_it} |\n")
        };
        let group = |Group { subject, limits }: &Group| {
            let rows: String = limits.iter().map(row).collect();
            format!("### {subject}\n\n| bound on | default | set by | past it |\n|---|--:|---|---|\n{rows}\n")
        };
        TABLE.iter().map(group).collect()
    }

    #[test]
    fn the_page_shows_the_table() {
        let page = page();
        assert!(include_str!("../docs/limits.md").contains(&page), "docs/limits.md must have:\n{page}");
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for (number, unit, shown) in [
            (4 << 20, Unit::Bytes, "4 MiB"),
            (64 << 10, Unit::Bytes, "64 KiB"),
            (256, Unit::Bytes, "256 bytes"),
            (500_000, Unit::Count, "500 000"),
            (100, Unit::Count, "100"),
            (30, Unit::Seconds, "30 s"),
        ] {
            assert_eq!(Limit { what: "", number, unit, set_by: "", past_it: "" }.to_string(), shown);
        }
    }
}
