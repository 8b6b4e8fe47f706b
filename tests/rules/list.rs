//! The list.

/// One rule.
pub(crate) struct Rule {
    pub(crate) number: u8,
    /// What it asks of a server.
    pub(crate) text: &'static str,
    pub(crate) place: Where,
}

/// Where a rule is held.
pub(crate) enum Where {
    /// By these tests.
    Held(&'static [&'static str]),
    /// Nowhere, for a reason.
    DoesNotApply(&'static str),
}

const fn rule(number: u8, text: &'static str, place: Where) -> Rule {
    Rule { number, text, place }
}

use Where::{DoesNotApply, Held};

#[rustfmt::skip]
pub(crate) const RULES: &[Rule] = &[
    // JSON-RPC
    rule(1, "every message is JSON-RPC 2.0 in UTF-8", Held(&["json_rpc::every_response_is_one_json_rpc_message"])),
    rule(2, "a response has the id of its request, value and type", Held(&["json_rpc::responses_have_the_id_of_their_request"])),
    rule(3, "a request whose id is null is invalid", Held(&["json_rpc::json_that_is_not_a_message_is_rejected"])),
    rule(4, "a response has a result or an error, never both; an error has a code and a message", Held(&["json_rpc::every_response_is_one_json_rpc_message"])),
    rule(5, "a notification is never answered", Held(&["json_rpc::notifications_get_202_without_a_body"])),
    rule(6, "an error has the id where it could be read, and none where it could not", Held(&["json_rpc::an_error_has_the_id_if_it_can_be_read", "json_rpc::a_body_that_is_not_json_is_rejected"])),
    rule(7, "what is no JSON is -32700, what is no message is -32600", Held(&["json_rpc::a_body_that_is_not_json_is_rejected", "json_rpc::json_that_is_not_a_message_is_rejected"])),
    rule(8, "codes that the specification reserves are used as it says, retired ones never", Held(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(9, "codes of one's own lie outside the reserved range", Held(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(10, "every 2026-07-28 result has a `resultType`", Held(&["envelope::results_have_their_envelope"])),
    rule(11, "every 2026-07-28 result says who the server is", Held(&["envelope::results_have_their_envelope"])),
    rule(12, "older results have none of it, and an empty one is `{}`", Held(&["envelope::results_of_older_revisions_have_no_envelope"])),
    // Envelope, versions, discovery
    rule(13, "an envelope that lacks a key, or has one of a wrong type, is 400 with -32602", Held(&["envelope::a_request_with_a_malformed_envelope_is_rejected"])),
    rule(14, "a request without `clientInfo` is served", Held(&["envelope::client_info_is_optional"])),
    rule(15, "a version that is not served is 400 with -32022, which names those that are", Held(&["envelope::unsupported_versions_are_rejected"])),
    rule(16, "the versions that an error names are those of discovery", Held(&["envelope::unsupported_versions_are_rejected"])),
    rule(17, "`server/discover` is served without anything before it", Held(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    rule(18, "what is declared is served, and what is not is not", Held(&["envelope::discovery_declares_the_capabilities_of_the_server", "building::an_empty_server_declares_no_capabilities"])),
    rule(19, "a capability that the request does not declare is not relied on", Held(&["input_required::questions_need_a_capability_of_the_same_request"])),
    rule(20, "nothing is inferred from an earlier request", Held(&["one_request::earlier_requests_are_not_remembered"])),
    rule(21, "nothing depends on what the client calls itself", Held(&["one_request::every_instance_gives_every_client_the_same_response"])),
    rule(22, "no request needs the connection or the process of another", Held(&["one_request::every_instance_gives_every_client_the_same_response"])),
    rule(23, "state that spans requests has a name that the client passes", Held(&["input_required::any_instance_can_continue_after_a_question"])),
    rule(24, "a server of modern revisions alone names them to `initialize`", DoesNotApply("older revisions are served too")),
    rule(25, "an extension that only the client has is left alone", Held(&["envelope::extensions_of_the_client_have_no_effect", "envelope::extensions_are_declared"])),
    rule(26, "keys of `_meta` follow the naming rules", Held(&["envelope::meta_keys_are_those_of_the_specification"])),
    // Streamable HTTP
    rule(27, "there is one endpoint, and it takes POST", Held(&["streamable_http::other_paths_get_404"])),
    rule(28, "a foreign Origin is 403", Held(&["streamable_http::origins_that_are_not_allowed_get_403", "streamable_http::pages_of_allowed_origins_can_read_responses"])),
    rule(29, "a local server listens on the local host alone", Held(&["tests/e2e/dev.test.mjs::the server listens on this machine alone"])),
    rule(30, "`MCP-Protocol-Version` is there and says what the body says", Held(&["streamable_http::headers_must_match_the_body"])),
    rule(31, "so does `Mcp-Method`, whose case counts", Held(&["streamable_http::headers_must_match_the_body"])),
    rule(32, "so does `Mcp-Name`, where the method has one", Held(&["streamable_http::headers_must_match_the_body"])),
    rule(33, "names of headers have any case, space around values does not count", Held(&["streamable_http::headers_are_normalized_before_the_comparison"])),
    rule(34, "marked values are decoded before they are compared", Held(&["streamable_http::headers_are_normalized_before_the_comparison"])),
    rule(35, "`Mcp-Param-*` headers mirror the arguments that a tool marks", Held(&["header_params::headers_must_match_marked_arguments"])),
    rule(36, "such integers compare as numbers, booleans as words", Held(&["header_params::headers_must_match_marked_arguments"])),
    rule(37, "a tool that marks arguments wrongly is not listed", Held(&["header_params::invalid_header_marks_are_rejected"])),
    rule(38, "a method that is not there is 404 with -32601", Held(&["envelope::unknown_methods_get_404"])),
    rule(39, "a request is answered by one JSON object or by an event stream", Held(&["json_rpc::every_response_is_one_json_rpc_message", "live::progress_is_sent_to_requests_with_a_token", "live::responses_without_notifications_are_json"])),
    rule(40, "a notification that is accepted is 202 without a body", Held(&["json_rpc::notifications_get_202_without_a_body"])),
    rule(41, "GET and DELETE are 405, and what belongs to sessions is ignored", Held(&["streamable_http::methods_other_than_post_get_405", "streamable_http::session_headers_are_ignored"])),
    rule(42, "no request is sent to the client on the stream of an answer", Held(&["live::progress_is_sent_to_requests_with_a_token"])),
    rule(43, "the answer ends its stream", Held(&["live::progress_is_sent_to_requests_with_a_token", "live::idle_streams_get_keep_alive_comments"])),
    rule(44, "a client that closes the stream has cancelled", Held(&["live::a_client_that_closes_the_stream_cancels_the_request"])),
    rule(45, "a batch or a response is 400 in 2026-07-28", Held(&["batches::only_revision_2025_03_26_has_batches", "json_rpc::responses_are_ignored_or_rejected_by_revision"])),
    rule(46, "a header that contradicts the body outranks a version that is not served", Held(&["envelope::unsupported_versions_are_rejected"])),
    // Lists
    rule(47, "six results say for how long and for whom they hold", Held(&["envelope::results_have_their_envelope", "caching::the_most_specific_cache_hint_is_sent"])),
    rule(48, "all pages of a list say the same, and nothing of one caller is public", Held(&["pagination::all_pages_of_a_list_have_one_cache_scope", "caching::public_hints_for_hidden_items_are_rejected", "caching::a_result_that_depends_on_a_header_is_private"])),
    rule(49, "lists vary by authorization, and by nothing else", Held(&["lists::lists_keep_their_order", "visibility::hidden_items_are_indistinguishable_from_missing_ones"])),
    rule(50, "tools are listed in one order", Held(&["lists::lists_keep_their_order"])),
    rule(51, "cursors hold, foreign ones are -32602, the last page has none", Held(&["pagination::concatenated_pages_are_the_whole_list", "pagination::invalid_cursors_are_rejected", "lists::cursors_that_were_not_issued_are_rejected"])),
    rule(52, "what is declared can be listed", Held(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    // Tools
    rule(53, "input schemas are of objects", Held(&["tools::tools_list_describes_each_tool", "building::invalid_definitions_are_rejected_by_name"])),
    rule(54, "schemas are passed on word for word", Held(&["schemas::a_schema_is_published_unchanged"])),
    rule(55, "2020-12 is the dialect; another is refused", Held(&["schemas::schemas_that_cannot_be_enforced_are_rejected"])),
    rule(56, "references to other documents are not followed, and checking is bounded", Held(&["schemas::schemas_that_cannot_be_enforced_are_rejected"])),
    rule(57, "names are of the allowed letters, at most 64, each once", Held(&["building::invalid_definitions_are_rejected_by_name"])),
    rule(58, "an unknown tool, and parameters of a wrong type, are -32602", Held(&["tools::unknown_tools_and_malformed_calls_are_protocol_errors"])),
    rule(59, "arguments that do not fit are a result that says so", Held(&["tools::invalid_arguments_are_an_error_result"])),
    rule(60, "structured content conforms to its schema, and is text too", Held(&["tools::structured_content_is_also_sent_as_text", "older_revisions::structured_content_is_wrapped_for_older_revisions"])),
    rule(61, "a failure is a result, and its inside stays inside", Held(&["tools::the_cause_of_a_failed_tool_is_only_in_the_log"])),
    rule(62, "inputs are checked, access is controlled, calls are limited", Held(&["tests/auth/rate_limit.rs::each_caller_has_a_limit"])),
    rule(63, "binary content is base64 and has its media type", Held(&["src/protocol/content.rs::each_kind_has_its_form", "tools::content_blocks_are_sent_unchanged"])),
    rule(64, "`task` means nothing where there are no tasks", Held(&["tools::a_task_parameter_is_ignored"])),
    // Resources
    rule(65, "contents have a URI, and text or base64", Held(&["resources::contents_are_text_or_base64", "resources::resources_list_describes_each_resource"])),
    rule(66, "what is not there is an error, never empty contents", Held(&["resources::a_missing_resource_is_an_error", "resources::the_cause_of_a_failed_resource_is_only_in_the_log"])),
    rule(67, "URIs are checked, and lead nowhere else", Held(&["resources::contents_are_text_or_base64", "tests/uri_template/matching.rs::a_value_is_no_trick"])),
    rule(68, "what is not declared cannot be subscribed to", Held(&["legacy::unknown_methods_get_200_with_an_error", "sessions::methods_that_need_a_session_are_rejected_with_a_reason"])),
    // Prompts, completion
    rule(69, "an unknown prompt and missing arguments are -32602", Held(&["prompts::prompts_list_describes_each_prompt_once", "prompts::unknown_prompts_and_versions_are_rejected", "prompts::missing_and_invalid_arguments_are_rejected", "prompts::the_cause_of_a_failed_prompt_is_only_in_the_log"])),
    rule(70, "`completions` is declared where something is completed", Held(&["completion::at_most_100_matching_values_are_suggested"])),
    rule(71, "at most 100 values; what is unknown is -32602", Held(&["completion::at_most_100_matching_values_are_suggested", "completion::invalid_parameters_are_rejected_by_name"])),
    // Multi round-trip requests
    rule(72, "only three methods may ask for input", Held(&["input_required::prompts_and_resources_can_ask_questions"])),
    rule(73, "such an answer has questions or a state, of known kinds", Held(&["input_required::any_instance_can_continue_after_a_question", "input_required::a_call_can_have_several_rounds"])),
    rule(74, "no question of an undeclared kind or mode", Held(&["input_required::questions_need_a_capability_of_the_same_request"])),
    rule(75, "a request state is taken for hostile", Held(&["input_required::a_state_that_is_not_valid_for_the_call_is_rejected"])),
    rule(76, "a request state is bound to who, when and what", Held(&["input_required::a_state_that_is_not_valid_for_the_call_is_rejected", "input_required::a_state_expires", "answers::a_state_is_rejected_by_other_servers"])),
    rule(77, "another instance can answer the retry", Held(&["input_required::any_instance_can_continue_after_a_question"])),
    rule(78, "missing answers are asked for again, malformed ones refused", Held(&["input_required::a_call_can_have_several_rounds", "input_required::malformed_answers_are_rejected", "answers::answers_without_a_question_are_ignored"])),
    rule(79, "declining and cancelling are handled, answers are checked", Held(&["input_required::malformed_answers_are_rejected"])),
    rule(80, "no secret is asked for in a form; forms are flat", Held(&["input_required::a_nested_form_is_an_internal_error"])),
    rule(81, "sampling with tools answers each tool use", DoesNotApply("sampling is asked for without tools")),
    // Progress, logging, subscriptions
    rule(82, "progress goes to whoever gave a token, and only grows", Held(&["live::progress_is_sent_to_requests_with_a_token"])),
    rule(83, "log messages go to whoever gave a level, on that stream", Held(&["live::log_messages_are_sent"])),
    rule(84, "`subscriptions/listen` is acknowledged first", Held(&["live::subscriptions_complete_at_once"])),
    rule(85, "`listChanged` is declared only if changes are told", Held(&["envelope::discovery_declares_the_capabilities_of_the_server"])),
    rule(86, "`subscriptions/listen` without its parameter is -32602", Held(&["live::subscriptions_complete_at_once"])),
    // Older revisions
    rule(87, "`initialize` agrees on the version asked for, or offers another", Held(&["legacy::initialize_agrees_on_a_revision"])),
    rule(88, "its result says what works, and no more", Held(&["legacy::initialize_agrees_on_a_revision"])),
    rule(89, "requests are served without a handshake", Held(&["legacy::requests_need_no_handshake"])),
    rule(90, "`ping` is answered with `{}`", Held(&["legacy::ping_is_answered"])),
    rule(91, "an unknown version header is 400; none stands for 2025-03-26", Held(&["legacy::an_unknown_version_header_is_rejected", "legacy::requests_need_no_handshake"])),
    rule(92, "GET and DELETE are 405; no session id is needed", Held(&["streamable_http::methods_other_than_post_get_405", "sessions::http_methods_of_sessions_are_rejected_with_a_reason"])),
    rule(93, "a session id that is given out is well-formed", DoesNotApply("none is ever given out")),
    rule(94, "2025-03-26 has batches: an answer for each request", Held(&["batches::each_request_of_a_batch_gets_a_response", "batches::invalid_batches_are_rejected", "batches::only_revision_2025_03_26_has_batches"])),
    rule(95, "an unknown method is -32601 in a 200", Held(&["legacy::unknown_methods_get_200_with_an_error"])),
    rule(96, "`notifications/cancelled` may come at any time", Held(&["json_rpc::notifications_get_202_without_a_body", "live::a_client_that_closes_the_stream_cancels_the_request"])),
    rule(97, "the retired code -32042 is not used", Held(&["json_rpc::error_codes_are_those_of_the_specification"])),
    rule(98, "a tool that needs the client's input says that it cannot have it", Held(&["input_required::clients_of_older_revisions_cannot_be_asked"])),
    rule(99, "neither era is answered in the terms of the other", Held(&["legacy::initialize_is_a_method_of_older_revisions_only", "legacy::a_modern_header_requires_the_envelope"])),
    rule(100, "both eras are served side by side", Held(&["legacy::requests_of_both_eras_can_alternate"])),
    // Authorization
    rule(101, "no good token: 401 with a challenge", Held(&["tests/auth/guard.rs::every_request_needs_a_token", "tests/auth/claims.rs::claims_are_checked", "tests/auth/metadata.rs::the_challenge_names_the_document"])),
    rule(102, "protected-resource metadata is served", Held(&["tests/auth/metadata.rs::the_document_says_where_tokens_come_from"])),
    rule(103, "the audience is checked; tokens come in no other way", Held(&["tests/auth/claims.rs::claims_are_checked", "tests/auth/guard.rs::the_query_carries_no_token"])),
    rule(104, "too few scopes: 403 with those that are needed", Held(&["tests/auth/scopes.rs::scopes_are_needed"])),
    rule(105, "`offline_access` is not asked for", Held(&["tests/auth/metadata.rs::mistakes_are_refused_where_they_are_made", "tests/auth/scopes.rs::bad_scopes_are_refused_by_name"])),
    rule(106, "a malformed authorization is 400", Held(&["tests/auth/guard.rs::a_malformed_header_is_told_apart"])),
    rule(107, "every request is authorized anew", Held(&["tests/auth/guard.rs::every_request_needs_a_token"])),
    rule(108, "older clients find the authorization server", Held(&["tests/auth/metadata.rs::older_clients_are_shown_the_way"])),
    // Tasks
    rule(109, "tasks, where they are offered, are durable and authorized", DoesNotApply("no tasks are offered, and none declared")),
];
