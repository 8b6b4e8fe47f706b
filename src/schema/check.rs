//! Whether a value fits, and the mistakes in one that does not.
//!
//! One pass over the value does both: it goes on after a mistake until it has found the first ten. Only where alternatives are tried
//! (`anyOf`, `oneOf`, `not`, `if`, `contains`) a mistake is no more than an answer, and the first one ends the question; `explain` then
//! says which alternative came closest. The work is counted (`steps`), and a value that would take too much is rejected.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};
use std::ops::RangeInclusive;

use super::memo::Memo;
use super::mistake::Step;
use super::pattern::Searches;
use super::program::{
    Alternatives, Bound, Enum, Keyword, Measure, NameId, Number, ObjectRule, Program, RuleId, Tag, Types,
};
use super::steps::{
    CANONICAL, CANONICAL_VALUE, CHILD, COMPARED, COUNTED, DECIMAL, DECODED, DIGITS, FIND, FORMATTED, HASHED, KEYWORD,
    MEMBER, MULTIPLE, NUMBER, REMEMBER, SCHEMA, Steps, UNIQUE,
};
use crate::limits::{CHECK_STEPS, EXPLANATION_STEPS, MISTAKES, RULES_WITHIN_RULES};
use crate::protocol::decimal::Decimal;
use crate::protocol::error::shortened;
use crate::protocol::json::{Kind, Value, canonical, is_whole};
use crate::protocol::short_decimal::ShortDecimal;

/// Names of a rule that a step is enough to keep account of.
const NAMES_SEEN: usize = 256;
/// Values in one whose answer is remembered: to look at a smaller one again takes less.
const MEMORABLE: u32 = 8;

/// How a value is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// `format` is more than an annotation.
    pub formats: bool,
    /// Mistakes say what kind of value they are about, and no more.
    pub hides_values: bool,
}

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// A line for each of the first ten mistakes, or none.
    pub mistakes: Vec<String>,
    /// The steps that it took, at most [`Schema::MOST_STEPS`](super::Schema::MOST_STEPS).
    pub steps: u32,
}

/// Checks `value`.
pub(super) fn check(program: &Program, value: Value<'_>, manner: Manner) -> Checked {
    let mut check = Check {
        program,
        root: value,
        manner,
        steps: Steps::of(CHECK_STEPS),
        explanation: Some(EXPLANATION_STEPS),
        depth: 0,
        is_trying: false,
        memo: Memo::default(),
        searches: Searches::default(),
        path: Vec::new(),
        mistakes: Vec::new(),
    };
    let fits = check.fits(0, value);
    if check.mistakes.is_empty() && (!fits || check.steps.are_exhausted()) {
        check.mistakes.push("this takes too long to check: send less at once, or nest it less deeply".to_owned());
    }
    let left = check.steps.left().saturating_add(check.explanation.unwrap_or_default());
    let steps = CHECK_STEPS.saturating_add(EXPLANATION_STEPS).saturating_sub(left);
    Checked { mistakes: check.mistakes, steps }
}

/// A check of one value.
pub(super) struct Check<'p, 'd> {
    pub program: &'p Program,
    pub root: Value<'d>,
    pub manner: Manner,
    pub steps: Steps,
    /// Steps that are left for saying which alternatives came closest; `None` while that is done.
    pub explanation: Option<u32>,
    depth: u32,
    /// Whether an alternative is tried: mistakes are not noted then.
    pub is_trying: bool,
    memo: Memo,
    searches: Searches,
    /// The way to the value that is looked at.
    pub path: Vec<Step>,
    pub mistakes: Vec<String>,
}

/// Which names of an [`ObjectRule`] an object has, a bit for each. Few rules have more names than the first word has bits.
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
    /// Whether nothing that is still found would matter, once there is a mistake.
    pub(super) fn is_done(&self) -> bool {
        self.is_trying || self.mistakes.len() >= MISTAKES || self.steps.are_exhausted()
    }

    /// Whether `value` fits a rule; if not, the mistakes are noted.
    pub(super) fn fits(&mut self, id: RuleId, value: Value<'d>) -> bool {
        if self.depth >= RULES_WITHIN_RULES {
            self.steps.exhaust();
        }
        if !self.steps.take(SCHEMA) {
            return false;
        }
        let rule = self.program.rule(id);
        if !self.is_a(rule.types, value) {
            return self.fail(|check| check.wrong_type(rule.types, value));
        }
        // Alternatives that contain themselves lead to the same questions again and again.
        let is_remembered = value.count() >= MEMORABLE && Memo::is_worth_it(&self.steps) && self.steps.take(REMEMBER);
        if is_remembered && let Some(fits) = self.memo.get(id, value.position()) {
            // A mistake that was found while an alternative was tried has not been noted.
            if fits || self.is_trying {
                return fits;
            }
        }
        self.depth = self.depth.saturating_add(1);
        let program = self.program;
        let mut fits = true;
        for keyword in &program.rule(id).keywords {
            fits &= self.steps.take(KEYWORD) && self.keyword_fits(keyword, value);
            if !fits && self.is_done() {
                break;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        if is_remembered && !self.steps.are_exhausted() {
            self.memo.set(id, value.position(), fits);
        }
        fits
    }

    /// The same for a value that is in the one that is looked at.
    fn fits_inside(&mut self, step: Step, rule: RuleId, value: Value<'d>) -> bool {
        if self.is_trying {
            return self.fits(rule, value);
        }
        self.path.push(step);
        let fits = self.fits(rule, value);
        self.path.pop();
        fits
    }

    /// Whether `value` fits a rule, without a word.
    pub(super) fn would_fit(&mut self, rule: RuleId, value: Value<'d>) -> bool {
        let was_trying = std::mem::replace(&mut self.is_trying, true);
        let fits = self.fits(rule, value);
        self.is_trying = was_trying;
        fits
    }

    /// Notes a mistake, and is `false`.
    pub(super) fn fail(&mut self, mistake: impl FnOnce(&mut Self) -> String) -> bool {
        if !self.is_trying && !self.steps.are_exhausted() && self.mistakes.len() < MISTAKES {
            let mistake = mistake(self);
            self.note(&mistake);
        }
        false
    }

    fn keyword_fits(&mut self, keyword: &Keyword, value: Value<'d>) -> bool {
        let fits = match keyword {
            // These note their mistakes themselves.
            Keyword::Items { prefix, rest } => return self.items_fit(prefix, *rest, value),
            Keyword::Object(object) => return value.kind() != Kind::Object || self.object_fits(object, value),
            Keyword::If { condition, then, otherwise } => {
                let rule = if self.would_fit(*condition, value) { then } else { otherwise };
                return rule.is_none_or(|rule| self.fits(rule, value));
            }
            Keyword::AllOf(rules) => {
                let mut fits = true;
                for rule in rules {
                    fits &= self.fits(*rule, value);
                    if !fits && self.is_done() {
                        break;
                    }
                }
                return fits;
            }
            Keyword::AnyOf(alternatives) => {
                return self.count_alternatives(alternatives, value, 1) > 0 || self.none_fits(alternatives, value);
            }
            Keyword::OneOf(alternatives) => match self.count_alternatives(alternatives, value, 2) {
                0 => return self.none_fits(alternatives, value),
                count => count == 1,
            },
            Keyword::Reference(rule) => return self.fits(*rule, value),
            Keyword::Enum(allowed) => self.is_one_of(allowed, value),
            Keyword::Bound(bound, limit) => value.kind() != Kind::Number || self.is_within(*bound, limit, value),
            Keyword::MultipleOf(step) => value.kind() != Kind::Number || self.is_multiple(step, value),
            Keyword::Size(measure, least, most) => return self.size_fits(*measure, *least..=*most, value),
            Keyword::Pattern(pattern) => value.kind() != Kind::String || self.matches(*pattern, value),
            Keyword::Format(format) => {
                !self.manner.formats
                    || value.kind() != Kind::String
                    || (self.steps.take_for(value.text().len(), FORMATTED) && format.fits(&self.content(value)))
            }
            Keyword::Contains { rule, least, most } => {
                return value.kind() != Kind::Array || self.contains(*rule, *least..=*most, value);
            }
            Keyword::UniqueItems => return value.kind() != Kind::Array || self.items_are_unique(value),
            // Where the steps run out nothing is known, and nothing fits.
            Keyword::Not(rule) => !self.would_fit(*rule, value) && !self.steps.are_exhausted(),
        };
        fits || self.fail(|check| check.problem(keyword, value))
    }

    fn size_fits(&mut self, measure: Measure, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        if is_surely_within(measure, &allowed, value) {
            return true;
        }
        let Some(size) = self.measured(measure, value) else { return true };
        allowed.contains(&size) || self.fail(|_| wrong_count(&format!("has {size} {}", measure.unit()), size, &allowed))
    }

    fn contains(&mut self, rule: RuleId, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        let mut count = 0_u64;
        for item in value.items() {
            if !self.steps.take(CHILD) {
                return false;
            }
            count = count.saturating_add(self.would_fit(rule, item).into());
        }
        let has = || format!("has {count} items that fit what it must contain");
        allowed.contains(&count) || self.fail(|_| wrong_count(&has(), count, &allowed))
    }

    fn items_are_unique(&mut self, value: Value<'d>) -> bool {
        let repeated = self.repeated(value);
        let Some((one, other)) = repeated else { return !self.steps.are_exhausted() };
        self.fail(|_| {
            let index = |position| value.items().take_while(|item| item.position() < position).count();
            format!("has the same item twice: [{}] and [{}]", index(one), index(other))
        })
    }

    pub(super) fn is_a(&mut self, types: Types, value: Value<'d>) -> bool {
        if types.have(value.kind()) {
            return true;
        }
        value.kind() == Kind::Number && types.have_integers() && self.is_integer(value.text())
    }

    /// Whether a number has no fraction, however it is written: `7`, `7.0`, `7e2`.
    fn is_integer(&mut self, number: &str) -> bool {
        if !self.steps.take_for(number.len(), DIGITS) {
            return false;
        }
        match number.split_once('.') {
            _ if is_whole(number) => true,
            Some((_, fraction)) if is_whole(fraction) => fraction.bytes().all(|digit| digit == b'0'),
            _ => self.decimal(number).is_some_and(|number| number.is_integer()),
        }
    }

    fn items_fit(&mut self, prefix: &[RuleId], rest: Option<RuleId>, value: Value<'d>) -> bool {
        let mut fits = true;
        for (nth, item) in (0_u32..).zip(value.items()) {
            let Some(rule) = prefix.get(nth as usize).copied().or(rest) else { break };
            if !self.steps.take(CHILD) {
                return false;
            }
            fits &= self.fits_inside(Step::Item(nth), rule, item);
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn object_fits(&mut self, object: &ObjectRule, value: Value<'d>) -> bool {
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
                fits &= self.fits_inside(Step::Name(name.position()), rule, name);
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
        for (given, names) in &object.dependent_required {
            if !self.steps.take(1) || !seen.has(*given) {
                continue;
            }
            if !self.steps.take_for(names.len(), COMPARED) {
                return false;
            }
            for name in names.iter().filter(|name| !seen.has(**name)) {
                let given = shortened(object.names.get(*given));
                fits = self.fail_at(object.names.get(*name), &format!("is required where `{given}` is given"));
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
        fits && !self.steps.are_exhausted()
    }

    /// Whether a member fits the rules for it: those of its name and of the patterns that it matches, else the one for all others.
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
        let step = Step::Member(name.position());
        if let Some(rule) = own {
            fits &= self.fits_inside(step, rule, member);
        }
        let mut is_other = own.is_none();
        for (pattern, rule) in &object.patterns {
            if self.searches.is_found(&self.program.patterns, *pattern, &text, &mut self.steps) {
                is_other = false;
                fits &= self.fits_inside(step, *rule, member);
            }
            if !fits && self.is_done() {
                return false;
            }
        }
        match object.others {
            Some(rule) if is_other && self.program.rule(rule).types == Types::NONE => {
                self.fail(|check| check.unknown(object, &text))
            }
            Some(rule) if is_other => fits & self.fits_inside(step, rule, member),
            _ => fits,
        }
    }

    /// How many alternatives fit, counted to `most`.
    fn count_alternatives(&mut self, alternatives: &Alternatives, value: Value<'d>, most: usize) -> usize {
        let left = self.left_by_tag(alternatives, value) & self.left_by_name(alternatives, value);
        let mut count = 0_usize;
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if is_left(left, nth) && self.would_fit(*rule, value) {
                count = count.saturating_add(1);
            }
            if count >= most || self.steps.are_exhausted() {
                break;
            }
        }
        count
    }

    /// The alternatives that can take an object whose first member has this name, as bits.
    pub(super) fn left_by_name(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let first = alternatives.by_name.as_ref().and_then(|selection| Some((selection, value.pairs().next()?)));
        let Some((selection, (name, _))) = first else { return u64::MAX };
        let name = self.content(name);
        let takes = self.steps.take(FIND) && self.steps.take_for(name.len(), COMPARED);
        if takes { selection.left_by(&name) } else { 0 }
    }

    /// The alternatives that can take an object with this tag, as bits.
    pub(super) fn left_by_tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let (Some(Tag { selection, .. }), Some(tag)) = (&alternatives.by_tag, self.tag(alternatives, value)) else {
            return u64::MAX;
        };
        match self.canonical(tag) {
            Some(tag) if self.steps.take(FIND) && self.steps.take_for(tag.len(), COMPARED) => selection.left_by(&tag),
            _ => 0,
        }
    }

    /// The value of the property by which alternatives can be told apart.
    pub(super) fn tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> Option<Value<'d>> {
        let Tag { name, .. } = alternatives.by_tag.as_ref()?;
        let mut members = value.pairs().take_while(|_| self.steps.take_for(name.len(), COMPARED));
        members.find(|(known, _)| known.is_str(name)).map(|(_, tag)| tag)
    }

    pub(super) fn is_one_of(&mut self, allowed: &Enum, value: Value<'d>) -> bool {
        if !allowed.has(value.kind()) || !self.steps.take(allowed.cost) {
            return false;
        }
        match self.canonical(value) {
            Some(canonical) => allowed.allows(&canonical),
            None => false,
        }
    }

    /// The canonical form of a value; `None` if the steps do not suffice.
    fn canonical(&mut self, value: Value<'d>) -> Option<Cow<'d, str>> {
        if let Some(canonical) = canonical::within(value) {
            return Some(Cow::Borrowed(canonical));
        }
        let takes = self.steps.take_for(value.text().len(), CANONICAL)
            && self.steps.take(value.count().saturating_mul(CANONICAL_VALUE));
        takes.then(|| Cow::Owned(canonical::of(value)))
    }

    fn is_within(&mut self, bound: Bound, limit: &Number, value: Value<'d>) -> bool {
        self.steps.take(NUMBER);
        let ordering = match (ShortDecimal::of(value.text()), limit.short) {
            (Some(number), Some(limit)) => Some(number.cmp(&limit)),
            _ => self.decimal(value.text()).map(|number| number.cmp(&limit.exact)),
        };
        ordering.is_some_and(|ordering| match bound {
            Bound::Minimum => ordering != Ordering::Less,
            Bound::Maximum => ordering != Ordering::Greater,
            Bound::ExclusiveMinimum => ordering == Ordering::Greater,
            Bound::ExclusiveMaximum => ordering == Ordering::Less,
        })
    }

    fn is_multiple(&mut self, step: &Number, value: Value<'d>) -> bool {
        self.steps.take(MULTIPLE);
        match (ShortDecimal::of(value.text()), step.short) {
            (Some(number), Some(step)) => number.is_multiple_of(step),
            _ => self.decimal(value.text()).is_some_and(|number| number.is_multiple_of(&step.exact)),
        }
    }

    /// A number that is long or has an exponent. Of one whose exponent is beyond all use nothing is known, and the check ends.
    fn decimal(&mut self, number: &str) -> Option<Decimal> {
        if !self.steps.take(DECIMAL) || !self.steps.take_for(number.len(), DIGITS) {
            return None;
        }
        let decimal = Decimal::of(number);
        if decimal.is_none() {
            self.steps.exhaust();
        }
        decimal
    }

    fn matches(&mut self, pattern: usize, value: Value<'d>) -> bool {
        let text = self.content(value);
        self.searches.is_found(&self.program.patterns, pattern, &text, &mut self.steps)
    }

    /// The content of a string. Where the steps run out it is empty, and nothing counts.
    pub(super) fn content(&mut self, value: Value<'d>) -> Cow<'d, str> {
        if !value.is_escaped() {
            return Cow::Borrowed(value.unescaped());
        }
        if !self.steps.take_for(value.text().len(), DECODED) {
            return Cow::Borrowed("");
        }
        value.as_str().unwrap_or_default()
    }

    /// How many there are, of a value that has any.
    fn measured(&mut self, measure: Measure, value: Value<'d>) -> Option<u64> {
        let count = match (measure, value.kind()) {
            (Measure::Characters, Kind::String) => {
                self.steps.take_for(value.text().len(), if value.is_escaped() { DECODED } else { COUNTED });
                value.length()
            }
            (Measure::Items, Kind::Array) => value.items().take_while(|_| self.steps.take(1)).count(),
            (Measure::Properties, Kind::Object) => value.pairs().take_while(|_| self.steps.take(1)).count(),
            _ => return None,
        };
        u64::try_from(count).ok()
    }

    /// The positions of two items that are the same.
    fn repeated(&mut self, value: Value<'d>) -> Option<(u32, u32)> {
        // The lower bits are the item's position, and the others those of a digest: items that are the same come together. FxHasher
        // has 32 bits in WebAssembly, which are too few for this.
        let positions = u64::from(value.position().saturating_add(value.count())).next_power_of_two().wrapping_sub(1);
        let mut digests = Vec::new();
        for item in value.items() {
            if !self.steps.take(UNIQUE) {
                return None;
            }
            let canonical = self.canonical(item)?;
            if !self.steps.take_for(canonical.len(), HASHED) {
                return None;
            }
            let mut hasher = DefaultHasher::new();
            hasher.write(canonical.as_bytes());
            digests.push((hasher.finish() & !positions) | u64::from(item.position()));
        }
        digests.sort_unstable();
        for alike in digests.chunk_by(|one, other| one | positions == other | positions).filter(|alike| alike.len() > 1)
        {
            let position = |digest: &u64| u32::try_from(digest & positions).unwrap_or(u32::MAX);
            // Items with one digest are the same, except where digests collide.
            if let [one, other, ..] = alike {
                let (one, other) = (position(one), position(other));
                if self.canonical(value.at(one))? == self.canonical(value.at(other))? {
                    return Some((one, other));
                }
            }
            let texts = alike.iter().map(position).map(|at| Some((self.canonical(value.at(at))?, at)));
            let mut texts = texts.collect::<Option<Vec<_>>>()?;
            let bytes = texts.iter().fold(0_usize, |bytes, (text, _)| bytes.saturating_add(text.len()));
            if !self.steps.take_for(bytes, HASHED) {
                return None;
            }
            texts.sort_unstable();
            let same = texts.iter().zip(texts.iter().skip(1)).find(|((one, _), (other, _))| one == other);
            if let Some(((_, one), (_, other))) = same {
                return Some((*one, *other));
            }
        }
        None
    }
}

/// Whether the length of a text in bytes alone tells that its length in characters is right: each has one byte to four.
fn is_surely_within(measure: Measure, allowed: &RangeInclusive<u64>, value: Value<'_>) -> bool {
    let bytes = value.text().len().saturating_sub(2) as u64;
    measure == Measure::Characters
        && value.kind() == Kind::String
        && !value.is_escaped()
        && bytes <= *allowed.end()
        && bytes.div_ceil(4) >= *allowed.start()
}

/// Whether the alternative with that index is among those that are left.
pub(super) fn is_left(left: u64, nth: usize) -> bool {
    nth >= 64 || left >> nth & 1 == 1
}

/// What is wrong with a count that is not among those that are allowed.
fn wrong_count(has: &str, count: u64, allowed: &RangeInclusive<u64>) -> String {
    if count < *allowed.start() {
        format!("{has}, at least {} are required", allowed.start())
    } else {
        format!("{has}, at most {} are allowed", allowed.end())
    }
}
