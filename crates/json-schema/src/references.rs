//! The targets of `$ref`: subschemas of the same document, by JSON pointer, by anchor or by `$id`.
//!
//! A subschema is identified by its address in memory. So its identity has the same size, however long the names are that lead to it.
//!
//! Source: JSON Schema 2020-12, Core §8.2, and draft-07, Core §8; RFC 3986 §5 for relative references; RFC 6901 for pointers.

use std::collections::BTreeMap;
use std::ptr;
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::budget::{SUBSCHEMA, Steps, TEXT};
use super::error::SchemaError;
use super::keyword_value::string;

/// Keywords whose value is a schema.
pub(crate) const SCHEMA: [&str; 12] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "not",
    "contentSchema",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas. That of `items` is one in older dialects.
pub(crate) const LISTS: [&str; 5] = ["prefixItems", "items", "allOf", "anyOf", "oneOf"];
/// Keywords whose value is an object of schemas. In `dependencies`, a value may also be a list of names.
pub(crate) const BY_NAME: [&str; 6] =
    ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"];

/// The index of a schema resource.
pub(crate) type ResourceId = usize;

/// A subschema, and the schema resource that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Subschema<'s> {
    pub schema: &'s Value,
    pub resource: ResourceId,
}

/// The schema resources of a document: the whole document, and the subschemas with an `$id` (Core §4.3.5).
#[derive(Default)]
pub(crate) struct References<'s> {
    /// The base URI and the schema of each resource. The base URI is empty for a document without an `$id`.
    resources: Vec<(Rc<str>, &'s Value)>,
    /// The resource of each schema with an `$id`, by the address of the schema.
    by_address: FxHashMap<*const Value, ResourceId>,
    /// The subschemas with a URI: a base URI, or a base URI with an anchor.
    by_uri: BTreeMap<String, Subschema<'s>>,
}

impl<'s> References<'s> {
    /// Collects the schema resources and the anchors in `root`. `hides_siblings` is whether a `$ref` hides an `$id` beside it.
    ///
    /// # Errors
    /// An `$id` is not valid, two subschemas have the same `$id` or the same anchor, or the steps run out.
    pub(super) fn of(root: &'s Value, hides_siblings: bool, steps: &mut Steps) -> Result<Self, Box<SchemaError>> {
        let mut references = Self::default();
        let uri = root.get("$id").map_or(Ok(""), |id| string(id, "$id"))?;
        references.add(root, &joined("", uri))?;
        let mut open = vec![Subschema { schema: root, resource: 0 }];
        while let Some(subschema) = open.pop() {
            steps.take(SUBSCHEMA);
            if steps.are_exhausted() {
                return Err(SchemaError::too_costly());
            }
            let Value::Object(object) = subschema.schema else { continue };
            let resource = if hides_siblings && object.contains_key("$ref") {
                subschema.resource
            } else {
                let read = references.read_names(subschema, object, steps);
                read.map_err(|error| error.within(root, subschema.schema))?
            };
            let nested = |schema| Subschema { schema, resource };
            for (name, value) in object {
                match (name.as_str(), value) {
                    (name, Value::Array(schemas)) if LISTS.contains(&name) => {
                        open.extend(schemas.iter().map(nested));
                    }
                    (name, value) if SCHEMA.contains(&name) => open.push(nested(value)),
                    (name, Value::Object(schemas)) if BY_NAME.contains(&name) => {
                        open.extend(schemas.values().map(nested));
                    }
                    _ => {}
                }
            }
        }
        Ok(references)
    }

    /// Reads the `$id` and the anchors of a subschema. Returns its schema resource.
    fn read_names(
        &mut self,
        subschema: Subschema<'s>,
        object: &'s Map<String, Value>,
        steps: &mut Steps,
    ) -> Result<ResourceId, Box<SchemaError>> {
        let schema = subschema.schema;
        let mut resource = self.resource_of(subschema);
        // In draft-07, an `$id` that is only a fragment is an anchor.
        let mut old_anchor = None;
        if let Some(id) = object.get("$id").filter(|_| !self.by_address.contains_key(&ptr::from_ref(schema))) {
            let id = string(id, "$id")?;
            old_anchor = id.strip_prefix('#').filter(|anchor| !anchor.is_empty());
            if old_anchor.is_none() {
                let uri = self.joined(resource, id, steps)?;
                resource = self.add(schema, &uri)?;
            }
        }
        let anchors = ["$anchor", "$dynamicAnchor"].iter().filter_map(|name| object.get(*name)?.as_str());
        for anchor in anchors.chain(old_anchor) {
            let uri = self.with_anchor(resource, anchor, steps)?;
            let known = self.by_uri.insert(uri, Subschema { schema, resource });
            if known.is_some_and(|known| !ptr::eq(known.schema, schema)) {
                return Err(SchemaError::at("", format!("two schemas have the anchor `{anchor}`")));
            }
        }
        Ok(resource)
    }

    fn add(&mut self, schema: &'s Value, uri: &str) -> Result<ResourceId, Box<SchemaError>> {
        let (uri, resource) = (uri.trim_end_matches('#'), self.resources.len());
        if self.by_uri.insert(uri.to_owned(), Subschema { schema, resource }).is_some() {
            return Err(SchemaError::at("", format!("two schemas have the `$id` `{uri}`")));
        }
        self.by_address.insert(schema, resource);
        self.resources.push((uri.into(), schema));
        Ok(resource)
    }

    /// Returns the schema resource of a subschema that is nested in a schema of `subschema.resource`.
    pub(super) fn resource_of(&self, subschema: Subschema<'s>) -> ResourceId {
        self.by_address.get(&ptr::from_ref(subschema.schema)).copied().unwrap_or(subschema.resource)
    }

    /// Resolves a reference in a schema of `resource`. Returns its target.
    ///
    /// # Errors
    /// The target is not in this document, or the steps run out.
    pub(super) fn resolve(
        &self,
        reference: &str,
        resource: ResourceId,
        steps: &mut Steps,
    ) -> Result<Subschema<'s>, Box<SchemaError>> {
        if !steps.take_for(reference.len(), 1) {
            return Err(SchemaError::too_costly());
        }
        let error = |problem: String| SchemaError::at("/$ref", problem);
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match name {
            "" => Some(resource),
            name => self.by_uri.get(&self.joined(resource, name, steps)?).map(|found| found.resource),
        };
        let Some(resource) = resource else {
            return Err(error(format!("`{reference}` is in another document, which is not fetched")));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            self.at_pointer(resource, &fragment)
        } else {
            self.by_uri.get(&self.with_anchor(resource, &fragment, steps)?).copied()
        };
        target.ok_or_else(|| error(format!("`{reference}` is not in this document")))
    }

    /// Returns the subschema of a resource to which a JSON pointer leads.
    fn at_pointer(&self, resource: ResourceId, pointer: &str) -> Option<Subschema<'s>> {
        let (_, schema) = *self.resources.get(resource)?;
        pointer.split('/').skip(1).try_fold(Subschema { schema, resource }, |Subschema { schema, resource }, token| {
            let schema = schema.pointer(&format!("/{token}"))?;
            Some(Subschema { schema, resource: self.resource_of(Subschema { schema, resource }) })
        })
    }

    /// Resolves `reference` against the base URI of a schema resource.
    ///
    /// # Errors
    /// The steps run out. They are taken before the URI is copied.
    fn joined(&self, resource: ResourceId, reference: &str, steps: &mut Steps) -> Result<String, Box<SchemaError>> {
        Ok(joined(self.base(resource, reference, steps)?, reference))
    }

    /// Returns the URI of an anchor in a schema resource.
    ///
    /// # Errors
    /// The steps run out. They are taken before the URI is copied.
    fn with_anchor(&self, resource: ResourceId, anchor: &str, steps: &mut Steps) -> Result<String, Box<SchemaError>> {
        Ok(format!("{}#{anchor}", self.base(resource, anchor, steps)?))
    }

    /// Returns the base URI of a schema resource, and takes the steps for a copy with `rest`.
    fn base(&self, resource: ResourceId, rest: &str, steps: &mut Steps) -> Result<&str, Box<SchemaError>> {
        let base = self.resources.get(resource).map_or("", |(uri, _)| uri);
        let takes = steps.take(TEXT) && steps.take_for(base.len().saturating_add(rest.len()), 1);
        if takes { Ok(base) } else { Err(SchemaError::too_costly()) }
    }
}

/// Returns whether a reference starts with a scheme (RFC 3986 §3.1).
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
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
            // The first segment of an absolute path is empty, and stays.
            ".." if kept == [""] => {}
            ".." => drop(kept.pop()),
            "." => {}
            segment => kept.push(segment),
        }
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    kept.join("/")
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
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
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
