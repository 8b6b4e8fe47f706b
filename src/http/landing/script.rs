//! The script of the page.

// The compiler evaluates these functions, and a mistake would not compile.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]

const SOURCE: &str = concat!(
    include_str!("ask.js"),
    include_str!("show.js"),
    include_str!("form.js"),
    include_str!("connect.js"),
    include_str!("page.js"),
);

/// The source without its comments, which are for readers of this repository.
pub(super) const SCRIPT: &str = {
    const LENGTH: usize = copy_code(&mut [0; SOURCE.len()]);
    const CODE: [u8; LENGTH] = {
        let mut code = [0; LENGTH];
        copy_code(&mut code);
        code
    };
    match str::from_utf8(&CODE) {
        Ok(code) => code,
        Err(_) => SOURCE,
    }
};

/// Copies the lines of the source that are not comments. Returns their length.
const fn copy_code(code: &mut [u8]) -> usize {
    let source = SOURCE.as_bytes();
    let (mut at, mut length) = (0, 0);
    while at < source.len() {
        let mut first = at;
        while source[first] == b' ' {
            first += 1;
        }
        // A comment has lines of its own, which begin with `//`, `/**` or ` *`.
        let is_comment = matches!((source[first], source[first + 1]), (b'/', b'/' | b'*') | (b'*', _));
        let mut is_in_line = true;
        while is_in_line {
            if !is_comment {
                code[length] = source[at];
                length += 1;
            }
            is_in_line = source[at] != b'\n';
            at += 1;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_the_source_without_comments() {
        let is_comment = |line: &&str| ["//", "/*", "*"].iter().any(|mark| line.trim_start().starts_with(mark));
        let code: String = SOURCE.split_inclusive('\n').filter(|line| !is_comment(line)).collect();
        assert_eq!(SCRIPT, code);
        assert!(SOURCE.len() > SCRIPT.len() + 1000);
    }
}
