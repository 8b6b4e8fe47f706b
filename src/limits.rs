//! The limits of the library, in one table.
//!
//! Every loop over input, every list that grows and every wait has its limit here. The page docs/limits.md shows the table, and a test
//! compares the two. Thresholds that only affect speed, such as the size from which a cache is used, are next to the code that uses them.

use std::fmt;

use edge_json::JsonLimits;
use edge_json_schema::limits as schema;

/// A limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The limited quantity, as a noun phrase.
    pub quantity: &'static str,
    /// The default, in `unit`.
    pub number: u64,
    /// The unit of `number`.
    pub unit: Unit,
    /// The setting by which a program can change the limit. Empty if the limit is fixed.
    pub setting: &'static str,
    /// The effect of exceeding the limit.
    pub effect: &'static str,
}

/// The unit of a [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A count of the things that [`Limit::quantity`] names.
    Count,
}

impl fmt::Display for Limit {
    /// Formats the number with its unit: `4 MiB`, `30 s`, `500 000`.
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

/// Formats a number with spaces between groups of three digits.
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

/// The limits of one subject.
pub struct Group {
    /// The heading of the group.
    pub subject: &'static str,
    /// The limits.
    pub limits: &'static [Limit],
}

macro_rules! limits {
    ($($subject:literal { $($name:ident: $kind:ty = $number:expr, $unit:ident, $setting:literal: $quantity:literal => $effect:literal;)* })*) => {
        $($(
            #[doc = $quantity]
            pub(crate) const $name: $kind = $number;
        )*)*

        /// All limits, by subject.
        // Every number fits into a `u64`.
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        pub const TABLE: &[Group] = &[$(Group {
            subject: $subject,
            limits: &[$(Limit {
                quantity: $quantity,
                number: $name as u64,
                unit: Unit::$unit,
                setting: $setting,
                effect: $effect,
            }),*],
        }),*];
    };
}

limits! {
    "Requests" {
        BODY: usize = 4 << 20, Bytes, "`Limits::body`":
            "the body of a request" => "413; the rest of the body is not read, regardless of `Content-Length`";
        BODY_SECONDS: u64 = 30, Seconds, "":
            "the time to receive a body" => "408";
        IN_FLIGHT: usize = 64 << 20, Bytes, "`Limits::in_flight`, at least `Limits::body`":
            "all bodies that an isolate reads or holds at the same time"
            => "503 with `Retry-After: 1`; the body is not read";
        RESERVATION_SECONDS: u64 = 300, Seconds, "":
            "the time for which memory stays reserved for a body, if the platform stops its request without notice"
            => "the memory counts as free, after at most twice this time";
        JSON_DEPTH: usize = JsonLimits::DEFAULT.depth, Count, "`Limits::json.depth`, at most 120":
            "nesting depth of arrays and objects" => "400 with `-32600`, and the id if it can be read";
        JSON_VALUES: usize = JsonLimits::DEFAULT.values, Count, "`Limits::json.values`":
            "JSON values in a body, including keys" => "400 with `-32600`, and the id if it can be read";
        HEADER: usize = 64 << 10, Bytes, "`Limits::header`":
            "the value of a header"
            => "431 with the name of the header, if the endpoint reads it; otherwise the program does not see the header";
        BATCH: usize = 100, Count, "`Limits::batch`":
            "messages in a batch (2025-03-26)" => "400 with `-32600`; the messages are not answered";
        CONCURRENT: usize = 4, Count, "`Limits::concurrent`":
            "messages of a batch that are handled concurrently" => "further messages wait";
        PROGRESS_TOKEN_BYTES: usize = 256, Bytes, "":
            "a progress token" => "`-32602` with the name of the field";
        TRACESTATE_BYTES: usize = 512, Bytes, "":
            "the `tracestate` of a request" => "the trace continues without it";
    }
    "Answers" {
        OUTPUT: usize = 16 << 20, Bytes, "`Limits::output`":
            "an answer; the answers to a batch share this limit"
            => "a tool: a result with `isError`; otherwise `-32603`";
        WAITING_ANSWERS: usize = 32 << 20, Bytes, "at least `Limits::output`":
            "the answers of an isolate that wait in a batch for the other answers, or on a stream for their clients"
            => "`-32603`; the answer is lost, and the call may have had effects";
        WAITING_NOTIFICATIONS: usize = 1024, Count, "":
            "notifications of a call that the client has not read yet" => "new notifications are dropped";
        WAITING_BYTES: usize = 1 << 20, Bytes, "":
            "the size of these notifications; a single one may be larger" => "new notifications are dropped";
        SILENCE_SECONDS: u64 = 5, Seconds, "":
            "the time without data on a stream" => "the server sends a comment, which clients ignore";
        COMPLETION_VALUES: usize = 100, Count, "":
            "values of a completion (the limit of the specification)"
            => "further values are not sent, and `hasMore` is true";
        SERVER_JSON_DESCRIPTION: usize = 100, Count, "":
            "characters of the description in `/server.json`" => "the description is shortened";
        SERVER_JSON_NAME: usize = 200, Count, "":
            "characters of the name in `/server.json` that is derived from the URL"
            => "404; set `registry_name` instead";
    }
    "Calls" {
        DEADLINE_SECONDS: u64 = 30, Seconds, "`deadline` of a tool, prompt or resource":
            "the time of a handler; only a handler that waits can be stopped"
            => "the handler is dropped; a tool: a result with `isError`; otherwise `-32603`";
        LONGEST_DEADLINE_SECONDS: u64 = 300, Seconds, "":
            "a configured deadline" => "the deadline is shortened to this time";
        TASK_ATTEMPT_SECONDS: u64 = 600, Seconds, "":
            "the time of an attempt of a durable task" => "no further step begins; the next attempt continues";
        TASK_GRACE_SECONDS: u64 = 240, Seconds, "":
            "the time that the running steps of an attempt then have" => "they are dropped, and run again in the next attempt";
        TASK_SECONDS: u64 = 86_400, Seconds, "`Task::ttl`":
            "the time for which a durable task is kept" => "the task and its result are deleted";
        LONGEST_TASK_SECONDS: u64 = 2_592_000, Seconds, "":
            "a configured time for which a durable task is kept" => "the time is shortened to this";
        OPEN_TASK_SECONDS: u64 = 3600, Seconds, "":
            "the time for which the durable task of a caller without authentication is kept" => "the time is shortened to this";
        TASK_WAIT_SECONDS: u64 = 20, Seconds, "`Task::answer_within`":
            "the time that a client without tasks waits for a result" => "the client gets a handle";
        TASK_REQUESTS_SECONDS: u64 = 10, Seconds, "":
            "the time for the requests to the object of a durable task, besides that wait" => "a result with `isError`";
        TASK_PLACE_SECONDS: u64 = 60, Seconds, "":
            "the time until the first attempt of a durable task, which counts it for its caller" => "the task is counted again at that attempt";
        TASK_PAUSE_SECONDS: u64 = 3600, Seconds, "":
            "the pause of a durable task whose attempts cannot begin, or whose record cannot be read" => "the next attempt begins";
        TASK_ALARM_SECONDS: u64 = 60, Seconds, "":
            "the delay of an attempt of a durable task" => "the next request for the task sets the alarm again";
        LISTENED_TASKS: usize = 5, Count, "":
            "durable tasks of a `subscriptions/listen`" => "further ids are not accepted";
        LISTEN_SECONDS: u64 = 600, Seconds, "":
            "the time of a stream with the changes of durable tasks" => "the stream ends with its result, and the client can listen again";
        TASKS_PER_CALLER: u32 = 32, Count, "`Task::per_caller`":
            "durable tasks of a tool that a caller has at the same time" => "a result with `isError`, with the time of the next free place";
        TASK_FAILURES: u32 = 5, Count, "":
            "attempts of a durable task without progress" => "the task fails with `-32603`, and the log has the cause";
        TASK_STEPS: usize = 10_000, Count, "":
            "steps of a durable task" => "the task fails with `-32603`, and the log has the cause";
        TASK_RESULT_BYTES: u64 = 8 << 20, Bytes, "":
            "the result of a step of a durable task" => "the task fails with `-32603`, and the log has the cause";
        TASK_JOURNAL_BYTES: u64 = 64 << 20, Bytes, "":
            "the results of all steps of a durable task" => "the task fails with `-32603`, and the log has the cause";
        TASK_ROW_BYTES: usize = 1_500_000, Bytes, "":
            "a row of a durable task" => "the value takes several rows";
        TASK_ANSWER_BYTES: usize = 256 << 10, Bytes, "":
            "an answer to a question of a durable task" => "`-32602`; the question stays open";
        TASK_ANSWERS_BYTES: u64 = 4 << 20, Bytes, "":
            "the answers to all questions of a durable task" => "`-32602`; the question stays open";
        TASK_OUTPUT_BYTES: usize = 4 << 20, Bytes, "":
            "the result of a durable task" => "the result is replaced by one with `isError`";
        TASK_MEMORY_BYTES: usize = 256 << 10, Bytes, "":
            "the memory that an attempt of a durable task reserves, besides its call and its answers" => "an attempt begins when memory is free";
        TASK_MESSAGE_CHARACTERS: usize = 500, Count, "":
            "characters of the message of a durable task" => "the message is shortened";
        TASK_CANCEL_SECONDS: u64 = 30, Seconds, "":
            "the time of a handler that waits for the cancellation of its durable task" => "the handler is dropped";
        NESTED_CALLS: u8 = 8, Count, "":
            "nested tool calls" => "the inner call fails";
        ARGUMENT_TREE: usize = 16 << 20, Bytes, "":
            "the memory for the arguments of a call as a JSON value, which approvals and hooks get"
            => "a result with `isError`; the handler is not called";
        APPROVAL_CHARACTERS: usize = 4000, Count, "":
            "characters of the arguments that a question for approval shows"
            => "long strings are shortened, with an ellipsis; if that is not enough: a result with `isError`";
        APPROVAL_QUESTION_CHARACTERS: usize = 500, Count, "":
            "characters of the program's own text in a question for approval" => "the text is shortened";
        QUESTIONS: usize = 256, Count, "":
            "questions that a call sends to the client, over all rounds" => "`-32603`; the log has the cause";
        RETRY_SECONDS: u64 = 60, Seconds, "`HandlerError::try_again`":
            "the pause between two attempts of `Context::retry`, if the error names none" => "the next attempt begins";
        RETRY_AFTER_SECONDS: u64 = 3600, Seconds, "":
            "the pause between two attempts of `Context::retry` that the error names" => "the next attempt begins after this time";
        FINISHED_STEPS: usize = 1024, Count, "":
            "step results that a call keeps between its rounds"
            => "`-32603` at the next question; the log has the cause";
        STATE_BYTES: usize = 512 << 10, Bytes, "`Limits::state`":
            "a request state" => "when sent: `-32603`, and the log has the cause; when received: `-32602`";
        STATE_SECONDS: u64 = 600, Seconds, "`StateKeys::lifetime`":
            "the time for which a request state is valid" => "`-32602`; the client repeats the call without the state";
        APP_BYTES: usize = 4 << 20, Bytes, "":
            "the page of an app" => "the server cannot be built; for `App::of`: `-32603`, and the log has the cause";
        APP_URI_BYTES: usize = 512, Bytes, "":
            "the URI of an app" => "the server cannot be built";
        SKILL_FILES: usize = 512, Count, "":
            "files of a skill" => "`SkillEntry::parse` fails; scripts/skills and scripts/load refuse the skill; the list of another MCP server does not have it";
        SKILL_BYTES: u64 = 16 << 20, Bytes, "":
            "the files of a skill" => "`SkillEntry::parse` fails; scripts/skills and scripts/load refuse the skill; the list of another MCP server does not have it";
        SKILL_URI_BYTES: usize = 2048, Bytes, "":
            "the URI of a skill or of its file" => "`SkillEntry::parse` fails; scripts/skills and scripts/load refuse the skill";
        SKILL_PAGE: usize = 50, Count, "`McpServerBuilder::page_size`, if it is less":
            "skills in a page of `skills/list`" => "further ones are on the next page";
        SKILL_PAGE_BYTES: usize = 1 << 20, Bytes, "":
            "the skills in a page of `skills/list`, if it has more than one" => "further ones are on the next page";
        SKILL_READS: usize = 200, Count, "":
            "requests to a store for a page of skills, if most of them are hidden from the caller" => "further ones are left out";
        SKILLS_LISTED: usize = 1000, Count, "":
            "skills in `resources/list`" => "further ones are left out";
        MISSING_SECONDS: u64 = 5, Seconds, "":
            "the time for which a client may cache a list that lacks the items of a failed source" => "the client asks again";
        EXTENSION_METHOD_BYTES: usize = 128, Bytes, "":
            "the name of a method of an extension" => "the server cannot be built";
        CLIENT_EXTENSIONS: usize = 64, Count, "":
            "extensions of the protocol that a client declares" => "the request declares no extension";
        FETCH_SECONDS: u64 = 10, Seconds, "`FetchLimits`":
            "the time of a request by `Context::fetch`, up to the last byte of the answer"
            => "the request is aborted, and `fetch` fails";
        FETCH_BYTES: usize = 1 << 20, Bytes, "`FetchLimits`":
            "the body of an answer to `Context::fetch`" => "the request is aborted, and `fetch` fails";
    }
    "Schemas" {
        CHECK_STEPS: u32 = schema::CHECK_STEPS, Count, "":
            "steps of the checks of arguments and answers in a request, of about 10 ns each; the same for its results"
            => "the value is rejected: \"this takes too long to check\"";
        EXPLANATION_STEPS: u32 = schema::EXPLANATION_STEPS, Count, "":
            "steps of the search for the closest alternative, in addition to the steps of the checks"
            => "the mistake does not name the closest alternative";
        NESTED_SCHEMAS: u32 = schema::NESTED_SCHEMAS, Count, "":
            "nesting depth of the schemas that a check applies"
            => "the value is rejected: \"this takes too long to check\"";
        MISTAKES: usize = schema::MISTAKES, Count, "":
            "mistakes that are listed" => "further mistakes are not listed";
        LISTED_VALUES: usize = schema::LISTED_VALUES, Count, "":
            "values of an `enum` that a mistake lists" => "further values are not listed";
        CACHED_RESULTS: usize = schema::CACHED_RESULTS, Count, "":
            "results that a check caches, of 8 bytes each" => "a new result overwrites an older one";
        PATTERN_STATES: usize = schema::PATTERN_STATES, Count, "":
            "states of the automaton of a `pattern`" => "the server cannot be built";
        PATTERNS_STATES: usize = schema::PATTERNS_STATES, Count, "":
            "states of all patterns of a schema" => "the server cannot be built";
        PATTERN_CLASSES: usize = schema::PATTERN_CLASSES, Count, "":
            "character classes that a `pattern` distinguishes" => "the server cannot be built";
        PATTERN_GROUPS: usize = schema::PATTERN_GROUPS, Count, "":
            "nesting depth of groups in a `pattern`" => "the server cannot be built";
        PATTERN_CACHE: usize = schema::PATTERN_CACHE, Bytes, "":
            "cached states of all patterns in a check; the current pattern may use as much again"
            => "the cache is emptied";
        SCHEMA_DEPTH: usize = schema::SCHEMA_DEPTH, Count, "":
            "nesting depth of a schema" => "the server cannot be built";
        SCHEMA_CHAIN: usize = schema::SCHEMA_CHAIN, Count, "":
            "schemas that refer to one another for the same value" => "the server cannot be built";
        INLINED_SCHEMAS: usize = schema::INLINED_SCHEMAS, Count, "":
            "schemas that the definitions of a schema have, if each is written in place of the references to it"
            => "the definitions refer to each other, as before";
        FOREIGN_SCHEMA_STEPS: u32 = 2_000_000, Count, "":
            "steps to compile a schema of another server, of about 10 ns or 4 bytes each"
            => "an output schema is neither enforced nor published, and the log has a warning; a form is rejected";
        FOREIGN_SCHEMAS_STEPS: u32 = 6_000_000, Count, "":
            "steps to compile all schemas of other servers in a request"
            => "further output schemas are neither enforced nor published, and the log has a warning; further forms are rejected";
        FOREIGN_SCHEMAS: usize = 64, Count, "":
            "cached compiled schemas of other servers" => "one schema is evicted";
        CACHED_FOREIGN_STEPS: u32 = 20_000, Count, "":
            "steps to compile a schema of another server that is cached" => "the schema is compiled again for each call";
        SCHEMAS: usize = 256, Count, "":
            "cached compiled schemas, except those of Rust types" => "one schema is evicted";
    }
    "Access tokens" {
        ISSUER_SECONDS: u64 = 5, Seconds, "":
            "the time for an answer of an authorization server (introspection, keys)" => "503 with `Retry-After`";
        ISSUER_BYTES: usize = 64 << 10, Bytes, "":
            "an answer of an authorization server" => "503 with `Retry-After`";
        TOKEN_ANSWERS: usize = 1000, Count, "":
            "cached answers about tokens" => "the answer that expires soonest is evicted";
        TOKEN_ANSWERS_BYTES: usize = 8 << 20, Bytes, "":
            "all cached answers about tokens, as JSON" => "the answers that expire soonest are evicted";
        INTROSPECTION_SECONDS: u64 = 60, Seconds, "`Introspection::cache_for`":
            "the time for which an answer about a valid token is cached" => "the server asks again";
        REFUSAL_SECONDS: u64 = 5, Seconds, "":
            "the time for which an answer about an invalid token is cached" => "the server asks again";
        KEYS: usize = 32, Count, "":
            "keys of an issuer" => "further keys are not used";
        BLOCKED_ADDRESSES: usize = 1000, Count, "":
            "addresses that have exceeded their rate limit with forged tokens, and whose signatures are not checked for a period"
            => "the signatures of one of them are checked again";
        ISSUER_COUNT: usize = 16, Count, "":
            "issuers whose keys are cached" => "the issuer whose keys expire soonest is evicted";
        KEYS_SECONDS: u64 = 600, Seconds, "":
            "the time for which keys are cached" => "the keys are fetched again";
        KEYS_OUTAGE_SECONDS: u64 = 3600, Seconds, "":
            "the time for which expired keys are used while their issuer is down" => "503 with `Retry-After`";
        KEYS_AGAIN_SECONDS: u64 = 60, Seconds, "":
            "the time between two fetches of keys because of an unknown key" => "401 until then";
        KEYS_AFTER_FAILURE_SECONDS: u64 = 5, Seconds, "":
            "the time between a failed fetch of keys and the next fetch" => "503 with `Retry-After: 5` until then";
        KEYS_WAIT_SECONDS: u64 = 10, Seconds, "":
            "the time for which a request waits for keys that another request fetches" => "503 with `Retry-After: 5`";
        CLOCK_SKEW_SECONDS: u64 = 60, Seconds, "":
            "the tolerated difference between two clocks" => "a token counts as expired, or as not yet valid";
    }
    "Agents" {
        AGENT_ROUNDS: u8 = 8, Count, "":
            "rounds with the model, the last one without tool calls" => "the call fails";
        AGENT_CALLS: usize = 16, Count, "":
            "tool calls in one answer of the model"
            => "further calls are dropped, and the model gets their number";
        AGENT_RESULT: usize = 64 << 10, Bytes, "":
            "a tool result that is sent to the model" => "the result is truncated, with a note for the model";
        AGENT_DESCRIPTION: usize = 1024, Bytes, "":
            "a tool description that is sent to the model" => "the description is truncated";
        AGENT_FOUND_TOOLS: usize = 128, Count, "":
            "tools of an agent's sources that are offered to the model" => "further tools are not offered";
        AGENT_FOUND_BYTES: usize = 256 << 10, Bytes, "":
            "the descriptions and schemas of these tools" => "further tools are not offered";
        MODEL_ANSWER: usize = 1 << 20, Bytes, "`ChatModel::answer_bytes`":
            "an answer of the model" => "the call fails";
        MODEL_TREE: usize = 16 << 20, Bytes, "":
            "the memory for an answer of the model as a JSON value" => "the call fails";
        AGENT_SECONDS: u64 = 60, Seconds, "`ChatAgent::time_limit`":
            "the time of an agent's answer, with all rounds" => "the call fails";
    }
    "Embedding models and rerankers" {
        EMBEDDING_TEXTS: usize = 100, Count, "":
            "texts in a request to an embedding model" => "further texts are sent in another request";
        EMBEDDING_BYTES: usize = 100_000, Bytes, "":
            "all texts in a request to an embedding model; a single one may be larger"
            => "further texts are sent in another request";
        EMBEDDING_ANSWER: usize = 8 << 20, Bytes, "":
            "an answer of an embedding model" => "the texts have no vectors";
        EMBEDDING_QUERY_SECONDS: u64 = 10, Seconds, "":
            "the time for the vector of a question, at most the time that the call has left, without its last second"
            => "the question has no vector";
        EMBEDDING_PASSAGES_SECONDS: u64 = 60, Seconds, "":
            "the time for the vectors of the passages in a request, at most as above" => "the passages have no vectors";
        RERANK_CANDIDATES: usize = 50, Count, "":
            "passages in a request to a reranker" => "further passages are not reranked";
        RERANK_PASSAGE_BYTES: usize = 1500, Bytes, "":
            "a passage in a request to a reranker" => "the passage is cut";
        RERANK_ANSWER: usize = 1 << 20, Bytes, "":
            "an answer of a reranker" => "the passages keep their order";
        RERANK_SECONDS: u64 = 10, Seconds, "":
            "the time for an answer of a reranker, at most the time that the call has left, without its last second"
            => "the passages keep their order";
    }
    "Gateway" {
        GATEWAY_MOUNTS: usize = 64, Count, "":
            "servers of a gateway" => "the gateway cannot be built";
        GATEWAY_LIST_SECONDS: u64 = 8, Seconds, "":
            "the time for a list of all servers" => "the servers that have not answered are missing";
        GATEWAY_SERVER_SECONDS: u64 = 5, Seconds, "":
            "the time for a list of one of these servers, with all its pages" => "the server is missing";
        GATEWAY_LIST_BYTES: usize = 1 << 20, Bytes, "":
            "the definitions in a list of one of these servers" => "the server is missing";
        GATEWAY_LISTS_BYTES: usize = 8 << 20, Bytes, "":
            "the definitions in the lists of all servers, together. Half of them are equal shares of the servers"
            => "a server whose list is longer than its share may be missing";
        GATEWAY_PINNED_SECONDS: u64 = 300, Seconds, "":
            "the time for which a list of a server with pins is cached" => "the server is asked again";
        GATEWAY_NAME: usize = 128, Bytes, "":
            "the name of a gateway" => "the gateway cannot be built. A call through such a gateway fails";
        GATEWAY_META_BYTES: usize = 32 << 10, Bytes, "":
            "the `_meta` of a request to a gateway" => "the servers are not asked";
        GATEWAY_DESCRIPTION: usize = 4 << 10, Bytes, "":
            "the description of a tool, a resource or a prompt of a mounted server" => "it is cut";
        GATEWAY_URI_BYTES: usize = 8 << 10, Bytes, "":
            "the URI of a resource of a mounted server" => "the resource is not found";
        GATEWAY_LOG_BYTES: usize = 64 << 10, Bytes, "":
            "the log messages of a mounted server that a call passes on" => "further messages are dropped";
        GATEWAY_FAILURES: u32 = 3, Count, "":
            "failures in a row" => "the server is not asked for a while";
        GATEWAY_CALLERS: usize = 256, Count, "":
            "callers of one of these servers whose failures are counted" => "the count of one of them is evicted";
        GATEWAY_PAUSE_SECONDS: u64 = 30, Seconds, "":
            "the time for which such a server is not asked; each further failure doubles it" => "one request is sent";
        GATEWAY_PAUSES_SECONDS: u64 = 300, Seconds, "":
            "the longest such time" => "it does not double any more";
        GATEWAY_BUSY_SECONDS: u64 = 60, Seconds, "":
            "the time that an overloaded server can ask for" => "the server is asked after this time";
        GATEWAYS: usize = 4, Count, "":
            "gateways through which a request goes" => "the call fails";
        GATEWAY_QUERY: usize = 1 << 10, Bytes, "":
            "the words for a search of tools" => "further words are ignored";
        FOUND_TOOLS: usize = 10, Count, "":
            "tools that a search returns" => "further ones are left out";
        FOUND_TOOLS_BYTES: usize = 64 << 10, Bytes, "":
            "the definitions that a search returns, in equal shares" => "a tool with a longer definition has no input schema, and a note";
    }
    "MCP client" {
        UPSTREAM_SECONDS: u64 = 25, Seconds, "`Upstream::timeout`":
            "a request to another MCP server, after the negotiation" => "the request is aborted, and the call fails";
        UPSTREAM_LIST_SECONDS: u64 = 10, Seconds, "`Upstream::list_timeout`":
            "a page of a list of another MCP server" => "the request is aborted, and the list has an error for the server";
        UPSTREAM_NEGOTIATION_SECONDS: u64 = 5, Seconds, "":
            "a request of the negotiation with another MCP server, unless its revision is known" => "the request is aborted, and the call fails";
        UPSTREAM_BYTES: usize = 4 << 20, Bytes, "":
            "an answer of another MCP server, or one event of its stream" => "the request is aborted, and the call fails";
        UPSTREAM_STREAM_BYTES: usize = 16 << 20, Bytes, "":
            "an event stream of another MCP server" => "the request is aborted, and the call fails. The client continues without the stream of a session";
        UPSTREAM_EVENTS: usize = 1000, Count, "":
            "events of a stream of another MCP server" => "the request is aborted, and the call fails. The client continues without the stream of a session";
        UPSTREAM_REQUESTS: usize = 40, Count, "":
            "requests of a connection to other MCP servers" => "the call fails";
        UPSTREAM_TASK_SECONDS: u64 = 300, Seconds, "`Call::task_timeout`":
            "the wait for a task of another MCP server" => "the call fails, and the task continues";
        UPSTREAM_TASK_ID_BYTES: usize = 1 << 10, Bytes, "":
            "the id of a task of another MCP server" => "the call fails";
        UPSTREAM_POLL_SECONDS: u64 = 1, Seconds, "":
            "the least time between two requests for the state of a task" => "a shorter interval of the server is raised to it";
        UPSTREAM_POLL_MOST_SECONDS: u64 = 60, Seconds, "":
            "the longest time between two requests for the state of a task" => "a longer interval of the server is lowered to it";
        UPSTREAM_POLL_DEFAULT_SECONDS: u64 = 5, Seconds, "":
            "the time between two requests for the state of a task, if the server states none" => "the state is requested again";
        UPSTREAM_POLLS: usize = 500, Count, "":
            "requests of a connection about tasks of other MCP servers" => "further ones count as other requests of the connection";
        UPSTREAM_ROUNDS: usize = 10, Count, "":
            "rounds of questions of another MCP server in a call" => "the call fails";
        UPSTREAM_EMPTY_ROUNDS: usize = 3, Count, "":
            "rounds of a call in which another MCP server asks no question" => "the call fails";
        UPSTREAM_QUESTIONS: usize = 8, Count, "":
            "questions of another MCP server in a round, or on the event streams of a request with all its repetitions" => "the call fails";
        UPSTREAM_PINGS: usize = 16, Count, "":
            "pings of legacy servers that a connection answers" => "further pings are not answered";
        UPSTREAM_QUESTION_BYTES: usize = 64 << 10, Bytes, "":
            "a question of another MCP server" => "the call fails";
        UPSTREAM_QUESTION_LINES: usize = 50, Count, "":
            "lines of a question of another MCP server that is passed to the caller" => "further lines are not shown";
        UPSTREAM_QUESTION_CHARACTERS: usize = 2000, Count, "":
            "characters of such a question, and of each title and description in its form" => "the text is shortened";
        UPSTREAM_SAMPLING_TOKENS: u64 = 4096, Count, "":
            "tokens that another MCP server can ask the model of the caller for" => "the number is lowered";
        UPSTREAM_FORM_NAME: usize = 128, Count, "":
            "characters of a name in such a form" => "the call fails";
        PROGRESS_MESSAGE: usize = 1000, Count, "":
            "characters of a progress message of another MCP server" => "the message is shortened";
        UPSTREAM_STATE_BYTES: usize = 64 << 10, Bytes, "":
            "a request state of another MCP server" => "the call fails";
        UPSTREAM_STREAM_SECONDS: u64 = 1, Seconds, "":
            "the start of the event stream of a session" => "the client continues without the stream";
        UPSTREAM_REPETITIONS: usize = 7, Count, "":
            "repetitions of a request to another MCP server, in all its rounds" => "the call fails";
        UPSTREAM_PAGES: usize = 32, Count, "":
            "pages of a list of another MCP server. Of several servers, each leaves requests of the connection for the others" => "the list has the items so far";
        UPSTREAM_PAGES_BYTES: usize = 8 << 20, Bytes, "":
            "the answers with the pages of a list of another MCP server, together" => "the list has the items so far";
        UPSTREAM_ITEMS: usize = 1000, Count, "":
            "items of a list of another MCP server" => "the list has the items so far";
        UPSTREAM_ITEMS_BYTES: usize = 4 << 20, Bytes, "":
            "the items of a list of another MCP server, together" => "the list has the items so far";
        UPSTREAM_EMPTY_PAGES: usize = 3, Count, "":
            "pages without items in a list of another MCP server" => "the list has the items so far";
        UPSTREAM_DEFINITION_BYTES: usize = 64 << 10, Bytes, "":
            "the definition of a tool, a resource or a prompt of another MCP server" => "the list does not have it";
        UPSTREAM_DIGITS: usize = 1000, Count, "":
            "digits in a row in such a definition" => "the list does not have it";
        UPSTREAM_NAME_BYTES: usize = 8 << 10, Bytes, "":
            "the name or the URI of an item of another MCP server" => "the list does not have it";
        UPSTREAM_SKILLS: usize = 10_000, Count, "":
            "skills in the list of another MCP server" => "the list has the skills so far";
        UPSTREAM_SKILL_BYTES: usize = 512 << 10, Bytes, "":
            "the entry of a skill of another MCP server" => "the list does not have it";
        FRONTMATTER_BYTES: usize = 64 << 10, Bytes, "":
            "the frontmatter of a skill of another MCP server" => "the list does not have the skill; a file: the call fails";
        UNKNOWN_CONTENT_BYTES: usize = 2 << 10, Bytes, "":
            "a content block of an unknown type in a result of another MCP server" => "the caller gets its type and its length";
        UPSTREAM_CURSOR_BYTES: usize = 4 << 10, Bytes, "":
            "a cursor of another MCP server" => "the list has the items so far";
        UPSTREAM_TOKEN_ANSWER_BYTES: usize = 64 << 10, Bytes, "":
            "the answer of an authorization server to the client, or metadata about it" => "the call fails";
        UPSTREAM_OAUTH_URL_BYTES: usize = 2048, Bytes, "":
            "a URL in the metadata of another MCP server or of its authorization server" => "the call fails";
        UPSTREAM_TOKEN_BYTES: usize = 8 << 10, Bytes, "":
            "a token or an authorization code that an authorization server issues to the client" => "the call fails";
        UPSTREAM_CALLBACK_BYTES: usize = 16 << 10, Bytes, "":
            "the query with which an authorization server sends a browser back" => "the sign-in fails";
        UPSTREAM_TOKEN_SECONDS: u64 = 3600, Seconds, "":
            "the use of an access token whose lifetime the authorization server does not state, if it can be replaced without the person" => "a new token is requested";
        UPSTREAM_TOKEN_EARLY_SECONDS: u64 = 60, Seconds, "":
            "the time before the expiry of an access token at which the client stops using it" => "a new token is requested";
        UPSTREAM_TOKEN_NEW_SECONDS: u64 = 60, Seconds, "":
            "the time after which a rejected request replaces an access token of the program itself" => "the call fails";
        SIGN_IN_SECONDS: u64 = 600, Seconds, "":
            "a sign-in of a person to another MCP server, from the link and from its first page" => "the person has to begin again";
        SIGN_IN_REQUESTS: usize = 10, Count, "":
            "requests that the first page of a sign-in sends" => "the sign-in fails";
        SIGN_IN_COOKIES: usize = 4, Count, "":
            "sign-ins of a browser at the same time" => "the oldest one fails";
        SIGN_IN_COOKIE_BYTES: usize = 3584, Bytes, "":
            "the state of a sign-in in its cookie" => "the sign-in fails";
        SIGN_IN_COOKIES_BYTES: usize = 7 << 10, Bytes, "":
            "the states of all sign-ins of a browser, in their cookies" => "the oldest one fails";
        SIGN_IN_REGISTRATIONS: usize = 4, Count, "":
            "clients that an authorization server has registered for the sign-ins to a server" => "the oldest one is forgotten";
        SIGN_IN_UNFINISHED: usize = 3, Count, "":
            "sign-ins with a registered client that begin one after another, while none ends within 10 minutes" => "another client is registered";
        SIGN_IN_WAIT_SECONDS: u64 = 20, Seconds, "":
            "the time for which a call waits after its caller has agreed to sign in" => "the call asks again";
        SIGN_IN_QUESTIONS: usize = 3, Count, "":
            "times that a call asks its caller to sign in" => "the call fails";
        SIGN_IN_LEASE_SECONDS: u64 = 10, Seconds, "":
            "the time for which one request may refresh the tokens of a person" => "another request may refresh them";
        SIGN_IN_LEASE_WAITS: usize = 60, Count, "":
            "times that a request reads the tokens of a person again, 250 ms apart, while another one refreshes them" => "the call fails";
        SIGN_INS_OF_SCOPES: usize = 3, Count, "":
            "sign-ins of a person for the same scopes of a server within 10 minutes" => "the call fails";
        SIGN_IN_REPEAT_SECONDS: u64 = 600, Seconds, "":
            "the time for which sign-ins for the same scopes are counted" => "earlier ones do not count";
        SIGN_IN_KEEP_SECONDS: u64 = 400 * 86_400, Seconds, "":
            "the time for which the tokens of a person, or a client that registered itself, are kept without being used" => "the person has to sign in again";
        SIGN_IN_ENDED_SECONDS: u64 = 86_400, Seconds, "":
            "the time for which the store remembers that an authorization server has ended an access" => "the entry is removed";
        UPSTREAM_FORWARDED_BYTES: usize = 1 << 10, Bytes, "":
            "a header or a member of `_meta` of the caller that is passed on" => "it is not passed on";
        FORWARDED_NAMES: usize = 64, Count, "":
            "different headers and members of `_meta` that a program passes on" => "the client cannot be built";
        UPSTREAM_PARAMS: usize = 16, Count, "":
            "arguments that the definition of a tool marks with `x-mcp-header`" => "the list does not have the tool";
        UPSTREAM_PARAM_BYTES: usize = 4 << 10, Bytes, "":
            "the arguments of a call that headers repeat, in total" => "the call fails";
        UPSTREAM_PARALLEL: usize = 6, Count, "":
            "other MCP servers that are asked for a list at the same time" => "the other servers are asked later";
        UPSTREAM_LISTS: usize = 32, Count, "":
            "cached lists of other MCP servers, for each client" => "of the server with the most lists, the one that expires soonest is evicted";
        UPSTREAM_LIST_BYTES: usize = 256 << 10, Bytes, "":
            "a cached list of another MCP server" => "the list is not cached";
        UPSTREAM_FRESH_SECONDS: u64 = 86_400, Seconds, "":
            "the time for which a list of another MCP server is cached" => "the server is asked again";
        UPSTREAM_STALE_SECONDS: u64 = 600, Seconds, "":
            "the time for which an expired list replaces the list of a server that fails" => "the list has an error for the server";
        UPSTREAM_TOTAL_SECONDS: u64 = 55, Seconds, "`Call::timeout`":
            "a request to another MCP server with all its repetitions, and a list with all its pages" => "the call fails";
        UPSTREAM_RESUMPTIONS: usize = 2, Count, "":
            "times that the client resumes an interrupted event stream" => "the call fails";
        UPSTREAM_RETRY_SECONDS: u64 = 5, Seconds, "":
            "the longest pause before an event stream is resumed" => "the stream is resumed after this time";
        UPSTREAM_CLOSING_SECONDS: u64 = 2, Seconds, "":
            "a request that ends a session, or cancels a request or a task" => "the request is aborted";
        UPSTREAM_LEGACY_SECONDS: u64 = 3600, Seconds, "":
            "the time for which the client remembers that a server is legacy" => "the client negotiates again";
    }
    "Databases" {
        SQL_BYTES: usize = 100_000, Bytes, "":
            "a statement (the limit of D1)" => "the statement fails";
        SQL_PARAMETERS: usize = 100, Count, "":
            "parameters of a statement (the limit of D1)" => "the statement fails";
        SQL_VALUE_BYTES: usize = 2_000_000, Bytes, "":
            "a text or a BLOB of a statement (the limit of D1)" => "the statement fails";
        SQL_BATCH: usize = 1000, Count, "":
            "statements of a batch" => "the batch fails, and changes nothing";
        SQL_RESULT_BYTES: usize = 16 << 20, Bytes, "":
            "the rows of a statement, as JSON" => "the statement fails; changes that it made stay";
        KV_KEY_BYTES: usize = 512, Bytes, "":
            "a key (the limit of Workers KV)" => "the request fails";
        KV_VALUE_BYTES: usize = 25 << 20, Bytes, "":
            "a value of a key (the limit of Workers KV)" => "the request fails";
        KV_EXPIRY_SECONDS: u64 = 60, Seconds, "":
            "the least time after which a value expires (the limit of Workers KV)" => "the request fails";
        KV_PAGE: usize = 1000, Count, "":
            "keys of a page (the limit of Workers KV)" => "the list has further pages";
    }
    "Retrieval" {
        FILTER_BYTES: usize = 2048, Bytes, "":
            "the argument `filter`, without spaces between its parts" => "the call fails";
        FILTER_DEPTH: usize = 5, Count, "":
            "nesting depth of objects in the argument `filter`" => "the call fails";
        FILTER_TESTS: usize = 10, Count, "":
            "tests in the argument `filter`" => "the call fails";
        FILTER_LIST: usize = 100, Count, "":
            "values in a list of a filter" => "the call fails";
        FILTER_TEXT: usize = 512, Bytes, "":
            "a string in a filter" => "the call fails";
        FIELD_NAME: usize = 64, Count, "":
            "characters of a name in metadata" => "the document is rejected; in a filter: the call fails";
        FIELD_NAMES: usize = 4, Count, "":
            "names in the path of a field, and nesting depth of objects in metadata"
            => "the document is rejected; in a filter: the call fails";
        COMBINED_TESTS: usize = 80, Count, "":
            "tests in a filter that a program combines" => "the filter is invalid and matches nothing";
        COMBINED_DEPTH: usize = 24, Count, "":
            "nesting depth of a filter that a program combines" => "the filter is invalid and matches nothing";
        COMBINED_BYTES: usize = 256 << 10, Bytes, "":
            "the strings in a filter that a program combines" => "the filter is invalid and matches nothing";
        METADATA_BYTES: usize = 4096, Bytes, "":
            "the metadata of a document, or of a passage with that of its document, as JSON" => "the document is rejected";
        VECTOR_MATCHES: usize = 100, Count, "":
            "vectors that a query of Vectorize returns (the limit of Vectorize for ids)" => "fewer are returned";
        VECTOR_UPSERT: usize = 500, Count, "":
            "vectors that one call adds to Vectorize" => "the call fails, and changes nothing";
        VECTOR_DELETIONS: usize = 100, Count, "":
            "vectors that one request deletes from Vectorize (the limit of Vectorize)" => "further requests delete the rest";
        RAG_CHUNK_BYTES: usize = 1500, Bytes, "`ChunkOptions::size`":
            "a chunk of a document" => "the text is cut between blocks, lines, sentences, words or characters";
        RAG_CHUNK_LEAST_BYTES: usize = 64, Bytes, "":
            "the least value of `ChunkOptions::size`" => "a smaller value is raised to it";
        RAG_CHUNK_MOST_BYTES: usize = 100_000, Bytes, "":
            "a chunk that a store saves, with its headings" => "the document is rejected";
        RAG_DOCUMENT_CHUNKS: usize = 2000, Count, "":
            "chunks of a document" => "the document is rejected";
        RAG_NAME_BYTES: usize = 256, Bytes, "":
            "the name of a document" => "the document is rejected; the document or the section of a link: the link is ignored";
        RAG_HEADING_BYTES: usize = 256, Bytes, "":
            "the text of a heading, which is repeated with each of its chunks" => "the heading is text of a chunk";
        RAG_HEADING_MARKDOWN_BYTES: usize = 4096, Bytes, "":
            "a heading with its links and images" => "the heading is text of a chunk";
        RAG_LINKS: usize = 1000, Count, "":
            "links of a document, and definitions of links" => "further ones are ignored";
        RAG_LINK_BYTES: usize = 2048, Bytes, "":
            "the destination of a link" => "the link is ignored";
        RAG_STATEMENT_BYTES: usize = 500_000, Bytes, "":
            "a list in a statement of a store with SQLite" => "the list is divided";
        RAG_READ_EDGES: usize = 10_000, Count, "":
            "edges that a store with SQLite reads for a graph" => "lighter edges are left out";
        RAG_GRAPH_NODES: usize = 500, Count, "":
            "nodes of a graph" => "nodes that are farther away or have lighter edges are left out";
        RAG_GRAPH_EDGES: usize = 64, Count, "":
            "edges of a node" => "lighter edges are ignored";
        RAG_GRAPH_STEPS: u32 = 1000, Count, "`GraphOptions::random_walk_steps`, default 100":
            "steps of a random walk" => "the tool is rejected";
        RAG_QUERY_WORDS: usize = 64, Count, "":
            "distinct words of a question, without frequent words such as \"the\"" => "further words are ignored";
        RAG_CORRECTED_WORDS: usize = 4, Count, "":
            "words of a question that are corrected because no passage contains them" => "further words are not corrected";
        RAG_SIMILAR_WORDS: usize = 1000, Count, "":
            "words that a store with SQLite reads to correct a question" => "words of fewer passages are not read";
        RAG_QUESTION: usize = 2000, Count, "":
            "characters of the argument `queryText`" => "the call fails";
        RAG_TOP_K: usize = 10, Count, "`topK`":
            "passages of an answer, if neither the call nor the request says otherwise" => "further ones are left out";
        RAG_PASSAGES: usize = 50, Count, "`Retriever::most`":
            "passages of an answer" => "the call fails; a larger value of `SearchScope::top_k` is lowered to it";
        RAG_CANDIDATES: usize = 50, Count, "":
            "passages that a search reads and orders; twice as many with `per_document`" => "further ones are left out";
        RAG_CONTEXT: usize = 3, Count, "`Retriever::context`, default 0":
            "neighbours of a passage on each side" => "the tool is rejected";
        RAG_DIMENSIONS: usize = 4096, Count, "":
            "dimensions of a vector" => "the vectors are not saved";
        RAG_SCANNED: usize = 50_000, Count, "`SqliteVectors::most_scanned`":
            "passages of a space in which a search by meaning reads the codes" => "the search is by words alone";
        RAG_SCANNED_MOST: usize = 100_000, Count, "":
            "the greatest value of `SqliteVectors::most_scanned`" => "a greater value is lowered to it";
        RAG_RESCORED_MOST: usize = 2000, Count, "`Retriever::candidates`, default 1 % of the passages, from 200 to 800":
            "vectors that a search compares exactly" => "the tool is rejected";
        RAG_EMBEDDINGS: usize = 200, Count, "":
            "passages that one call of an `Indexer` embeds" => "further ones stay without a vector until the next call";
        RAG_EMBEDDING_BATCH: usize = 50, Count, "":
            "vectors that are saved at once" => "further ones are saved afterwards";
        RAG_REFUSALS: u8 = 3, Count, "":
            "refusals of a passage by the embedding model" => "the passage gets no vector, and a search finds it only by its words";
        RAG_REFUSED_REQUESTS: usize = 32, Count, "":
            "refused requests of one call of an `Indexer`" => "further passages stay without a vector until the next call";
        RAG_CENTRE_VECTORS: usize = 1500, Count, "":
            "vectors of which the centre of an index is the mean" => "further ones are left out";
        RAG_NEIGHBOURS: usize = 8, Count, "":
            "similar passages with which a new passage is connected" => "less similar ones are not connected";
        RAG_NEIGHBOURS_KEPT: usize = 16, Count, "":
            "similar passages with which a passage stays connected" => "the least similar ones are disconnected";
        RAG_NEIGHBOUR_CANDIDATES: usize = 32, Count, "":
            "vectors with which that of a new passage is compared exactly" => "passages with other codes are not connected";
        RAG_ANSWER_BYTES: usize = 24_000, Bytes, "`SearchTool::most_text`":
            "the passages of an answer" => "the last passage is cut, and further ones are left out";
    }
    "Log and crashes" {
        REQUEST_ID_BYTES: usize = 128, Bytes, "":
            "the request id of the platform in the log" => "the id is truncated";
        WARNINGS: usize = 32, Count, "":
            "different warnings of one kind about one server that an isolate writes, once each" => "further ones are not written";
        CRASH_ID_BYTES: usize = 16 << 10, Bytes, "":
            "JSON-RPC ids of a request that are kept for the answer after a crash" => "the answer has no id";
        HEADER_NAMES: usize = 64, Count, "":
            "header names that are cached as JavaScript strings" => "other names are converted each time";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the table in the format of the page.
    fn page() -> String {
        let row = |limit: &Limit| {
            let Limit { quantity, setting, effect, .. } = limit;
            format!("| {quantity} | {limit} | {setting} | {effect} |\n")
        };
        let group = |Group { subject, limits }: &Group| {
            let rows: String = limits.iter().map(row).collect();
            format!("### {subject}\n\n| limit on | default | set by | effect |\n|---|--:|---|---|\n{rows}\n")
        };
        TABLE.iter().map(group).collect()
    }

    #[test]
    fn the_page_contains_the_table() {
        let page = page();
        assert!(include_str!("../docs/limits.md").contains(&page), "docs/limits.md must have:\n{page}");
    }

    #[test]
    fn numbers_are_formatted_with_units() {
        for (number, unit, shown) in [
            (4 << 20, Unit::Bytes, "4 MiB"),
            (64 << 10, Unit::Bytes, "64 KiB"),
            (256, Unit::Bytes, "256 bytes"),
            (500_000, Unit::Count, "500 000"),
            (100, Unit::Count, "100"),
            (30, Unit::Seconds, "30 s"),
        ] {
            assert_eq!(Limit { quantity: "", number, unit, setting: "", effect: "" }.to_string(), shown);
        }
    }
}
