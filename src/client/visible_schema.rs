//! Characters in the texts of other servers that a person does not see, but a model reads.

use serde_json::Value;

use crate::protocol::description::is_deceptive;

/// Returns a text without invisible characters and characters that reorder text. Line feeds and tabs stay.
pub(super) fn visible(mut text: String) -> String {
    text.retain(|character| matches!(character, '\n' | '\t') || !is_deceptive(character));
    text
}

/// Returns the beginning of a text, of at most `longest` bytes, on one line and without such characters.
pub(super) fn shown(text: &str, longest: usize) -> String {
    let mut shown = text.to_owned();
    shown.retain(|character| !is_deceptive(character));
    shown.truncate(shown.floor_char_boundary(longest));
    shown
}

/// Removes such characters from the titles and the descriptions in a schema. Returns whether there were any.
pub(super) fn clean_descriptions(schema: &mut Value) -> bool {
    let mut is_changed = false;
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| is_changed |= clean_descriptions(item)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "title" || name == "description" => {
                        let clean = visible(text.clone());
                        is_changed |= clean != *text;
                        *text = clean;
                    }
                    _ => is_changed |= clean_descriptions(member),
                }
            }
        }
        _ => {}
    }
    is_changed
}
