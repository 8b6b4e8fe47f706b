//! The limits of the library.
//!
//! Every loop over input, every list that grows and every wait has its limit here. The page docs/limits.md has a row for each of them, with
//! its setting and the effect of exceeding it. A test compares the numbers. Thresholds that only affect speed, such as the size from which a
//! cache is used, are next to the code that uses them.

use edge_json::JsonLimits;
use edge_json_schema::limits as schema;

/// Declares the limits as constants. In tests, `ALL` has them in the order of the page.
macro_rules! limits {
    ($(#[doc = $quantity:literal] $name:ident: $kind:ty = $number:expr, $unit:ident;)*) => {
        $(
            #[doc = $quantity]
            #[allow(dead_code, reason = "the page also has the limits of other crates and of features that are off")]
            pub(crate) const $name: $kind = $number;
        )*

        // Every number fits into a `u64`.
        #[cfg(test)]
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        const ALL: &[(&str, u64, tests::Unit)] = &[$(($quantity, $name as u64, tests::Unit::$unit)),*];
    };
}

limits! {
    // Requests
    /// the body of a request
    BODY: usize = 4 << 20, Bytes;
    /// the time to receive a body
    BODY_SECONDS: u64 = 30, Seconds;
    /// all bodies that an isolate reads or holds at the same time
    IN_FLIGHT: usize = 64 << 20, Bytes;
    /// the time for which memory stays reserved for a body, if the platform stops its request without notice
    RESERVATION_SECONDS: u64 = 300, Seconds;
    /// nesting depth of arrays and objects
    JSON_DEPTH: usize = JsonLimits::DEFAULT.depth, Count;
    /// JSON values in a body, including keys
    JSON_VALUES: usize = JsonLimits::DEFAULT.values, Count;
    /// the value of a header
    HEADER: usize = 64 << 10, Bytes;
    /// messages in a batch (2025-03-26)
    BATCH: usize = 100, Count;
    /// messages of a batch that are handled concurrently
    CONCURRENT: usize = 4, Count;
    /// a progress token
    PROGRESS_TOKEN_BYTES: usize = 256, Bytes;
    /// the `tracestate` of a request
    TRACESTATE_BYTES: usize = 512, Bytes;

    // Answers
    /// an answer; the answers to a batch share this limit
    OUTPUT: usize = 16 << 20, Bytes;
    /// the answers of an isolate that wait in a batch for the other answers, or on a stream for their clients
    WAITING_ANSWERS: usize = 32 << 20, Bytes;
    /// notifications of a call that the client has not read yet
    WAITING_NOTIFICATIONS: usize = 1024, Count;
    /// the size of these notifications; a single one may be larger
    WAITING_BYTES: usize = 1 << 20, Bytes;
    /// the time without data on a stream
    SILENCE_SECONDS: u64 = 5, Seconds;
    /// values of a completion (the limit of the specification)
    COMPLETION_VALUES: usize = 100, Count;
    /// characters of the description in `/server.json`
    SERVER_JSON_DESCRIPTION: usize = 100, Count;
    /// characters of the name in `/server.json` that is derived from the URL
    SERVER_JSON_NAME: usize = 200, Count;

    // Calls
    /// the time of a handler; only a handler that waits can be stopped
    DEADLINE_SECONDS: u64 = 30, Seconds;
    /// a configured deadline
    LONGEST_DEADLINE_SECONDS: u64 = 300, Seconds;
    /// the time of an attempt of a durable task
    TASK_ATTEMPT_SECONDS: u64 = 600, Seconds;
    /// the time that the running steps of an attempt then have
    TASK_GRACE_SECONDS: u64 = 240, Seconds;
    /// the time for which a durable task is kept
    TASK_SECONDS: u64 = 86_400, Seconds;
    /// a configured time for which a durable task is kept
    LONGEST_TASK_SECONDS: u64 = 2_592_000, Seconds;
    /// the time for which the durable task of a caller without authentication is kept
    OPEN_TASK_SECONDS: u64 = 3600, Seconds;
    /// the time that a client without tasks waits for a result
    TASK_WAIT_SECONDS: u64 = 20, Seconds;
    /// the time for the requests to the object of a durable task, besides that wait
    TASK_REQUESTS_SECONDS: u64 = 10, Seconds;
    /// the time until the first attempt of a durable task, which counts it for its caller
    TASK_PLACE_SECONDS: u64 = 60, Seconds;
    /// the pause of a durable task whose attempts cannot begin, or whose record cannot be read
    TASK_PAUSE_SECONDS: u64 = 3600, Seconds;
    /// the delay of an attempt of a durable task
    TASK_ALARM_SECONDS: u64 = 60, Seconds;
    /// durable tasks of a `subscriptions/listen`
    LISTENED_TASKS: usize = 5, Count;
    /// the time of a stream with the changes of durable tasks
    LISTEN_SECONDS: u64 = 600, Seconds;
    /// durable tasks of a tool that a caller has at the same time
    TASKS_PER_CALLER: u32 = 32, Count;
    /// attempts of a durable task without progress
    TASK_FAILURES: u32 = 5, Count;
    /// steps of a durable task
    TASK_STEPS: usize = 10_000, Count;
    /// the result of a step of a durable task
    TASK_RESULT_BYTES: u64 = 8 << 20, Bytes;
    /// the results of all steps of a durable task
    TASK_JOURNAL_BYTES: u64 = 64 << 20, Bytes;
    /// a row of a durable task
    TASK_ROW_BYTES: usize = 1_500_000, Bytes;
    /// an answer to a question of a durable task
    TASK_ANSWER_BYTES: usize = 256 << 10, Bytes;
    /// the answers to all questions of a durable task
    TASK_ANSWERS_BYTES: u64 = 4 << 20, Bytes;
    /// the result of a durable task
    TASK_OUTPUT_BYTES: usize = 4 << 20, Bytes;
    /// the memory that an attempt of a durable task reserves, besides its call and its answers
    TASK_MEMORY_BYTES: usize = 256 << 10, Bytes;
    /// characters of the message of a durable task
    TASK_MESSAGE_CHARACTERS: usize = 500, Count;
    /// the time of a handler that waits for the cancellation of its durable task
    TASK_CANCEL_SECONDS: u64 = 30, Seconds;
    /// nested tool calls
    NESTED_CALLS: u8 = 8, Count;
    /// the memory for the arguments of a call as a JSON value, which approvals and hooks get
    ARGUMENT_TREE: usize = 16 << 20, Bytes;
    /// characters of the arguments that a question for approval shows
    APPROVAL_CHARACTERS: usize = 4000, Count;
    /// characters of the program's own text in a question for approval
    APPROVAL_QUESTION_CHARACTERS: usize = 500, Count;
    /// questions that a call sends to the client, over all rounds
    QUESTIONS: usize = 256, Count;
    /// the pause between two attempts of `Context::retry`, if the error names none
    RETRY_SECONDS: u64 = 60, Seconds;
    /// the pause between two attempts of `Context::retry` that the error names
    RETRY_AFTER_SECONDS: u64 = 3600, Seconds;
    /// step results that a call keeps between its rounds
    FINISHED_STEPS: usize = 1024, Count;
    /// a request state
    STATE_BYTES: usize = 512 << 10, Bytes;
    /// the time for which a request state is valid
    STATE_SECONDS: u64 = 600, Seconds;
    /// the page of an app
    APP_BYTES: usize = 4 << 20, Bytes;
    /// the URI of an app
    APP_URI_BYTES: usize = 512, Bytes;
    /// files of a skill
    SKILL_FILES: usize = 512, Count;
    /// the files of a skill
    SKILL_BYTES: u64 = 16 << 20, Bytes;
    /// the URI of a skill or of its file
    SKILL_URI_BYTES: usize = 2048, Bytes;
    /// skills in a page of `skills/list`
    SKILL_PAGE: usize = 50, Count;
    /// the skills in a page of `skills/list`, if it has more than one
    SKILL_PAGE_BYTES: usize = 1 << 20, Bytes;
    /// requests to a store for a page of skills, if most of them are hidden from the caller
    SKILL_READS: usize = 200, Count;
    /// skills in `resources/list`
    SKILLS_LISTED: usize = 1000, Count;
    /// the time for which a client may cache a list that lacks the items of a failed source
    MISSING_SECONDS: u64 = 5, Seconds;
    /// the name of a method of an extension
    EXTENSION_METHOD_BYTES: usize = 128, Bytes;
    /// extensions of the protocol that a client declares
    CLIENT_EXTENSIONS: usize = 64, Count;
    /// the time of a request by `Context::fetch`, up to the last byte of the answer
    FETCH_SECONDS: u64 = 10, Seconds;
    /// the body of an answer to `Context::fetch`
    FETCH_BYTES: usize = 1 << 20, Bytes;

    // Schemas
    /// steps of the checks of arguments and answers in a request, of about 10 ns each; the same for its results
    CHECK_STEPS: u32 = schema::CHECK_STEPS, Count;
    /// steps of the search for the closest alternative, in addition to the steps of the checks
    EXPLANATION_STEPS: u32 = schema::EXPLANATION_STEPS, Count;
    /// nesting depth of the schemas that a check applies
    NESTED_SCHEMAS: u32 = schema::NESTED_SCHEMAS, Count;
    /// mistakes that are listed
    MISTAKES: usize = schema::MISTAKES, Count;
    /// values of an `enum` that a mistake lists
    LISTED_VALUES: usize = schema::LISTED_VALUES, Count;
    /// results that a check caches, of 8 bytes each
    CACHED_RESULTS: usize = schema::CACHED_RESULTS, Count;
    /// states of the automaton of a `pattern`
    PATTERN_STATES: usize = schema::PATTERN_STATES, Count;
    /// states of all patterns of a schema
    PATTERNS_STATES: usize = schema::PATTERNS_STATES, Count;
    /// character classes that a `pattern` distinguishes
    PATTERN_CLASSES: usize = schema::PATTERN_CLASSES, Count;
    /// nesting depth of groups in a `pattern`
    PATTERN_GROUPS: usize = schema::PATTERN_GROUPS, Count;
    /// cached states of all patterns in a check; the current pattern may use as much again
    PATTERN_CACHE: usize = schema::PATTERN_CACHE, Bytes;
    /// nesting depth of a schema
    SCHEMA_DEPTH: usize = schema::SCHEMA_DEPTH, Count;
    /// schemas that refer to one another for the same value
    SCHEMA_CHAIN: usize = schema::SCHEMA_CHAIN, Count;
    /// schemas that the definitions of a schema have, if each is written in place of the references to it
    INLINED_SCHEMAS: usize = schema::INLINED_SCHEMAS, Count;
    /// steps to compile a schema of another server, of about 10 ns or 4 bytes each
    FOREIGN_SCHEMA_STEPS: u32 = 2_000_000, Count;
    /// steps to compile all schemas of other servers in a request
    FOREIGN_SCHEMAS_STEPS: u32 = 6_000_000, Count;
    /// cached compiled schemas of other servers
    FOREIGN_SCHEMAS: usize = 64, Count;
    /// steps to compile a schema of another server that is cached
    CACHED_FOREIGN_STEPS: u32 = 20_000, Count;
    /// cached compiled schemas, except those of Rust types
    SCHEMAS: usize = 256, Count;

    // Access tokens
    /// the time for an answer of an authorization server (introspection, keys)
    ISSUER_SECONDS: u64 = 5, Seconds;
    /// an answer of an authorization server
    ISSUER_BYTES: usize = 64 << 10, Bytes;
    /// cached answers about tokens
    TOKEN_ANSWERS: usize = 1000, Count;
    /// all cached answers about tokens, as JSON
    TOKEN_ANSWERS_BYTES: usize = 8 << 20, Bytes;
    /// the time for which an answer about a valid token is cached
    INTROSPECTION_SECONDS: u64 = 60, Seconds;
    /// the time for which an answer about an invalid token is cached
    REFUSAL_SECONDS: u64 = 5, Seconds;
    /// keys of an issuer
    KEYS: usize = 32, Count;
    /// addresses that have exceeded their rate limit with forged tokens, and whose signatures are not checked for a period
    BLOCKED_ADDRESSES: usize = 1000, Count;
    /// issuers whose keys are cached
    ISSUER_COUNT: usize = 16, Count;
    /// the time for which keys are cached
    KEYS_SECONDS: u64 = 600, Seconds;
    /// the time for which expired keys are used while their issuer is down
    KEYS_OUTAGE_SECONDS: u64 = 3600, Seconds;
    /// the time between two fetches of keys because of an unknown key
    KEYS_AGAIN_SECONDS: u64 = 60, Seconds;
    /// the time between a failed fetch of keys and the next fetch
    KEYS_AFTER_FAILURE_SECONDS: u64 = 5, Seconds;
    /// the time for which a request waits for keys that another request fetches
    KEYS_WAIT_SECONDS: u64 = 10, Seconds;
    /// the tolerated difference between two clocks
    CLOCK_SKEW_SECONDS: u64 = 60, Seconds;

    // Agents
    /// rounds with the model, the last one without tool calls
    AGENT_ROUNDS: u8 = 8, Count;
    /// tool calls in one answer of the model
    AGENT_CALLS: usize = 16, Count;
    /// a tool result that is sent to the model
    AGENT_RESULT: usize = 64 << 10, Bytes;
    /// a tool description that is sent to the model
    AGENT_DESCRIPTION: usize = 1024, Bytes;
    /// tools of an agent's sources that are offered to the model
    AGENT_FOUND_TOOLS: usize = 128, Count;
    /// the descriptions and schemas of these tools
    AGENT_FOUND_BYTES: usize = 256 << 10, Bytes;
    /// an answer of the model
    MODEL_ANSWER: usize = 1 << 20, Bytes;
    /// the memory for an answer of the model as a JSON value
    MODEL_TREE: usize = 16 << 20, Bytes;
    /// the time of an agent's answer, with all rounds
    AGENT_SECONDS: u64 = 60, Seconds;

    // Embedding models and rerankers
    /// texts in a request to an embedding model
    EMBEDDING_TEXTS: usize = 100, Count;
    /// all texts in a request to an embedding model; a single one may be larger
    EMBEDDING_BYTES: usize = 100_000, Bytes;
    /// an answer of an embedding model
    EMBEDDING_ANSWER: usize = 8 << 20, Bytes;
    /// the time for the vector of a question, at most the time that the call has left, without its last second
    EMBEDDING_QUERY_SECONDS: u64 = 10, Seconds;
    /// the time for the vectors of the passages in a request, at most as above
    EMBEDDING_PASSAGES_SECONDS: u64 = 60, Seconds;
    /// passages in a request to a reranker
    RERANK_CANDIDATES: usize = 50, Count;
    /// a passage in a request to a reranker
    RERANK_PASSAGE_BYTES: usize = 1500, Bytes;
    /// an answer of a reranker
    RERANK_ANSWER: usize = 1 << 20, Bytes;
    /// the time for an answer of a reranker, at most the time that the call has left, without its last second
    RERANK_SECONDS: u64 = 10, Seconds;

    // Gateway
    /// servers of a gateway
    GATEWAY_MOUNTS: usize = 64, Count;
    /// the time for a list of all servers
    GATEWAY_LIST_SECONDS: u64 = 8, Seconds;
    /// the time for a list of one of these servers, with all its pages
    GATEWAY_SERVER_SECONDS: u64 = 5, Seconds;
    /// the definitions in a list of one of these servers
    GATEWAY_LIST_BYTES: usize = 1 << 20, Bytes;
    /// the definitions in the lists of all servers, together. Half of them are equal shares of the servers
    GATEWAY_LISTS_BYTES: usize = 8 << 20, Bytes;
    /// the time for which a list of a server with pins is cached
    GATEWAY_PINNED_SECONDS: u64 = 300, Seconds;
    /// the name of a gateway
    GATEWAY_NAME: usize = 128, Bytes;
    /// the `_meta` of a request to a gateway
    GATEWAY_META_BYTES: usize = 32 << 10, Bytes;
    /// the description of a tool, a resource or a prompt of a mounted server
    GATEWAY_DESCRIPTION: usize = 4 << 10, Bytes;
    /// the URI of a resource of a mounted server
    GATEWAY_URI_BYTES: usize = 8 << 10, Bytes;
    /// the log messages of a mounted server that a call passes on
    GATEWAY_LOG_BYTES: usize = 64 << 10, Bytes;
    /// failures in a row
    GATEWAY_FAILURES: u32 = 3, Count;
    /// callers of one of these servers whose failures are counted
    GATEWAY_CALLERS: usize = 256, Count;
    /// the time for which such a server is not asked; each further failure doubles it
    GATEWAY_PAUSE_SECONDS: u64 = 30, Seconds;
    /// the longest such time
    GATEWAY_PAUSES_SECONDS: u64 = 300, Seconds;
    /// the time that an overloaded server can ask for
    GATEWAY_BUSY_SECONDS: u64 = 60, Seconds;
    /// gateways through which a request goes
    GATEWAYS: usize = 4, Count;
    /// the words for a search of tools
    GATEWAY_QUERY: usize = 1 << 10, Bytes;
    /// tools that a search returns
    FOUND_TOOLS: usize = 10, Count;
    /// the definitions that a search returns, in equal shares
    FOUND_TOOLS_BYTES: usize = 64 << 10, Bytes;

    // MCP client
    /// a request to another MCP server, after the negotiation
    UPSTREAM_SECONDS: u64 = 25, Seconds;
    /// a page of a list of another MCP server
    UPSTREAM_LIST_SECONDS: u64 = 10, Seconds;
    /// a request of the negotiation with another MCP server, unless its revision is known
    UPSTREAM_NEGOTIATION_SECONDS: u64 = 5, Seconds;
    /// an answer of another MCP server, or one event of its stream
    UPSTREAM_BYTES: usize = 4 << 20, Bytes;
    /// an event stream of another MCP server
    UPSTREAM_STREAM_BYTES: usize = 16 << 20, Bytes;
    /// events of a stream of another MCP server
    UPSTREAM_EVENTS: usize = 1000, Count;
    /// requests of a connection to other MCP servers
    UPSTREAM_REQUESTS: usize = 40, Count;
    /// the wait for a task of another MCP server
    UPSTREAM_TASK_SECONDS: u64 = 300, Seconds;
    /// the id of a task of another MCP server
    UPSTREAM_TASK_ID_BYTES: usize = 1 << 10, Bytes;
    /// the least time between two requests for the state of a task
    UPSTREAM_POLL_SECONDS: u64 = 1, Seconds;
    /// the longest time between two requests for the state of a task
    UPSTREAM_POLL_MOST_SECONDS: u64 = 60, Seconds;
    /// the time between two requests for the state of a task, if the server states none
    UPSTREAM_POLL_DEFAULT_SECONDS: u64 = 5, Seconds;
    /// requests of a connection about tasks of other MCP servers
    UPSTREAM_POLLS: usize = 500, Count;
    /// rounds of questions of another MCP server in a call
    UPSTREAM_ROUNDS: usize = 10, Count;
    /// rounds of a call in which another MCP server asks no question
    UPSTREAM_EMPTY_ROUNDS: usize = 3, Count;
    /// questions of another MCP server in a round, or on the event streams of a request with all its repetitions
    UPSTREAM_QUESTIONS: usize = 8, Count;
    /// pings of legacy servers that a connection answers
    UPSTREAM_PINGS: usize = 16, Count;
    /// a question of another MCP server
    UPSTREAM_QUESTION_BYTES: usize = 64 << 10, Bytes;
    /// lines of a question of another MCP server that is passed to the caller
    UPSTREAM_QUESTION_LINES: usize = 50, Count;
    /// characters of such a question, and of each title and description in its form
    UPSTREAM_QUESTION_CHARACTERS: usize = 2000, Count;
    /// tokens that another MCP server can ask the model of the caller for
    UPSTREAM_SAMPLING_TOKENS: u64 = 4096, Count;
    /// characters of a name in such a form
    UPSTREAM_FORM_NAME: usize = 128, Count;
    /// characters of a progress message of another MCP server
    PROGRESS_MESSAGE: usize = 1000, Count;
    /// a request state of another MCP server
    UPSTREAM_STATE_BYTES: usize = 64 << 10, Bytes;
    /// the start of the event stream of a session
    UPSTREAM_STREAM_SECONDS: u64 = 1, Seconds;
    /// repetitions of a request to another MCP server, in all its rounds
    UPSTREAM_REPETITIONS: usize = 7, Count;
    /// pages of a list of another MCP server. Of several servers, each leaves requests of the connection for the others
    UPSTREAM_PAGES: usize = 32, Count;
    /// the answers with the pages of a list of another MCP server, together
    UPSTREAM_PAGES_BYTES: usize = 8 << 20, Bytes;
    /// items of a list of another MCP server
    UPSTREAM_ITEMS: usize = 1000, Count;
    /// the items of a list of another MCP server, together
    UPSTREAM_ITEMS_BYTES: usize = 4 << 20, Bytes;
    /// pages without items in a list of another MCP server
    UPSTREAM_EMPTY_PAGES: usize = 3, Count;
    /// the definition of a tool, a resource or a prompt of another MCP server
    UPSTREAM_DEFINITION_BYTES: usize = 64 << 10, Bytes;
    /// digits in a row in such a definition
    UPSTREAM_DIGITS: usize = 1000, Count;
    /// the name or the URI of an item of another MCP server
    UPSTREAM_NAME_BYTES: usize = 8 << 10, Bytes;
    /// skills in the list of another MCP server
    UPSTREAM_SKILLS: usize = 10_000, Count;
    /// the entry of a skill of another MCP server
    UPSTREAM_SKILL_BYTES: usize = 512 << 10, Bytes;
    /// files of a skill of another MCP server
    UPSTREAM_SKILL_FILES: usize = 512, Count;
    /// the files of a skill of another MCP server, together
    UPSTREAM_SKILL_SIZE: usize = 16 << 20, Bytes;
    /// the frontmatter of a skill of another MCP server
    FRONTMATTER_BYTES: usize = 64 << 10, Bytes;
    /// values in the frontmatter of a file
    FRONTMATTER_VALUES: usize = 2000, Count;
    /// nesting depth of the frontmatter of a file
    FRONTMATTER_DEPTH: usize = 32, Count;
    /// a content block of an unknown type in a result of another MCP server
    UNKNOWN_CONTENT_BYTES: usize = 2 << 10, Bytes;
    /// a cursor of another MCP server
    UPSTREAM_CURSOR_BYTES: usize = 4 << 10, Bytes;
    /// the answer of an authorization server to the client, or metadata about it
    UPSTREAM_TOKEN_ANSWER_BYTES: usize = 64 << 10, Bytes;
    /// a URL in the metadata of another MCP server or of its authorization server
    UPSTREAM_OAUTH_URL_BYTES: usize = 2048, Bytes;
    /// a token or an authorization code that an authorization server issues to the client
    UPSTREAM_TOKEN_BYTES: usize = 8 << 10, Bytes;
    /// the query with which an authorization server sends a browser back
    UPSTREAM_CALLBACK_BYTES: usize = 16 << 10, Bytes;
    /// the use of an access token whose lifetime the authorization server does not state, if it can be replaced without the person
    UPSTREAM_TOKEN_SECONDS: u64 = 3600, Seconds;
    /// the time before the expiry of an access token at which the client stops using it
    UPSTREAM_TOKEN_EARLY_SECONDS: u64 = 60, Seconds;
    /// the time after which a rejected request replaces an access token of the program itself
    UPSTREAM_TOKEN_NEW_SECONDS: u64 = 60, Seconds;
    /// a sign-in of a person to another MCP server, from the link and from its first page
    SIGN_IN_SECONDS: u64 = 600, Seconds;
    /// requests that the first page of a sign-in sends
    SIGN_IN_REQUESTS: usize = 10, Count;
    /// sign-ins of a browser at the same time
    SIGN_IN_COOKIES: usize = 4, Count;
    /// the state of a sign-in in its cookie
    SIGN_IN_COOKIE_BYTES: usize = 3584, Bytes;
    /// the states of all sign-ins of a browser, in their cookies
    SIGN_IN_COOKIES_BYTES: usize = 7 << 10, Bytes;
    /// clients that an authorization server has registered for the sign-ins to a server
    SIGN_IN_REGISTRATIONS: usize = 4, Count;
    /// sign-ins with a registered client that begin one after another, while none ends within 10 minutes
    SIGN_IN_UNFINISHED: usize = 3, Count;
    /// the time for which a call waits after its caller has agreed to sign in
    SIGN_IN_WAIT_SECONDS: u64 = 20, Seconds;
    /// times that a call asks its caller to sign in
    SIGN_IN_QUESTIONS: usize = 3, Count;
    /// the time for which one request may refresh the tokens of a person
    SIGN_IN_LEASE_SECONDS: u64 = 10, Seconds;
    /// times that a request reads the tokens of a person again, 250 ms apart, while another one refreshes them
    SIGN_IN_LEASE_WAITS: usize = 60, Count;
    /// sign-ins of a person for the same scopes of a server within 10 minutes
    SIGN_INS_OF_SCOPES: usize = 3, Count;
    /// the time for which sign-ins for the same scopes are counted
    SIGN_IN_REPEAT_SECONDS: u64 = 600, Seconds;
    /// the time for which the tokens of a person, or a client that registered itself, are kept without being used
    SIGN_IN_KEEP_SECONDS: u64 = 400 * 86_400, Seconds;
    /// the time for which the store remembers that an authorization server has ended an access
    SIGN_IN_ENDED_SECONDS: u64 = 86_400, Seconds;
    /// a header or a member of `_meta` of the caller that is passed on
    UPSTREAM_FORWARDED_BYTES: usize = 1 << 10, Bytes;
    /// different headers and members of `_meta` that a program passes on
    FORWARDED_NAMES: usize = 64, Count;
    /// arguments that the definition of a tool marks with `x-mcp-header`
    UPSTREAM_PARAMS: usize = 16, Count;
    /// the arguments of a call that headers repeat, in total
    UPSTREAM_PARAM_BYTES: usize = 4 << 10, Bytes;
    /// other MCP servers that are asked for a list at the same time
    UPSTREAM_PARALLEL: usize = 6, Count;
    /// cached lists of other MCP servers, for each client
    UPSTREAM_LISTS: usize = 32, Count;
    /// a cached list of another MCP server
    UPSTREAM_LIST_BYTES: usize = 256 << 10, Bytes;
    /// the time for which a list of another MCP server is cached
    UPSTREAM_FRESH_SECONDS: u64 = 86_400, Seconds;
    /// the time for which an expired list replaces the list of a server that fails
    UPSTREAM_STALE_SECONDS: u64 = 600, Seconds;
    /// a request to another MCP server with all its repetitions, and a list with all its pages
    UPSTREAM_TOTAL_SECONDS: u64 = 55, Seconds;
    /// times that the client resumes an interrupted event stream
    UPSTREAM_RESUMPTIONS: usize = 2, Count;
    /// the longest pause before an event stream is resumed
    UPSTREAM_RETRY_SECONDS: u64 = 5, Seconds;
    /// a request that ends a session, or cancels a request or a task
    UPSTREAM_CLOSING_SECONDS: u64 = 2, Seconds;
    /// the time for which the client remembers that a server is legacy
    UPSTREAM_LEGACY_SECONDS: u64 = 3600, Seconds;

    // Databases
    /// a statement (the limit of D1)
    SQL_BYTES: usize = 100_000, Bytes;
    /// parameters of a statement (the limit of D1)
    SQL_PARAMETERS: usize = 100, Count;
    /// a text or a BLOB of a statement (the limit of D1)
    SQL_VALUE_BYTES: usize = 2_000_000, Bytes;
    /// statements of a batch
    SQL_BATCH: usize = 1000, Count;
    /// the rows of a statement, as JSON
    SQL_RESULT_BYTES: usize = 16 << 20, Bytes;
    /// a key (the limit of Workers KV)
    KV_KEY_BYTES: usize = 512, Bytes;
    /// a value of a key (the limit of Workers KV)
    KV_VALUE_BYTES: usize = 25 << 20, Bytes;
    /// the least time after which a value expires (the limit of Workers KV)
    KV_EXPIRY_SECONDS: u64 = 60, Seconds;
    /// keys of a page (the limit of Workers KV)
    KV_PAGE: usize = 1000, Count;

    // Retrieval
    /// the argument `filter`, without spaces between its parts
    FILTER_BYTES: usize = 2048, Bytes;
    /// nesting depth of objects in the argument `filter`
    FILTER_DEPTH: usize = 5, Count;
    /// tests in the argument `filter`
    FILTER_TESTS: usize = 10, Count;
    /// values in a list of a filter
    FILTER_LIST: usize = 100, Count;
    /// a string in a filter
    FILTER_TEXT: usize = 512, Bytes;
    /// characters of a name in metadata
    FIELD_NAME: usize = 64, Count;
    /// names in the path of a field, and nesting depth of objects in metadata
    FIELD_NAMES: usize = 4, Count;
    /// tests in a filter that a program combines
    COMBINED_TESTS: usize = 80, Count;
    /// nesting depth of a filter that a program combines
    COMBINED_DEPTH: usize = 24, Count;
    /// the strings in a filter that a program combines
    COMBINED_BYTES: usize = 256 << 10, Bytes;
    /// the metadata of a document, or of a passage with that of its document, as JSON
    METADATA_BYTES: usize = 4096, Bytes;
    /// vectors that a query of Vectorize returns (the limit of Vectorize for ids)
    VECTOR_MATCHES: usize = 100, Count;
    /// vectors that one call adds to Vectorize
    VECTOR_UPSERT: usize = 500, Count;
    /// vectors that one request deletes from Vectorize (the limit of Vectorize)
    VECTOR_DELETIONS: usize = 100, Count;
    /// a chunk of a document
    RAG_CHUNK_BYTES: usize = 1500, Bytes;
    /// the least value of `ChunkOptions::size`
    RAG_CHUNK_LEAST_BYTES: usize = 64, Bytes;
    /// a chunk that a store saves, with its headings
    RAG_CHUNK_MOST_BYTES: usize = 100_000, Bytes;
    /// chunks of a document
    RAG_DOCUMENT_CHUNKS: usize = 2000, Count;
    /// the name of a document
    RAG_NAME_BYTES: usize = 256, Bytes;
    /// the text of a heading, which is repeated with each of its chunks
    RAG_HEADING_BYTES: usize = 256, Bytes;
    /// a heading with its links and images
    RAG_HEADING_MARKDOWN_BYTES: usize = 4096, Bytes;
    /// links of a document, and definitions of links
    RAG_LINKS: usize = 1000, Count;
    /// the destination of a link
    RAG_LINK_BYTES: usize = 2048, Bytes;
    /// a list in a statement of a store with SQLite
    RAG_STATEMENT_BYTES: usize = 500_000, Bytes;
    /// edges that a store with SQLite reads for a graph
    RAG_READ_EDGES: usize = 10_000, Count;
    /// nodes of a graph
    RAG_GRAPH_NODES: usize = 500, Count;
    /// edges of a node
    RAG_GRAPH_EDGES: usize = 64, Count;
    /// steps of a random walk
    RAG_GRAPH_STEPS: u32 = 1000, Count;
    /// distinct words of a question, without frequent words such as "the"
    RAG_QUERY_WORDS: usize = 64, Count;
    /// words of a question that are corrected because no passage contains them
    RAG_CORRECTED_WORDS: usize = 4, Count;
    /// words that a store with SQLite reads to correct a question
    RAG_SIMILAR_WORDS: usize = 1000, Count;
    /// characters of the argument `queryText`
    RAG_QUESTION: usize = 2000, Count;
    /// passages of an answer, if neither the call nor the request says otherwise
    RAG_TOP_K: usize = 10, Count;
    /// passages of an answer
    RAG_PASSAGES: usize = 50, Count;
    /// passages that a search reads and orders; twice as many with `per_document`
    RAG_CANDIDATES: usize = 50, Count;
    /// neighbours of a passage on each side
    RAG_CONTEXT: usize = 3, Count;
    /// dimensions of a vector
    RAG_DIMENSIONS: usize = 4096, Count;
    /// passages of a space in which a search by meaning reads the codes
    RAG_SCANNED: usize = 50_000, Count;
    /// the greatest value of `SqliteVectors::most_scanned`
    RAG_SCANNED_MOST: usize = 100_000, Count;
    /// vectors that a search compares exactly
    RAG_RESCORED_MOST: usize = 2000, Count;
    /// passages that one call of an `Indexer` embeds
    RAG_EMBEDDINGS: usize = 200, Count;
    /// vectors that are saved at once
    RAG_EMBEDDING_BATCH: usize = 50, Count;
    /// refusals of a passage by the embedding model
    RAG_REFUSALS: u8 = 3, Count;
    /// refused requests of one call of an `Indexer`
    RAG_REFUSED_REQUESTS: usize = 32, Count;
    /// vectors of which the centre of an index is the mean
    RAG_CENTRE_VECTORS: usize = 1500, Count;
    /// similar passages with which a new passage is connected
    RAG_NEIGHBOURS: usize = 8, Count;
    /// similar passages with which a passage stays connected
    RAG_NEIGHBOURS_KEPT: usize = 16, Count;
    /// vectors with which that of a new passage is compared exactly
    RAG_NEIGHBOUR_CANDIDATES: usize = 32, Count;
    /// the passages of an answer
    RAG_ANSWER_BYTES: usize = 24_000, Bytes;

    // Log and crashes
    /// the request id of the platform in the log
    REQUEST_ID_BYTES: usize = 128, Bytes;
    /// different warnings of one kind about one server that an isolate writes, once each
    WARNINGS: usize = 32, Count;
    /// JSON-RPC ids of a request that are kept for the answer after a crash
    CRASH_ID_BYTES: usize = 16 << 10, Bytes;
    /// header names that are cached as JavaScript strings
    HEADER_NAMES: usize = 64, Count;
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum Unit {
        Bytes,
        Seconds,
        /// The things that the doc comment names.
        Count,
    }

    /// Returns a number with its unit: `4 MiB`, `30 s`, `500 000`.
    fn shown(number: u64, unit: Unit) -> String {
        let grouped = |number: u64| {
            let digits = number.to_string();
            let (first, rest) = digits.split_at(digits.len() % 3);
            let groups = rest.as_bytes().chunks(3).map(|group| str::from_utf8(group).expect("digits"));
            [first].into_iter().chain(groups).filter(|group| !group.is_empty()).collect::<Vec<_>>().join(" ")
        };
        match unit {
            Unit::Bytes if number.is_multiple_of(1 << 20) => format!("{} MiB", number >> 20),
            Unit::Bytes if number.is_multiple_of(1 << 10) => format!("{} KiB", number >> 10),
            Unit::Bytes => format!("{} bytes", grouped(number)),
            Unit::Seconds => format!("{} s", grouped(number)),
            Unit::Count => grouped(number),
        }
    }

    #[test]
    fn the_page_has_each_limit_and_no_other() {
        let page = include_str!("../docs/limits.md");
        let tables = page.split("| limit on | default | set by | effect |\n|---|--:|---|---|\n").skip(1);
        let rows = tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|')));
        let found: Vec<_> = rows.map(|row| row.splitn(4, " | ").take(2).collect::<Vec<_>>().join(" | ")).collect();
        let expected: Vec<_> =
            ALL.iter().map(|(quantity, number, unit)| format!("|{quantity} | {}", shown(*number, *unit))).collect();
        let missing: Vec<_> = expected.iter().filter(|row| !found.contains(row)).collect();
        let other: Vec<_> = found.iter().filter(|row| !expected.contains(row)).collect();
        assert!(missing.is_empty() && other.is_empty(), "docs/limits.md needs {missing:#?} in place of {other:#?}");
        assert_eq!(found, expected, "the rows of docs/limits.md have another order");
    }

    #[test]
    fn numbers_are_formatted_with_units() {
        for (number, unit, expected) in [
            (4 << 20, Unit::Bytes, "4 MiB"),
            (64 << 10, Unit::Bytes, "64 KiB"),
            (256, Unit::Bytes, "256 bytes"),
            (500_000, Unit::Count, "500 000"),
            (100, Unit::Count, "100"),
            (30, Unit::Seconds, "30 s"),
        ] {
            assert_eq!(shown(number, unit), expected);
        }
    }
}
