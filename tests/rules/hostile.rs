//! The hostile behaviour of other servers against which the client is tested, with the tests of each case.
//!
//! The cases 46 to 52 are about sign-in, 61 and 62 about gateways.

use std::fs;
use std::path::Path;

use crate::list::{Coverage, Rule, rule};
use crate::{problems, words_name};

use Coverage::TestedBy;

#[rustfmt::skip]
const CASES: &[Rule] = &[
    rule(1, "the connection ends before the head", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(2, "no answer", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(3, "the head, and then nothing", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(4, "one byte at a time, slowly", TestedBy(&["tests/client/tcp.rs::odd_http_has_its_failure"])),
    rule(5, "status 200 without a body", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(6, "status 204", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(7, "status 202 for a request", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(8, "a web page", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(9, "JSON as text/plain", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(10, "no media type", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(11, "UTF-16", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(12, "incomplete JSON", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(13, "invalid UTF-8", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(14, "a byte order mark before JSON", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(15, "the id twice", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(16, "deep nesting", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(17, "a long string", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(18, "an endless array", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(19, "a `Content-Length` that is less or more than the body", TestedBy(&["tests/client/tcp.rs::odd_http_has_its_failure"])),
    rule(20, "another id, an id of another type, and no id", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(21, "a result and an error", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(22, "neither a result nor an error", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(23, "an error code that is not an integer of 64 bits", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(24, "another version of JSON-RPC", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(25, "an array of one response, and of many", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(26, "the response to another caller next to the response", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(27, "an unknown `resultType`", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/questions.rs::hostile_questions_have_their_failure"])),
    rule(28, "a question in reply to a list request", TestedBy(&["tests/client/questions.rs::the_rounds_of_a_call_are_limited"])),
    rule(29, "questions without end", TestedBy(&["tests/client/questions.rs::the_rounds_of_a_call_are_limited"])),
    rule(30, "questions of kinds that were not declared, too many questions, odd keys, odd URLs, and nested forms", TestedBy(&["tests/client/questions.rs::hostile_questions_have_their_failure", "tests/client/questions.rs::questions_are_answered_by_functions_of_the_program"])),
    rule(31, "a long request state, one that is not a string, and one that is not Unicode", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/questions.rs::hostile_questions_have_their_failure"])),
    rule(32, "request states without questions, without end", TestedBy(&["tests/client/questions.rs::a_state_without_questions_is_sent_back"])),
    rule(33, "a stream with CRLF that is cut at each byte", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(34, "a stream with CR as the end of a line", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(35, "a stream without the last blank line", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(36, "a line without end", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(37, "many notifications, progress that does not grow, and the token of another request", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/streams.rs::listeners_get_only_notifications_of_their_request"])),
    rule(38, "comments without end", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(39, "events without data, of other types, and with odd fields", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(40, "requests of a modern server on a stream", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream", "tests/client/streams.rs::requests_of_a_modern_server_are_not_answered"])),
    rule(41, "many questions of a legacy server", TestedBy(&["tests/client/streams.rs::a_legacy_server_asks_at_most_eight_questions", "tests/client/standing_stream.rs::the_questions_on_the_stream_are_limited"])),
    rule(42, "data after the response", TestedBy(&["tests/client/hostile.rs::a_response_is_read_from_a_stream"])),
    rule(43, "a stream that is cut within the response, and cannot be resumed", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/legacy.rs::a_failed_resumption_is_an_interruption"])),
    rule(44, "redirects to itself, to `http:` and to another server that expects the token", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/tcp.rs::a_redirect_is_not_followed"])),
    rule(45, "a redirect that turns POST into GET", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(53, "each form of `Retry-After`", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(54, "error pages of the platform", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure"])),
    rule(55, "session ids that no header can contain, that are too long, or that change, and sessions that end without end", TestedBy(&["tests/client/hostile_sessions.rs::a_session_that_ends_again_and_again_ends_the_call", "tests/client/hostile_sessions.rs::a_session_has_a_usual_id"])),
    rule(56, "`initialize` with revisions that do not exist, and without capabilities", TestedBy(&["tests/client/hostile_sessions.rs::a_session_that_ends_again_and_again_ends_the_call"])),
    rule(57, "`server/discover` without a common revision, without end, and without revisions", TestedBy(&["tests/client/hostile_sessions.rs::a_negotiation_ends"])),
    rule(58, "lists without end, items that are not valid, and schemas that refer to other places", TestedBy(&["tests/client/hostile_lists.rs::lists_end", "tests/client/hostile_lists.rs::pages_with_few_items_and_long_answers_end", "tests/client/hostile_lists.rs::invalid_items_are_left_out", "tests/client/hostile_lists.rs::definitions_are_data"])),
    rule(59, "definitions with hidden characters, and names that belong to others", TestedBy(&["tests/client/hostile_lists.rs::descriptions_have_no_hidden_characters", "tests/client/hostile_lists.rs::definitions_have_no_hidden_bytes", "src/client/wire/visible_schema.rs::annotations_are_cleaned_or_removed", "src/client/wire/visible_schema.rs::hidden_characters_in_names_and_values_are_found", "tests/client/hostile_lists.rs::tools_do_not_shadow_one_another"])),
    rule(60, "results that do not fit their schema, of unknown types, or that instruct a model", TestedBy(&["tests/client/hostile.rs::each_hostile_answer_has_its_failure", "tests/client/definitions.rs::an_output_schema_is_enforced", "tests/client/hostile_lists.rs::results_are_data", "tests/client/hostile_lists.rs::expensive_output_schemas_are_bounded", "tests/client/hostile_lists.rs::the_text_of_an_error_stays_in_its_quotation"])),
    rule(63, "two callers at the same time with the same id", TestedBy(&["tests/client/hostile_sessions.rs::callers_with_the_same_id_get_their_own_answers"])),
    rule(64, "the token of a caller in the text of a server", TestedBy(&["tests/client/hostile_lists.rs::texts_of_servers_are_not_logged"])),
];

/// Returns whether a comment names the case, or the table below it has a row whose name begins with the number.
fn names_case(comment: &str, file: &str, number: u8) -> bool {
    let is_row = |line: &str| line.trim_start_matches([' ', '(']).starts_with(&format!("\"{number} "));
    words_name("hostile case", comment, number) || file.lines().any(is_row)
}

#[test]
fn every_hostile_case_has_a_test() {
    let numbers: Vec<_> = CASES.iter().map(|case| case.number).collect();
    assert_eq!(numbers, (1..=45).chain(53..=60).chain(63..=64).collect::<Vec<u8>>());
    let problems = problems(CASES, |test, comment, number| {
        let file = test.split("::").next().unwrap_or_default();
        let file = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
        names_case(comment, &file, number)
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn cases_are_found_in_comments_and_rows() {
    for (comment, file, number, named) in [
        ("/// The hostile case 7: x", "", 7, true),
        ("/// The hostile cases 6 and 7, C8: x", "", 7, true),
        ("/// The hostile cases 6 and 7, C8: x", "", 8, false),
        ("/// C7: x", "", 7, false),
        ("", "    (\"7 a case\", 1),", 7, true),
        ("", "    (\"70 a case\", 1),", 7, false),
    ] {
        assert_eq!(names_case(comment, file, number), named, "{comment} {file}");
    }
}
