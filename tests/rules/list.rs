//! The rules of the protocol for a server, with their tests.

/// A rule of the protocol.
pub(crate) struct Rule {
    pub(crate) number: u8,
    /// The requirement for a server.
    pub(crate) text: &'static str,
    pub(crate) coverage: Coverage,
}

/// The tests of a rule.
pub(crate) enum Coverage {
    /// The names of the tests that check the rule.
    TestedBy(&'static [&'static str]),
    /// The files that check the rule outside of these tests: measurements, fuzz targets, and documentation whose code is compiled.
    /// `scripts/test` does not repeat a measurement.
    CheckedIn(&'static [&'static str]),
    /// The reason why the rule does not apply to this server.
    DoesNotApply(&'static str),
}

pub(crate) const fn rule(number: u8, text: &'static str, coverage: Coverage) -> Rule {
    Rule { number, text, coverage }
}

use Coverage::{DoesNotApply, TestedBy};

#[rustfmt::skip]
pub(crate) const RULES: &[Rule] = &[
    // JSON-RPC
    rule(1, "every message is JSON-RPC 2.0 in UTF-8", TestedBy(&["json_rpc::every_response_is_one_json_rpc_message"])),
    rule(2, "a response has the id of its request, with the same value and type", TestedBy(&["json_rpc::responses_have_the_id_of_their_request"])),
    rule(3, "a request whose id is null is invalid", TestedBy(&["json_rpc::json_that_is_not_a_message_is_rejected"])),
    rule(4, "a response has either a result or an error, not both; an error has a code and a message", TestedBy(&["json_rpc::every_response_is_one_json_rpc_message"])),
    rule(5, "a notification gets no response", TestedBy(&["json_rpc::notifications_get_202_without_a_body"])),
    rule(6, "an error has the id of the message if it can be read, and otherwise no id", TestedBy(&["json_rpc::an_error_has_the_id_if_it_can_be_read", "json_rpc::a_body_that_is_not_json_is_rejected"])),
    rule(7, "a body that is not JSON is -32700, and JSON that is not a message is -32600", TestedBy(&["json_rpc::a_body_that_is_not_json_is_rejected", "json_rpc::json_that_is_not_a_message_is_rejected"])),
    rule(8, "reserved error codes are used as the specification defines them, and retired codes are not used", TestedBy(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(9, "other error codes are outside the reserved range", TestedBy(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(10, "every 2026-07-28 result has a `resultType`", TestedBy(&["envelope::results_have_their_envelope"])),
    rule(11, "every 2026-07-28 result has the `serverInfo`", TestedBy(&["envelope::results_have_their_envelope"])),
    rule(12, "results of older revisions have neither, and an empty result is `{}`", TestedBy(&["envelope::results_of_older_revisions_have_no_envelope"])),
    // Envelope, versions, discovery
    rule(13, "an envelope that lacks a key, or has one of a wrong type, is 400 with -32602", TestedBy(&["envelope::a_request_with_a_malformed_envelope_is_rejected"])),
    rule(14, "a request without `clientInfo` is served", TestedBy(&["envelope::client_info_is_optional"])),
    rule(15, "an unsupported version is 400 with -32022, which names the supported versions", TestedBy(&["envelope::unsupported_versions_are_rejected"])),
    rule(16, "the versions that an error names are those of discovery", TestedBy(&["envelope::unsupported_versions_are_rejected"])),
    rule(17, "`server/discover` needs no earlier request", TestedBy(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    rule(18, "declared capabilities are served, and others are not", TestedBy(&["envelope::discovery_declares_the_capabilities_of_the_server", "building::an_empty_server_declares_no_capabilities"])),
    rule(19, "the server uses only capabilities that the request declares", TestedBy(&["input_required::questions_need_a_capability_of_the_same_request"])),
    rule(20, "the server does not infer anything from an earlier request", TestedBy(&["request_isolation::earlier_requests_are_not_remembered"])),
    rule(21, "the behaviour does not depend on the name of the client", TestedBy(&["request_isolation::every_instance_gives_every_client_the_same_response"])),
    rule(22, "no request needs the connection or the process of another", TestedBy(&["request_isolation::every_instance_gives_every_client_the_same_response"])),
    rule(23, "state that spans requests has a name that the client passes", TestedBy(&["input_required::any_instance_can_continue_after_a_question"])),
    rule(24, "a server with modern revisions only names them in its response to `initialize`", DoesNotApply("the server also serves older revisions")),
    rule(25, "an extension that only the client has is ignored", TestedBy(&["envelope::extensions_of_the_client_have_no_effect", "envelope::extensions_are_declared"])),
    rule(26, "keys of `_meta` follow the naming rules", TestedBy(&["envelope::meta_keys_are_those_of_the_specification"])),
    // Streamable HTTP
    rule(27, "there is one endpoint, and it accepts POST", TestedBy(&["streamable_http::other_paths_get_404"])),
    rule(28, "an `Origin` that is not allowed is 403", TestedBy(&["streamable_http::origins_that_are_not_allowed_get_403", "streamable_http::pages_of_allowed_origins_can_read_responses"])),
    rule(29, "a local server listens only on the local host", TestedBy(&["tests/e2e/dev.test.mjs::the server listens only on the loopback address"])),
    rule(30, "`MCP-Protocol-Version` is required and equals the version in the body", TestedBy(&["streamable_http::headers_must_match_the_body"])),
    rule(31, "`Mcp-Method` is required and equals the method in the body, in the same letter case", TestedBy(&["streamable_http::headers_must_match_the_body"])),
    rule(32, "`Mcp-Name` is required for methods with a name, and equals the name in the body", TestedBy(&["streamable_http::headers_must_match_the_body"])),
    rule(33, "header names have any letter case, and space around values is ignored", TestedBy(&["streamable_http::headers_are_normalized_before_the_comparison"])),
    rule(34, "base64 header values are decoded before the comparison", TestedBy(&["streamable_http::headers_are_normalized_before_the_comparison"])),
    rule(35, "`Mcp-Param-*` headers equal the arguments that a tool marks", TestedBy(&["header_params::headers_must_match_marked_arguments"])),
    rule(36, "integers in such headers are compared as numbers, and booleans as words", TestedBy(&["header_params::headers_must_match_marked_arguments"])),
    rule(37, "a tool with an invalid mark is not listed", TestedBy(&["header_params::invalid_header_marks_are_rejected"])),
    rule(38, "an unknown method is 404 with -32601", TestedBy(&["envelope::unknown_methods_get_404"])),
    rule(39, "the response to a request is one JSON object or an event stream", TestedBy(&["json_rpc::every_response_is_one_json_rpc_message", "streams::progress_is_sent_to_requests_with_a_token", "streams::responses_without_notifications_are_json"])),
    rule(40, "an accepted notification is 202 without a body", TestedBy(&["json_rpc::notifications_get_202_without_a_body"])),
    rule(41, "GET and DELETE are 405, and headers of sessions are ignored", TestedBy(&["streamable_http::methods_other_than_post_get_405", "streamable_http::session_headers_are_ignored"])),
    rule(42, "the stream of a response contains no requests to the client", TestedBy(&["streams::progress_is_sent_to_requests_with_a_token"])),
    rule(43, "the response is the last message of its stream", TestedBy(&["streams::progress_is_sent_to_requests_with_a_token", "streams::idle_streams_get_keep_alive_comments"])),
    rule(44, "a client that closes the stream cancels the request", TestedBy(&["streams::a_client_that_closes_the_stream_cancels_the_request"])),
    rule(45, "a batch or a response is 400 in 2026-07-28", TestedBy(&["batches::only_revision_2025_03_26_has_batches", "json_rpc::responses_are_ignored_or_rejected_by_revision"])),
    rule(46, "a header that contradicts the body takes precedence over an unsupported version", TestedBy(&["envelope::unsupported_versions_are_rejected"])),
    // Lists
    rule(47, "six results have a cache hint: a lifetime and a scope", TestedBy(&["envelope::results_have_their_envelope", "caching::the_most_specific_cache_hint_is_sent"])),
    rule(48, "all pages of a list have the same cache hint, and a result for one caller is not public", TestedBy(&["pagination::all_pages_of_a_list_have_one_cache_scope", "caching::public_hints_for_hidden_items_are_rejected", "caching::a_result_that_depends_on_a_header_is_private"])),
    rule(49, "lists depend only on the authorization", TestedBy(&["lists::lists_keep_their_order", "visibility::hidden_items_are_indistinguishable_from_missing_ones"])),
    rule(50, "the order of listed tools does not change", TestedBy(&["lists::lists_keep_their_order"])),
    rule(51, "cursors are valid for their list, others are -32602, and the last page has none", TestedBy(&["pagination::concatenated_pages_are_the_whole_list", "pagination::invalid_cursors_are_rejected", "lists::cursors_that_were_not_issued_are_rejected"])),
    rule(52, "declared features can be listed", TestedBy(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    // Tools
    rule(53, "input schemas describe objects", TestedBy(&["tools::tools_list_describes_each_tool", "building::invalid_definitions_are_rejected_by_name"])),
    rule(54, "schemas are published unchanged", TestedBy(&["schemas::a_schema_is_published_unchanged"])),
    rule(55, "schemas use dialect 2020-12, and other dialects are rejected", TestedBy(&["schemas::schemas_that_cannot_be_enforced_are_rejected"])),
    rule(56, "references to other documents are not followed, and validation is bounded", TestedBy(&["schemas::schemas_that_cannot_be_enforced_are_rejected"])),
    rule(57, "names are unique, have at most 64 characters, and contain only allowed characters", TestedBy(&["building::invalid_definitions_are_rejected_by_name"])),
    rule(58, "an unknown tool, and parameters of a wrong type, are -32602", TestedBy(&["tools::unknown_tools_and_malformed_calls_are_protocol_errors"])),
    rule(59, "invalid arguments give an error result that describes them", TestedBy(&["tools::invalid_arguments_are_an_error_result"])),
    rule(60, "structured content conforms to its schema, and is also sent as text", TestedBy(&["tools::structured_content_is_also_sent_as_text", "older_revisions::structured_content_is_wrapped_for_older_revisions"])),
    rule(61, "a failure is a result, which does not contain its cause", TestedBy(&["tools::the_cause_of_a_failed_tool_is_only_in_the_log"])),
    rule(62, "inputs are validated, access is controlled, and calls are limited", TestedBy(&["tests/auth/rate_limit.rs::each_caller_has_a_limit"])),
    rule(63, "binary content is base64 and has its media type", TestedBy(&["src/protocol/content.rs::each_kind_of_content_is_serialized_as_in_the_schema", "tools::content_blocks_are_sent_unchanged"])),
    rule(64, "`task` is ignored by a server without tasks", TestedBy(&["tools::a_task_parameter_is_ignored"])),
    // Resources
    rule(65, "contents have a URI, and text or base64", TestedBy(&["resources::contents_are_text_or_base64", "resources::resources_list_describes_each_resource"])),
    rule(66, "a missing resource is an error, not empty contents", TestedBy(&["resources::a_missing_resource_is_an_error", "resources::the_cause_of_a_failed_resource_is_only_in_the_log"])),
    rule(67, "URIs are validated, and a template cannot read other resources", TestedBy(&["resources::contents_are_text_or_base64", "crates/uri-template/tests/uri_template/matching.rs::unsafe_values_do_not_match"])),
    rule(68, "resources cannot be subscribed to if subscriptions are not declared", TestedBy(&["legacy::unknown_methods_get_200_with_an_error", "sessions::methods_that_need_a_session_are_rejected_with_a_reason"])),
    // Prompts, completion
    rule(69, "an unknown prompt and missing arguments are -32602", TestedBy(&["prompts::prompts_list_describes_each_prompt_once", "prompts::unknown_prompts_and_versions_are_rejected", "prompts::missing_and_invalid_arguments_are_rejected", "prompts::the_cause_of_a_failed_prompt_is_only_in_the_log"])),
    rule(70, "`completions` is declared if the server completes an argument", TestedBy(&["completion::at_most_100_matching_values_are_suggested"])),
    rule(71, "a completion has at most 100 values, and an unknown reference is -32602", TestedBy(&["completion::at_most_100_matching_values_are_suggested", "completion::invalid_parameters_are_rejected_by_name"])),
    // Multi round-trip requests
    rule(72, "only three methods can ask for input", TestedBy(&["input_required::prompts_and_resources_can_ask_questions"])),
    rule(73, "such a result has questions of known kinds, or a state", TestedBy(&["input_required::any_instance_can_continue_after_a_question", "input_required::a_call_can_have_several_rounds"])),
    rule(74, "the kind and mode of a question are declared by the client", TestedBy(&["input_required::questions_need_a_capability_of_the_same_request"])),
    rule(75, "a request state is treated as hostile", TestedBy(&["input_required::a_state_that_is_not_valid_for_the_call_is_rejected"])),
    rule(76, "a request state is bound to the caller, the call and a lifetime", TestedBy(&["input_required::a_state_that_is_not_valid_for_the_call_is_rejected", "input_required::a_state_expires", "answers::a_state_is_rejected_by_other_servers"])),
    rule(77, "another instance can answer the next round", TestedBy(&["input_required::any_instance_can_continue_after_a_question"])),
    rule(78, "questions without an answer are asked again, and malformed answers are rejected", TestedBy(&["input_required::a_call_can_have_several_rounds", "input_required::malformed_answers_are_rejected", "answers::answers_without_a_question_are_ignored"])),
    rule(79, "declined and cancelled questions are handled, and answers are validated", TestedBy(&["input_required::malformed_answers_are_rejected"])),
    rule(80, "forms are flat and do not ask for secrets", TestedBy(&["input_required::a_nested_form_is_an_internal_error"])),
    rule(81, "sampling with tools answers each tool use", DoesNotApply("the server requests sampling without tools")),
    // Progress, logging, subscriptions
    rule(82, "progress is sent to requests with a token, and only increases", TestedBy(&["streams::progress_is_sent_to_requests_with_a_token"])),
    rule(83, "log messages are sent to requests with a level, on the stream of the request", TestedBy(&["streams::log_messages_are_sent"])),
    rule(84, "`subscriptions/listen` is acknowledged first", TestedBy(&["streams::subscriptions_complete_at_once"])),
    rule(85, "`listChanged` is declared only if the server sends change notifications", TestedBy(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    rule(86, "`subscriptions/listen` without its parameter is -32602", TestedBy(&["streams::subscriptions_complete_at_once"])),
    // Older revisions
    rule(87, "`initialize` accepts a supported version, and offers another one otherwise", TestedBy(&["legacy::initialize_agrees_on_a_revision"])),
    rule(88, "its result declares the capabilities that work, and no others", TestedBy(&["legacy::initialize_agrees_on_a_revision"])),
    rule(89, "requests are served without a handshake", TestedBy(&["legacy::requests_need_no_handshake"])),
    rule(90, "the result of `ping` is `{}`", TestedBy(&["legacy::ping_is_answered"])),
    rule(91, "an unknown version header is 400, and a missing one means 2025-03-26", TestedBy(&["legacy::an_unknown_version_header_is_rejected", "legacy::requests_need_no_handshake"])),
    rule(92, "GET and DELETE are 405, and no session id is needed", TestedBy(&["streamable_http::methods_other_than_post_get_405", "sessions::http_methods_of_sessions_are_rejected_with_a_reason"])),
    rule(93, "session ids are well-formed", DoesNotApply("the server does not issue session ids")),
    rule(94, "2025-03-26 has batches, with a response for each request", TestedBy(&["batches::each_request_of_a_batch_gets_a_response", "batches::invalid_batches_are_rejected", "batches::only_revision_2025_03_26_has_batches"])),
    rule(95, "an unknown method is -32601 in a 200", TestedBy(&["legacy::unknown_methods_get_200_with_an_error"])),
    rule(96, "`notifications/cancelled` is accepted at any time", TestedBy(&["json_rpc::notifications_get_202_without_a_body", "streams::a_client_that_closes_the_stream_cancels_the_request"])),
    rule(97, "the retired code -32042 is not used", TestedBy(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(98, "a tool that needs input from the client returns an error in older revisions", TestedBy(&["input_required::clients_of_older_revisions_cannot_be_asked"])),
    rule(99, "the response to a request has the form of the request's era", TestedBy(&["legacy::initialize_is_a_method_of_older_revisions_only", "legacy::a_modern_header_requires_the_envelope"])),
    rule(100, "both eras are served side by side", TestedBy(&["legacy::requests_of_both_eras_can_alternate"])),
    // Authorization
    rule(101, "a request without a valid token is 401 with a challenge", TestedBy(&["tests/auth/guard.rs::every_request_needs_a_token", "tests/auth/claims.rs::claims_are_checked", "tests/auth/metadata.rs::the_challenge_has_the_url_of_the_metadata"])),
    rule(102, "protected resource metadata is served", TestedBy(&["tests/auth/metadata.rs::the_metadata_has_the_configured_values"])),
    rule(103, "the audience is checked, and tokens are accepted only in the `Authorization` header", TestedBy(&["tests/auth/claims.rs::claims_are_checked", "tests/auth/guard.rs::a_token_in_the_query_is_rejected"])),
    rule(104, "missing scopes are 403 with the required scopes", TestedBy(&["tests/auth/scopes.rs::missing_scopes_are_403"])),
    rule(105, "the `offline_access` scope is not requested", TestedBy(&["tests/auth/metadata.rs::invalid_urls_and_scopes_are_rejected", "tests/auth/scopes.rs::invalid_scopes_are_rejected_when_the_server_is_built"])),
    rule(106, "a malformed `Authorization` header is 400", TestedBy(&["tests/auth/guard.rs::a_malformed_authorization_header_is_400"])),
    rule(107, "every request is authorized", TestedBy(&["tests/auth/guard.rs::every_request_needs_a_token"])),
    rule(108, "older clients find the authorization server", TestedBy(&["tests/auth/metadata.rs::older_clients_are_redirected_to_the_authorization_server"])),
    // Tasks
    rule(109, "tasks, if they are offered, are durable and authorized", DoesNotApply("the server neither offers nor declares tasks")),
];
