//! Where references lead: to places in the same document, by pointer, by anchor, or by the name that a part of it has.
//!
//! Source: JSON Schema 2020-12, Core §8.2; RFC 3986 §5 for relative references; RFC 6901 for pointers.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::compile::{SchemaError, escaped};

/// Keywords that hold schemas: themselves, in a list, or by name.
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
const LISTS: [&str; 4] = ["prefixItems", "allOf", "anyOf", "oneOf"];
const BY_NAME: [&str; 4] = ["$defs", "properties", "patternProperties", "dependentSchemas"];

/// The base that stands for a document without a name.
const NAMELESS: &str = "";

/// What references can name.
pub(super) struct References<'s> {
    root: &'s Value,
    /// The places of the parts that have a name of their own (`$id`), by that name without fragment, and of the whole.
    resources: BTreeMap<String, String>,
    /// The places that have an anchor, by the name of the part they are in, `#`, and the anchor.
    anchors: BTreeMap<String, String>,
    /// The base of each place that has one of its own.
    bases: BTreeMap<String, String>,
}

impl<'s> References<'s> {
    /// Looks through the whole of `root`.
    pub(super) fn of(root: &'s Value) -> Result<Self, SchemaError> {
        let (resources, anchors, bases) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut references = Self { root, resources, anchors, bases };
        let mut open = vec![(root, String::new(), NAMELESS.to_owned())];
        while let Some((schema, place, base)) = open.pop() {
            let Value::Object(object) = schema else { continue };
            let named = object.get("$id").and_then(Value::as_str).map(|id| joined(&base, id));
            let base = named.unwrap_or(base);
            if place.is_empty() || object.contains_key("$id") {
                let base = base.trim_end_matches('#').to_owned();
                if references.resources.insert(base.clone(), place.clone()).is_some() {
                    return Err(SchemaError::at(&place, format!("`$id`: two schemas have the name `{base}`")));
                }
                references.bases.insert(place.clone(), base);
            }
            for anchor in ["$anchor", "$dynamicAnchor"].iter().filter_map(|name| object.get(*name)?.as_str()) {
                let name = format!("{}#{anchor}", base.trim_end_matches('#'));
                if references.anchors.insert(name, place.clone()).is_some_and(|known| known != place) {
                    return Err(SchemaError::at(&place, format!("two schemas have the anchor `{anchor}`")));
                }
            }
            for (name, value) in object {
                let at = format!("{place}/{name}");
                match (name.as_str(), value) {
                    (name, value) if SCHEMA.contains(&name) => open.push((value, at, base.clone())),
                    (name, Value::Array(schemas)) if LISTS.contains(&name) => {
                        let places = (0_usize..).map(|nth| format!("{at}/{nth}"));
                        open.extend(schemas.iter().zip(places).map(|(schema, place)| (schema, place, base.clone())));
                    }
                    (name, Value::Object(schemas)) if BY_NAME.contains(&name) => {
                        let place = |name: &str| format!("{at}/{}", escaped(name));
                        open.extend(schemas.iter().map(|(name, schema)| (schema, place(name), base.clone())));
                    }
                    _ => {}
                }
            }
        }
        Ok(references)
    }

    /// The place that `reference`, in the schema at `place`, leads to.
    pub(super) fn resolve(&self, reference: &str, place: &str) -> Result<String, String> {
        let target = joined(self.base(place), reference);
        let (name, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let Some(resource) = self.resources.get(name) else {
            return Err(format!("`{reference}` is another document, and none is fetched"));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let found = if fragment.is_empty() {
            Some(resource.clone())
        } else if fragment.starts_with('/') {
            Some(format!("{resource}{fragment}"))
        } else {
            self.anchors.get(&format!("{name}#{fragment}")).cloned()
        };
        let found = found.filter(|place| self.root.pointer(place).is_some());
        found.ok_or_else(|| format!("`{reference}` is not in this document"))
    }

    /// The base of a place: that of the nearest part around it which has one.
    fn base(&self, place: &str) -> &str {
        let mut place = place;
        loop {
            if let Some(base) = self.bases.get(place) {
                return base;
            }
            match place.rfind('/') {
                Some(end) => place = place.get(..end).unwrap_or_default(),
                None => return NAMELESS,
            }
        }
    }
}

/// `reference`, which is relative to `base` (RFC 3986 §5.2).
fn joined(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or_default();
    if reference.starts_with('#') || reference.is_empty() {
        return format!("{base}{reference}");
    }
    // A base without a scheme and an authority is all path.
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

/// RFC 3986 §5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut steps = path.split('/').peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        match step {
            ".." => drop(kept.pop().filter(|step| !step.is_empty())),
            "." => {}
            step => kept.push(step),
        }
        if is_last && matches!(step, "." | "..") {
            kept.push("");
        }
    }
    kept.join("/")
}

fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::joined;

    /// The examples of RFC 3986 §5.4 that a reference to a schema can be.
    #[test]
    fn relative_references_are_joined() {
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
