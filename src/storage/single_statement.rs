//! The check that a text is one statement, and no statement for transactions.
//!
//! D1 runs several statements of one text, but only the last one can have parameters, and its result is the only one.

/// The first words of statements that a program cannot run. [`Database::batch`](super::Database::batch) runs its statements in a
/// transaction.
const REFUSED: &[&str] = &["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM"];

/// Checks a statement.
///
/// # Errors
/// The problem, as a part of a sentence.
pub(super) fn check(sql: &str) -> Result<(), String> {
    let sql = sql.trim_ascii();
    let first = sql.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    if let Some(refused) = REFUSED.iter().find(|word| word.eq_ignore_ascii_case(first)) {
        return Err(format!("`{refused}` is not available: use `Database::batch` for a transaction"));
    }
    if sql.is_empty() {
        return Err("the text has no statement".to_owned());
    }
    match after_semicolon(sql.as_bytes()).trim_ascii() {
        [] => Ok(()),
        _ => Err("the text has several statements: use `Database::batch`".to_owned()),
    }
}

/// Returns the text after the first semicolon that ends a statement. Semicolons in strings, quoted names and comments do not.
fn after_semicolon(mut sql: &[u8]) -> &[u8] {
    loop {
        sql = match sql {
            [] => return sql,
            [b';', rest @ ..] => return rest,
            [b'-', b'-', rest @ ..] => after(rest, b"\n"),
            [b'/', b'*', rest @ ..] => after(rest, b"*/"),
            [b'[', rest @ ..] => after(rest, b"]"),
            // A doubled quote in a string is read as the end of a string and the start of another one.
            [quote @ (b'\'' | b'"' | b'`'), rest @ ..] => after(rest, &[*quote]),
            [_, rest @ ..] => rest,
        };
    }
}

/// Returns the text after `end`, or nothing if `end` does not occur.
fn after<'t>(text: &'t [u8], end: &[u8]) -> &'t [u8] {
    let at = text.windows(end.len()).position(|part| part == end);
    at.and_then(|at| text.get(at.saturating_add(end.len())..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_statement() {
        for sql in [
            "SELECT 1",
            "SELECT 1;",
            " SELECT 1 ; \n\t",
            "SELECT ';', \";\", `;`, [;] -- ; comment",
            "SELECT 'it''s; fine'",
            "/* ; */ SELECT 1 /* ;",
            "SELECT 1 -- ;\n + 2;",
            "ENDING",
        ] {
            assert_eq!(check(sql), Ok(()), "{sql}");
        }
        for (sql, problem) in [
            ("", "no statement"),
            (" \n", "no statement"),
            ("SELECT 1; SELECT 2", "several"),
            ("SELECT 1;;", "several"),
            ("SELECT 1; -- comment", "several"),
            ("SELECT ''';'; SELECT 2", "several"),
            ("SELECT '--'; SELECT 2", "several"),
            ("CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END", "several"),
            ("begin", "`BEGIN` is not available"),
            (" Commit;", "`COMMIT` is not available"),
            ("ATTACH ':memory:' AS b", "`ATTACH` is not available"),
        ] {
            let error = check(sql).expect_err(sql);
            assert!(error.contains(problem), "{sql}: {error}");
        }
    }
}
