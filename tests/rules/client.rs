//! The rules for the MCP client, with their tests. The numbers have the prefix `C`.

use crate::list::{Coverage, Rule, rule};

use Coverage::TestedBy;

#[rustfmt::skip]
pub(crate) const CLIENT_RULES: &[Rule] = &[
    // Configuration
    rule(1, "an invalid name, a name that is used twice, an invalid URL and a reserved header are rejected by name", TestedBy(&["tests/client/configuration.rs::each_mistake_is_named", "tests/client/configuration.rs::invalid_clients_are_rejected"])),
    rule(2, "a client, a connection and the end of an unused connection send nothing", TestedBy(&["tests/client/configuration.rs::a_connection_sends_nothing"])),
    // Requests and answers
    rule(16, "an answer has the id of its request, and exactly one of a result and an error", TestedBy(&["src/protocol/reply.rs::messages_of_a_server_are_read", "tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(20, "redirects are not followed, and the error has the new `https:` URL", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(21, "a program cannot set headers that the client or the runtime sets", TestedBy(&["tests/client/configuration.rs::invalid_clients_are_rejected"])),
    rule(22, "an event stream is read as the HTML standard says, wherever it is cut", TestedBy(&["src/client/sse.rs::every_line_end_ends_a_line", "src/client/sse.rs::fields_are_read_as_the_standard_says", "src/client/sse.rs::an_incomplete_event_is_not_returned", "tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(24, "the response ends the exchange, and the rest of the stream is not read", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    // Negotiation
    rule(36, "each answer of a server has one reaction of the negotiation", TestedBy(&["src/client/negotiation.rs::each_answer_has_its_reaction"])),
    rule(37, "a tool call is never the first request to a server", TestedBy(&["tests/client/calls.rs::a_call_is_preceded_by_a_probe"])),
    rule(38, "a server may reject the revision that it supports, once", TestedBy(&["src/client/negotiation.rs::a_rejected_revision_is_sent_once_more"])),
    // Errors
    rule(51, "an error has no text of a body that is not JSON-RPC, of a header, or of the query of a URL", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tokens.rs::an_answer_without_a_token_is_an_error"])),
    rule(52, "a call is sent again only if it was not executed, or if it may be repeated", TestedBy(&["tests/client/calls.rs::a_failed_call_is_not_repeated"])),
    rule(53, "the error of a call with an unknown outcome says so", TestedBy(&["tests/client/calls.rs::a_failed_call_is_not_repeated"])),
    rule(54, "the status of an answer counts before its body", TestedBy(&["tests/client/hostile.rs::a_result_with_an_error_status_does_not_count"])),
    rule(57, "a list is read to its end or to a limit", TestedBy(&["tests/client/sources.rs::all_pages_of_a_list_are_read"])),
    // Credentials
    rule(60, "the token of the caller is never sent to another server", TestedBy(&["tests/client/tokens.rs::the_token_of_the_caller_is_never_passed_on"])),
    rule(61, "debug output has no token", TestedBy(&["tests/client/tokens.rs::debug_output_has_no_token"])),
    rule(62, "a machine token is for one resource, is kept until shortly before its end, and is replaced once", TestedBy(&["tests/client/tokens.rs::a_machine_token_is_requested_for_the_server", "tests/client/tokens.rs::a_machine_token_is_kept_until_its_end", "tests/client/tokens.rs::a_rejected_token_is_replaced_once", "tests/client/tokens.rs::missing_scopes_do_not_request_a_token"])),
    rule(76, "the client authenticates with `client_secret_basic` or `client_secret_post`", TestedBy(&["tests/client/tokens.rs::a_machine_token_is_requested_for_the_server"])),
    rule(78, "the answer of a token endpoint has a bearer token, and every other answer is an error", TestedBy(&["tests/client/tokens.rs::an_answer_without_a_token_is_an_error"])),
    // Sources
    rule(94, "a server that fails does not empty a list, and is named", TestedBy(&["tests/client/sources.rs::a_server_that_fails_is_named", "tests/client/agents.rs::an_agent_answers_without_a_server_that_fails"])),
];
