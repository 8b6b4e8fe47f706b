//! Removal of comments, strings and tests from Rust code.

/// Returns the code of `text` without comments, string and character literals, and items under `#[cfg(test)]`.
pub(crate) fn code(text: &str) -> String {
    without_tests(&without_strings(text))
}

/// Replaces each comment, and each string or character literal, with a space.
fn without_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let literal = length_of_literal(rest).filter(|_| !code.ends_with(is_word));
        if let Some(length) = length_of_comment(rest).or(literal) {
            code.push(' ');
            rest = rest.get(length..).unwrap_or_default();
        } else {
            code.push(next);
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
        }
    }
    code
}

fn length_of_comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next()?.len_utf8();
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the length of the string, raw string or character literal at the beginning of `text`, or `None`. A lifetime such as `'a` is
/// not a literal.
fn length_of_literal(text: &str) -> Option<usize> {
    let after_prefix = text.strip_prefix(['b', 'c']).unwrap_or(text);
    if let Some(raw) = after_prefix.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw.get(hashes..)?.strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(text.len() - inside.len() + inside.find(&end)? + end.len());
    }
    let quote = after_prefix.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inside = after_prefix.get(1..)?;
    let mut characters = inside.char_indices();
    let first = characters.clone().next()?.1;
    let is_lifetime = quote == '\'' && first != '\\' && !inside.get(first.len_utf8()..)?.starts_with('\'');
    if is_lifetime {
        return None;
    }
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(text.len() - inside.len() + at + 1);
        }
    }
    None
}

/// Removes each item under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, item)) = rest.split_once(MARK) {
        kept.push_str(before);
        rest = item.get(length_of_item(item)..).unwrap_or_default();
    }
    kept + rest
}

/// Returns the length of the item at the beginning of `code`: to its first `;`, or to the end of its first block.
pub(crate) fn length_of_item(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(character, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}

pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[test]
fn comments_literals_and_tests_are_removed() {
    let text = r##"
        // crate::comment
        /* crate::outer /* crate::inner */ crate::outer */
        fn f<'a>(x: &'a str) -> char { g("crate::string \" crate::more", r#"crate::"raw"#, b'"', '\'', 'x') }
        #[cfg(test)]
        use crate::tested;
        #[cfg(test)]
        mod tests { fn t() { crate::tested() } }
        fn h() { crate::code() }
    "##;
    let code = code(text);
    assert_eq!(code.matches("crate::").count(), 1, "{code}");
    assert!(code.contains("crate::code()") && code.contains("fn f<'a>(x: &'a str) -> char { g("), "{code}");
}
