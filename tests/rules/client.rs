//! The rules for the MCP client, with their tests. The numbers have the prefix `C`.

use crate::list::{Coverage, Rule, rule};

use Coverage::TestedBy;

#[rustfmt::skip]
pub(crate) const CLIENT_RULES: &[Rule] = &[
    // Configuration and connections
    rule(1, "an invalid name, a name that is used twice, an invalid URL and a reserved header are rejected by name", TestedBy(&["tests/client/configuration.rs::each_mistake_is_named", "tests/client/configuration.rs::invalid_clients_are_rejected"])),
    rule(2, "a client, a connection and the end of an unused connection send nothing", TestedBy(&["tests/client/configuration.rs::a_connection_sends_nothing", "tests/client/legacy.rs::without_a_session_nothing_is_sent"])),
    rule(3, "connections of two callers at the same time share no credential, session, progress or cached list", TestedBy(&["tests/client/lists.rs::callers_do_not_share_lists", "tests/client/hostile_sessions.rs::callers_with_the_same_id_get_their_own_answers"])),
    rule(4, "a session and a credential end with their connection", TestedBy(&["tests/client/requests.rs::a_session_belongs_to_its_connection"])),
    // Requests
    rule(5, "each message has its own POST", TestedBy(&["tests/client/requests.rs::headers_repeat_the_message"])),
    rule(6, "each request has its own id, also one that is sent again", TestedBy(&["tests/client/requests.rs::ids_are_never_used_again"])),
    rule(7, "the headers of a modern request repeat its body", TestedBy(&["tests/client/requests.rs::headers_repeat_the_message"])),
    rule(8, "a header value that is not visible ASCII is encoded as base64", TestedBy(&["tests/client/definitions.rs::arguments_are_repeated_in_headers"])),
    rule(9, "headers repeat the arguments that a tool marks, and a tool with an invalid mark is left out", TestedBy(&["tests/client/definitions.rs::arguments_are_repeated_in_headers", "tests/client/definitions.rs::a_tool_with_invalid_marks_is_left_out", "tests/client/definitions.rs::a_listed_tool_is_called_with_its_headers"])),
    rule(10, "a call whose headers do not match is sent once more, after the tools were listed", TestedBy(&["tests/client/definitions.rs::a_call_without_required_headers_is_sent_once_more", "tests/client/definitions.rs::a_mismatch_overrides_a_cached_list"])),
    rule(11, "the `_meta` of a request asks for notifications only if there is a listener", TestedBy(&["tests/client/streams.rs::listeners_get_only_notifications_of_their_request", "tests/client/streams.rs::without_a_listener_no_notifications_are_requested"])),
    rule(12, "the `User-Agent` names the client", TestedBy(&["tests/client/requests.rs::requests_name_the_client"])),
    rule(13, "a legacy server chooses one of the legacy revisions", TestedBy(&["tests/client/requests.rs::a_legacy_server_chooses_the_revision"])),
    rule(14, "the answer to `notifications/initialized` comes before the first request", TestedBy(&["tests/client/requests.rs::a_rejected_notification_ends_the_call"])),
    rule(15, "a server is not asked for a list whose capability it does not declare", TestedBy(&["tests/client/lists.rs::a_server_without_prompts_has_no_prompts"])),
    // Answers
    rule(16, "an answer has the id of its request, and exactly one of a result and an error", TestedBy(&["src/protocol/reply.rs::messages_of_a_server_are_read", "tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tcp.rs::hostile_answers_over_tcp_have_the_same_failures"])),
    rule(18, "the length that an answer states is not believed, and the limit counts what is read", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tcp.rs::odd_http_has_its_failure"])),
    rule(19, "an answer without content to a request is not valid", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(20, "redirects are not followed, and the error has the new `https:` URL", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tcp.rs::a_redirect_is_not_followed"])),
    rule(21, "a program cannot set headers that the client or the runtime sets", TestedBy(&["tests/client/configuration.rs::invalid_clients_are_rejected"])),
    rule(22, "an event stream is read as the HTML standard says, wherever it is cut", TestedBy(&["src/client/wire/sse.rs::every_line_end_ends_a_line", "src/client/wire/sse.rs::fields_are_read_as_the_standard_says", "src/client/wire/sse.rs::an_incomplete_event_is_not_returned", "tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(24, "the response ends the exchange, and the rest of the stream is not read", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(25, "only notifications that belong to the request count, and a changed list is requested again", TestedBy(&["tests/client/lists.rs::a_changed_list_is_requested_again", "tests/client/streams.rs::listeners_get_only_notifications_of_their_request", "tests/client/streams.rs::a_legacy_server_gets_the_log_level"])),
    rule(26, "requests of a modern server on a stream are not answered", TestedBy(&["tests/client/streams.rs::requests_of_a_modern_server_are_not_answered"])),
    rule(27, "an interrupted stream of a legacy server is resumed, at most twice", TestedBy(&["tests/client/legacy.rs::an_interrupted_stream_is_resumed", "tests/client/legacy.rs::a_resumption_waits_as_long_as_the_server_states", "tests/client/legacy.rs::a_failed_resumption_is_an_interruption"])),
    rule(28, "a request that is dropped or late is cancelled", TestedBy(&["tests/client/legacy.rs::a_late_request_is_cancelled", "tests/client/legacy.rs::a_cancellation_has_a_time_limit", "tests/client/legacy.rs::a_dropped_request_is_cancelled"])),
    rule(29, "a request with all its repetitions has a time limit", TestedBy(&["tests/client/legacy.rs::a_request_has_a_total_limit"])),
    // Questions of a server
    rule(30, "only calls, prompts and resources can ask, and a state without questions is sent back at most three times", TestedBy(&["tests/client/questions.rs::a_state_without_questions_is_sent_back", "tests/client/questions.rs::hostile_questions_have_their_failure", "tests/client/questions.rs::the_rounds_of_a_call_are_limited", "tests/client/questions.rs::questions_of_this_library_are_answered", "tests/client/questions.rs::resources_and_prompts_ask"])),
    rule(31, "the next round has the same parameters, the answers and the state that was sent", TestedBy(&["tests/client/questions.rs::questions_are_answered_by_functions_of_the_program", "tests/client/questions.rs::a_state_belongs_to_its_round"])),
    rule(32, "the declared capabilities are those that the program can answer", TestedBy(&["src/client/questions/handlers.rs::capabilities_are_declared_in_the_form_of_the_revision", "tests/client/questions.rs::questions_are_answered_by_functions_of_the_program", "tests/client/questions.rs::a_state_belongs_to_its_round", "tests/client/questions.rs::hostile_questions_have_their_failure"])),
    rule(33, "rounds, questions and their sizes are bounded", TestedBy(&["tests/client/questions.rs::hostile_questions_have_their_failure", "tests/client/questions.rs::the_rounds_of_a_call_are_limited", "tests/client/questions.rs::a_function_that_fails_ends_the_call", "tests/client/questions.rs::the_questions_of_a_round_are_answered_at_the_same_time", "tests/client/streams.rs::a_legacy_server_asks_at_most_eight_questions"])),
    rule(34, "an answer has the defaults of its form and fits it, and only `https:` URLs are shown", TestedBy(&["src/client/questions/answer.rs::an_answer_has_the_defaults_of_its_form", "src/client/questions/question.rs::only_https_urls_are_asked", "tests/client/questions.rs::a_function_that_fails_ends_the_call", "tests/client/questions.rs::questions_of_this_library_are_answered"])),
    rule(35, "questions of a legacy server are answered within its session", TestedBy(&["tests/client/streams.rs::questions_of_a_legacy_server_are_answered", "tests/client/streams.rs::a_legacy_server_without_a_session_gets_no_answer", "tests/client/streams.rs::a_legacy_server_asks_at_most_eight_questions", "tests/client/streams.rs::pings_do_not_count_as_questions", "tests/client/streams.rs::a_legacy_server_learns_that_there_is_no_answer"])),
    // Negotiation and sessions
    rule(36, "each answer of a server has one reaction of the negotiation", TestedBy(&["src/client/session/negotiation.rs::each_answer_has_its_reaction", "tests/client/retries.rs::a_call_is_repeated_only_after_a_proof"])),
    rule(37, "a tool call is never the first request to a server", TestedBy(&["tests/client/calls.rs::a_call_is_preceded_by_a_probe"])),
    rule(38, "a server may reject the revision that it supports, once", TestedBy(&["src/client/session/negotiation.rs::a_rejected_revision_is_sent_once_more"])),
    rule(39, "a server without a common revision is an error that names its revisions", TestedBy(&["tests/client/requests.rs::a_legacy_server_chooses_the_revision", "tests/client/requests.rs::offered_revisions_are_bounded"])),
    rule(40, "a session belongs to its connection", TestedBy(&["tests/client/requests.rs::a_session_belongs_to_its_connection"])),
    rule(41, "the id of a session comes from the answer to `initialize`, and is at most 512 characters long", TestedBy(&["tests/client/requests.rs::a_session_belongs_to_its_connection", "tests/client/requests.rs::an_invalid_session_id_is_not_used", "tests/client/hostile_sessions.rs::a_session_has_a_usual_id"])),
    rule(42, "the end of a connection ends its sessions, and the caller does not wait for it", TestedBy(&["tests/client/legacy.rs::a_session_is_ended", "tests/client/legacy.rs::without_a_session_nothing_is_sent"])),
    rule(43, "a revision that the program sets is not negotiated", TestedBy(&["src/client/session/negotiation.rs::a_set_revision_has_no_other_era", "tests/client/requests.rs::a_set_revision_is_not_negotiated", "tests/client/requests.rs::a_set_era_does_not_expire"])),
    // Lists
    rule(44, "a cached list belongs to the credential with which it was requested", TestedBy(&["tests/client/lists.rs::a_list_is_cached", "tests/client/lists.rs::callers_do_not_share_lists"])),
    rule(45, "incomplete lists, failures and answers without a hint are not cached", TestedBy(&["tests/client/lists.rs::some_lists_are_not_cached", "tests/client/hostile_lists.rs::a_list_with_many_reasons_is_not_cached"])),
    rule(46, "an expired list replaces the list of a server that fails, for a limited time", TestedBy(&["tests/client/lists.rs::a_stale_list_replaces_the_list_of_a_server_that_fails"])),
    rule(47, "tasks of a connection share a request for the same list, and connections do not", TestedBy(&["tests/client/lists.rs::tasks_of_a_connection_share_a_request"])),
    rule(48, "the number of requests of a connection is limited, and a limited number of servers is asked at once", TestedBy(&["tests/client/lists.rs::a_slow_server_does_not_delay_the_others"])),
    // Errors
    rule(49, "the body of each answer is read to its end or dropped", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(50, "a tool that fails has a result, not an error of the client", TestedBy(&["tests/client/results.rs::a_tool_that_fails_has_a_result"])),
    rule(51, "an error has no text of a body that is not JSON-RPC, of a header, or of the query of a URL", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tokens.rs::an_answer_without_a_token_is_an_error"])),
    rule(52, "a call is sent again only if the server proves that it did not execute it, or if it may be repeated", TestedBy(&["tests/client/retries.rs::a_call_is_repeated_only_after_a_proof", "tests/client/retries.rs::a_payment_is_made_once", "tests/client/retries.rs::a_session_is_replaced_once", "tests/client/retries.rs::the_next_call_negotiates_after_a_contradiction", "tests/client/retries.rs::the_error_of_a_call_is_about_all_its_attempts", "tests/client/retries.rs::a_failed_call_is_not_sent_again_in_a_later_round", "tests/client/retries.rs::a_cancelled_call_is_not_sent_again_in_a_later_round", "tests/client/retries.rs::a_call_with_new_headers_is_sent_once_in_all_rounds", "tests/client/retries.rs::no_random_server_gets_a_call_twice_without_a_proof", "tests/client/calls.rs::a_failed_call_is_not_repeated", "tests/client/definitions.rs::hints_of_trusted_servers_permit_a_second_call"])),
    rule(53, "the error of a call states that its outcome is unknown", TestedBy(&["tests/client/retries.rs::a_payment_is_made_once", "tests/client/calls.rs::a_failed_call_is_not_repeated"])),
    rule(54, "the status of an answer counts before its body", TestedBy(&["tests/client/hostile.rs::a_result_with_an_error_status_does_not_count"])),
    // Lists and results
    rule(56, "an answer that exceeds a limit is dropped at once", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(57, "a list is read to its end or to a limit", TestedBy(&["tests/client/sources.rs::all_pages_of_a_list_are_read", "tests/client/hostile_lists.rs::lists_end", "tests/client/hostile_lists.rs::pages_with_few_items_and_long_answers_end"])),
    rule(58, "a definition keeps its text, and no reference in it is resolved", TestedBy(&["tests/client/definitions.rs::a_definition_keeps_its_text", "tests/client/hostile_lists.rs::definitions_are_data"])),
    rule(59, "the result of a tool fits its output schema", TestedBy(&["tests/client/definitions.rs::an_output_schema_is_enforced", "src/client/operations/definition.rs::only_small_output_schemas_are_cached", "tests/client/costly_schemas.rs::an_output_schema_that_takes_too_long_to_compile_is_not_enforced", "tests/client/costly_schemas.rs::the_calls_of_a_request_share_the_steps_for_schemas"])),
    // Credentials
    rule(60, "the token of the caller is never sent to another server", TestedBy(&["tests/client/tokens.rs::the_token_of_the_caller_is_never_passed_on"])),
    rule(61, "debug output has no token", TestedBy(&["tests/client/tokens.rs::debug_output_has_no_token"])),
    rule(62, "an issued token is for one resource, is kept until shortly before its end, and is replaced once", TestedBy(&["tests/client/tokens.rs::a_token_is_requested_for_the_server", "tests/client/tokens.rs::the_resource_has_no_query", "tests/client/tokens.rs::an_issued_token_is_kept_until_its_end", "tests/client/tokens.rs::a_rejected_token_is_replaced_once", "tests/client/tokens.rs::missing_scopes_do_not_request_a_token"])),
    rule(76, "the client authenticates with `client_secret_basic` or `client_secret_post`", TestedBy(&["tests/client/tokens.rs::a_token_is_requested_for_the_server"])),
    rule(78, "the answer of a token endpoint has a bearer token, and every other answer is an error", TestedBy(&["tests/client/tokens.rs::an_answer_without_a_token_is_an_error"])),
    // Sources
    rule(94, "a server that fails does not empty a list, and is named", TestedBy(&["tests/client/sources.rs::a_server_that_fails_is_named", "tests/client/agents.rs::an_agent_answers_without_a_server_that_fails"])),
    // Questions that are passed on
    rule(111, "the state of another server is inside the encrypted state of this server", TestedBy(&["tests/client/passed_questions.rs::questions_are_passed_to_the_caller", "tests/client/passed_questions.rs::the_state_of_the_server_is_hidden", "tests/client/passed_questions.rs::questions_pass_through_two_servers"])),
    rule(112, "the answers of the caller continue the call of the other server", TestedBy(&["tests/client/passed_questions.rs::questions_are_passed_to_the_caller", "tests/client/passed_questions.rs::questions_pass_through_two_servers"])),
    rule(113, "a passed question names the server that asks, and cannot point to this program", TestedBy(&["src/client/questions/passed.rs::a_passed_question_names_its_server", "tests/client/passed_questions.rs::questions_are_passed_to_the_caller", "tests/client/passed_questions.rs::a_url_of_this_program_is_not_passed_on", "tests/client/passed_questions.rs::a_url_of_the_request_is_not_passed_on", "src/client/questions/passed.rs::a_passed_question_cannot_imitate_another_server", "tests/client/passed_questions.rs::each_line_of_a_question_names_its_server"])),
    rule(114, "if the caller cannot be asked, the client declares no elicitation, and the error explains this", TestedBy(&["tests/client/passed_questions.rs::a_caller_that_cannot_be_asked_gets_an_error"])),
    rule(115, "a state without questions does not reach the caller", TestedBy(&["tests/client/passed_questions.rs::a_state_without_questions_does_not_reach_the_caller"])),
    rule(116, "a finished call is not sent again in a later round, unless it may be repeated", TestedBy(&["tests/client/passed_questions.rs::a_call_is_a_step", "tests/client/passed_questions.rs::an_idempotent_call_is_sent_in_each_round", "tests/client/passed_questions.rs::a_read_only_call_is_sent_in_each_round", "tests/client/parallel_calls.rs::calls_at_two_servers_are_steps_of_their_own", "tests/client/parallel_calls.rs::questions_of_two_servers_belong_to_their_calls", "tests/client/parallel_calls.rs::a_remote_call_and_an_own_call_are_steps_of_their_own"])),
    rule(122, "an error of the client becomes the error of a handler, with the sentence for the caller", TestedBy(&["tests/client/results.rs::a_tool_that_fails_has_a_result"])),
];
