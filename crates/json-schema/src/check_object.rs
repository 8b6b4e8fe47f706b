//! The check of an object's members, in one pass.

use super::budget::{COMPARED, MEMBER};
use super::check::Check;
use super::mistake::Segment;
use super::program::{NameId, ObjectRule};
use super::types::Types;
use edge_json::Value;
use edge_json::shortened;

/// The number of names whose bits are initialized in one step.
const NAMES_SEEN: usize = 256;

/// The names of an [`ObjectRule`] that an object has, as bits. Few rules have more than 64 names, so the first word is inline.
struct Seen {
    first: u64,
    others: Vec<u64>,
}

impl Seen {
    fn new(names: usize) -> Self {
        Self { first: 0, others: vec![0; names.saturating_sub(1) / 64] }
    }

    fn add(&mut self, name: NameId) {
        let word = match (name / 64).checked_sub(1) {
            None => Some(&mut self.first),
            Some(other) => self.others.get_mut(other),
        };
        if let Some(word) = word {
            *word |= 1 << (name % 64);
        }
    }

    fn has(&self, name: NameId) -> bool {
        let word = match (name / 64).checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        };
        word.is_some_and(|word| *word >> (name % 64) & 1 == 1)
    }
}

impl<'d> Check<'_, 'd> {
    #[inline(never)]
    pub(super) fn object_fits(&mut self, object: &ObjectRule, value: Value<'d>) -> bool {
        if !self.steps.take_for(object.names.len(), NAMES_SEEN) {
            return false;
        }
        let mut seen = Seen::new(object.names.len());
        let mut fits = true;
        for (name, member) in value.pairs() {
            if !self.steps.take(MEMBER) {
                return false;
            }
            if let Some(rule) = object.property_names {
                fits &= self.fits_inside(Segment::Key(name.position()), rule, name);
            }
            fits &= self.member_fits(object, name, member, &mut seen);
            if !fits && self.is_done() {
                return false;
            }
        }
        if !self.steps.take_for(object.required.len(), COMPARED) {
            return false;
        }
        for name in &object.required {
            if !seen.has(*name) {
                fits = self.fail_at(object.names.get(*name), "is required");
                if self.is_done() {
                    return false;
                }
            }
        }
        if !object.dependent_required.is_empty() || !object.dependent_schemas.is_empty() {
            fits &= self.dependencies_fit(object, value, &seen);
        }
        fits && !self.steps.are_exhausted()
    }

    /// Checks `dependentRequired` and `dependentSchemas`.
    #[inline(never)]
    fn dependencies_fit(&mut self, object: &ObjectRule, value: Value<'d>, seen: &Seen) -> bool {
        let mut fits = true;
        for (given, names) in &object.dependent_required {
            if !self.steps.take(1) || !seen.has(*given) {
                continue;
            }
            if !self.steps.take_for(names.len(), COMPARED) {
                return false;
            }
            for name in names.iter().filter(|name| !seen.has(**name)) {
                let given = shortened(object.names.get(*given));
                fits = self.fail_at(object.names.get(*name), &format!("is required because `{given}` is present"));
                if self.is_done() {
                    return false;
                }
            }
        }
        for (given, rule) in &object.dependent_schemas {
            if self.steps.take(1) && seen.has(*given) {
                fits &= self.fits(*rule, value);
                if !fits && self.is_done() {
                    return false;
                }
            }
        }
        fits
    }

    /// Checks a member: `properties`, then `patternProperties`, and `additionalProperties` if neither applies.
    fn member_fits(&mut self, object: &ObjectRule, name: Value<'d>, member: Value<'d>, seen: &mut Seen) -> bool {
        let text = self.content(name);
        if !self.steps.take_for(text.len(), COMPARED) || !self.steps.take(object.names.cost()) {
            return false;
        }
        let known = object.names.find(&text);
        if let Some(known) = known {
            seen.add(known);
        }
        let mut fits = true;
        let own = known.and_then(|known| object.properties.get(known).copied().flatten());
        let segment = Segment::Member(name.position());
        if let Some(rule) = own {
            fits &= self.fits_inside(segment, rule, member);
        }
        let mut is_other = own.is_none();
        for (pattern, rule) in &object.patterns {
            if self.searches.is_found(&self.program.patterns, *pattern, &text, &mut self.steps) {
                is_other = false;
                fits &= self.fits_inside(segment, *rule, member);
            }
            if !fits && self.is_done() {
                return false;
            }
        }
        match object.others {
            Some(rule) if is_other && self.program.rule(rule).types == Types::NONE => {
                self.unknown_property(object, &text)
            }
            Some(rule) if is_other => fits & self.fits_inside(segment, rule, member),
            _ => fits,
        }
    }
}
