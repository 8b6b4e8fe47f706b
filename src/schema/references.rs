//! The targets of `$ref`: positions in the same document, by JSON pointer, by anchor or by `$id`.
//!
//! Source: JSON Schema 2020-12, Core §8.2; RFC 3986 §5 for relative references; RFC 6901 for pointers.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::error::SchemaError;
use crate::uri_template::has_scheme;

/// Keywords whose value is a schema.
const SCHEMA: [&str; 10] = [
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "not",
    "contentSchema",
    "unevaluatedItems",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["prefixItems", "allOf", "anyOf", "oneOf"];
/// Keywords whose value is an object of schemas.
const BY_NAME: [&str; 4] = ["$defs", "properties", "patternProperties", "dependentSchemas"];

/// The base URI of a document without an `$id`.
const NAMELESS: &str = "";

/// The positions in a schema that references can name, as JSON pointers.
pub(super) struct References<'s> {
    root: &'s Value,
    /// The positions of the whole schema and of the subschemas with an `$id`, by base URI.
    resources: BTreeMap<String, String>,
    /// The positions of anchors, by base URI, `#` and anchor.
    anchors: BTreeMap<String, String>,
    /// The base URI of each position in `resources`.
    bases: BTreeMap<String, String>,
}

impl<'s> References<'s> {
    /// Collects the targets in `root`.
    ///
    /// # Errors
    /// Two subschemas have the same `$id` or the same anchor.
    pub(super) fn of(root: &'s Value) -> Result<Self, Box<SchemaError>> {
        let (resources, anchors, bases) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut references = Self { root, resources, anchors, bases };
        let mut open = vec![(root, String::new(), NAMELESS.to_owned())];
        while let Some((schema, pointer, base)) = open.pop() {
            let Value::Object(object) = schema else { continue };
            let named = object.get("$id").and_then(Value::as_str).map(|id| joined(&base, id));
            let base = named.unwrap_or(base);
            if pointer.is_empty() || object.contains_key("$id") {
                let base = base.trim_end_matches('#').to_owned();
                if references.resources.insert(base.clone(), pointer.clone()).is_some() {
                    return Err(SchemaError::at(&pointer, format!("two schemas have the `$id` `{base}`")));
                }
                references.bases.insert(pointer.clone(), base);
            }
            for anchor in ["$anchor", "$dynamicAnchor"].iter().filter_map(|name| object.get(*name)?.as_str()) {
                let name = format!("{}#{anchor}", base.trim_end_matches('#'));
                if references.anchors.insert(name, pointer.clone()).is_some_and(|known| known != pointer) {
                    return Err(SchemaError::at(&pointer, format!("two schemas have the anchor `{anchor}`")));
                }
            }
            for (name, value) in object {
                let at = format!("{pointer}/{name}");
                match (name.as_str(), value) {
                    (name, value) if SCHEMA.contains(&name) => open.push((value, at, base.clone())),
                    (name, Value::Array(schemas)) if LISTS.contains(&name) => {
                        let pointers = (0_usize..).map(|nth| format!("{at}/{nth}"));
                        open.extend(
                            schemas.iter().zip(pointers).map(|(schema, pointer)| (schema, pointer, base.clone())),
                        );
                    }
                    (name, Value::Object(schemas)) if BY_NAME.contains(&name) => {
                        let pointer = |name: &str| format!("{at}/{}", escaped(name));
                        open.extend(schemas.iter().map(|(name, schema)| (schema, pointer(name), base.clone())));
                    }
                    _ => {}
                }
            }
        }
        Ok(references)
    }

    /// Resolves `reference`, which is in the schema at `pointer`. Returns the position of the target.
    ///
    /// # Errors
    /// The target is not in this document.
    pub(super) fn resolve(&self, reference: &str, pointer: &str) -> Result<String, String> {
        let target = joined(self.base(pointer), reference);
        let (name, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let Some(resource) = self.resources.get(name) else {
            return Err(format!("`{reference}` is in another document, which is not fetched"));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let found = if fragment.is_empty() {
            Some(resource.clone())
        } else if fragment.starts_with('/') {
            Some(format!("{resource}{fragment}"))
        } else {
            self.anchors.get(&format!("{name}#{fragment}")).cloned()
        };
        let found = found.filter(|pointer| self.root.pointer(pointer).is_some());
        found.ok_or_else(|| format!("`{reference}` is not in this document"))
    }

    /// Returns the base URI of a position: the base URI of the innermost enclosing schema with an `$id`.
    fn base(&self, pointer: &str) -> &str {
        let mut pointer = pointer;
        loop {
            if let Some(base) = self.bases.get(pointer) {
                return base;
            }
            match pointer.rfind('/') {
                Some(end) => pointer = pointer.get(..end).unwrap_or_default(),
                None => return NAMELESS,
            }
        }
    }
}

/// Resolves `reference` against `base` (RFC 3986 §5.2).
fn joined(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or_default();
    if reference.starts_with('#') || reference.is_empty() {
        return format!("{base}{reference}");
    }
    // A base without a scheme and an authority is only a path.
    let path_at = base.find("://").map_or(0, |scheme| {
        let authority_at = scheme.saturating_add(3);
        let authority = base.get(authority_at..).unwrap_or_default();
        authority_at.saturating_add(authority.find('/').unwrap_or(authority.len()))
    });
    let (origin, path) = base.split_at_checked(path_at).unwrap_or((base, ""));
    if let Some(network_path) = reference.strip_prefix("//") {
        let scheme = base.split_once(':').map_or("", |(scheme, _)| scheme);
        return format!("{scheme}://{network_path}");
    }
    let (wanted, fragment) =
        reference.split_once('#').map_or((reference, String::new()), |(path, fragment)| (path, format!("#{fragment}")));
    let path = path.split('?').next().unwrap_or_default();
    let whole = match () {
        () if wanted.starts_with('/') => wanted.to_owned(),
        () if wanted.starts_with('?') => format!("{path}{wanted}"),
        () => format!(
            "{}{wanted}",
            path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or(if origin.is_empty() { "" } else { "/" })
        ),
    };
    format!("{origin}{}{fragment}", without_dots(&whole))
}

/// Removes dot segments (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            ".." => drop(kept.pop().filter(|segment| !segment.is_empty())),
            "." => {}
            segment => kept.push(segment),
        }
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    kept.join("/")
}

/// Escapes a name as a reference token of a JSON pointer (RFC 6901 §3).
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::joined;

    /// The examples of RFC 3986 §5.4 that are possible for a `$ref`.
    #[test]
    fn relative_references_are_resolved() {
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("./../g", "http://a/b/g"),
        ] {
            assert_eq!(joined("http://a/b/c/d;p?q", reference), expected, "{reference}");
        }
        for (base, reference, expected) in [
            ("", "item.json", "item.json"),
            ("", "#/$defs/a", "#/$defs/a"),
            ("urn:uuid:deadbeef", "#/$defs/a", "urn:uuid:deadbeef#/$defs/a"),
            ("http://a", "b.json", "http://a/b.json"),
            ("Node", "Node", "Node"),
            ("schemas/a.json", "b.json#x", "schemas/b.json#x"),
        ] {
            assert_eq!(joined(base, reference), expected, "{base} {reference}");
        }
    }
}
