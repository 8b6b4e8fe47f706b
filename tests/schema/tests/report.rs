//! What came of the groups, set against the list of what is left out.

use std::collections::BTreeSet;

use crate::left_out::LeftOut;

/// A group of tests, which share a schema, after they were tried.
pub(crate) struct Group {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) schema: String,
    /// How many tests it has.
    pub(crate) size: usize,
    /// What came of each, or why the schema was refused.
    pub(crate) verdicts: Result<Vec<Verdict>, String>,
}

/// What was said of a value.
pub(crate) struct Verdict {
    pub(crate) test: String,
    pub(crate) data: String,
    pub(crate) expects_valid: bool,
    /// What is wrong with the value, or that there was no answer.
    pub(crate) mistakes: Result<Vec<String>, String>,
}

impl Verdict {
    fn is_right(&self) -> bool {
        self.mistakes.as_ref().is_ok_and(|mistakes| mistakes.is_empty() == self.expects_valid)
    }

    fn found(&self) -> String {
        match &self.mistakes {
            Ok(mistakes) if mistakes.is_empty() => "valid".to_owned(),
            Ok(mistakes) => format!("invalid ({})", mistakes.join("; ")),
            Err(why) => why.clone(),
        }
    }
}

/// How much ran, or did not.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    tests: usize,
    groups: usize,
    files: BTreeSet<String>,
}

impl Count {
    fn add(&mut self, file: &str, groups: usize, tests: usize) {
        self.tests = self.tests.saturating_add(tests);
        self.groups = self.groups.saturating_add(groups);
        self.files.insert(file.to_owned());
    }
}

/// All groups together.
pub(crate) struct Report {
    list: &'static [LeftOut],
    /// For each entry of the list, whether the suite has what it names.
    met: Vec<bool>,
    ran: Count,
    left_out: Count,
    problems: Vec<String>,
}

impl Report {
    pub(crate) fn new(list: &'static [LeftOut]) -> Self {
        let met = vec![false; list.len()];
        Self { list, met, ran: Count::default(), left_out: Count::default(), problems: Vec::new() }
    }

    /// The reason of the entry that fits, if there is one.
    fn listed(&mut self, fits: impl Fn(&LeftOut) -> bool) -> Option<&'static str> {
        let mut reason = None;
        for (entry, met) in self.list.iter().zip(&mut self.met) {
            if fits(entry) {
                (reason, *met) = (Some(entry.reason), true);
            }
        }
        reason
    }

    pub(crate) fn note(&mut self, group: &Group) {
        let Group { file, name, schema, size, verdicts } = group;
        let at = format!("{file}: {name}");
        if let Some(reason) = self.listed(|entry| entry.names_group(file, name)) {
            self.left_out.add(file, 1, *size);
            if verdicts.as_ref().is_ok_and(|verdicts| verdicts.iter().all(Verdict::is_right)) {
                self.problems.push(listed_and_passes(&at, reason));
            }
            return;
        }
        match verdicts {
            Err(why) => {
                self.ran.add(file, 1, *size);
                self.problems.push(format!("{at}: the schema is refused: {why}\n    schema {}", on_one_line(schema)));
            }
            Ok(verdicts) => {
                let ran = verdicts.iter().filter(|verdict| self.judge(group, verdict)).count();
                self.ran.add(file, 1, ran);
            }
        }
    }

    /// Whether the verdict counts: it does not, if it is left out.
    fn judge(&mut self, Group { file, name, schema, .. }: &Group, verdict: &Verdict) -> bool {
        let at = format!("{file}: {name}: {}", verdict.test);
        let listed = self.listed(|entry| entry.names_test(file, name, &verdict.test));
        match (listed, verdict.is_right()) {
            (Some(reason), true) => self.problems.push(listed_and_passes(&at, reason)),
            (Some(_), false) => self.left_out.add(file, 0, 1),
            (None, true) => {}
            (None, false) => {
                let expected = if verdict.expects_valid { "valid" } else { "invalid" };
                self.problems.push(format!(
                    "{at}: expected {expected}, found {}\n    schema {}\n    data {}",
                    verdict.found(),
                    on_one_line(schema),
                    on_one_line(&verdict.data),
                ));
            }
        }
        listed.is_none()
    }

    /// What must not be.
    pub(crate) fn problems(&self) -> Vec<String> {
        let unmet = self.list.iter().zip(&self.met).filter(|(_, met)| !**met);
        let unmet = unmet.map(|(entry, _)| format!("{entry}: listed, and not in the suite"));
        self.problems.iter().cloned().chain(unmet).collect()
    }

    pub(crate) fn summary(&self) -> String {
        let Self { ran, left_out, .. } = self;
        // A file of which something ran is not left out.
        let files = left_out.files.difference(&ran.files).count();
        format!(
            "json-schema: {} tests in {} groups of {} files; left out: {} tests, with {} whole groups and {files} whole files",
            ran.tests,
            ran.groups,
            ran.files.len(),
            left_out.tests,
            left_out.groups,
        )
    }
}

fn listed_and_passes(at: &str, reason: &str) -> String {
    format!("{at}: listed and passes: take it off (\"{reason}\")")
}

fn on_one_line(json: &str) -> String {
    json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::left_out::{file, file_but, group, test};

    fn verdict(test: &str, expects_valid: bool, mistakes: &[&str]) -> Verdict {
        let mistakes = Ok(mistakes.iter().map(|&mistake| mistake.to_owned()).collect());
        Verdict { test: test.to_owned(), data: "1".to_owned(), expects_valid, mistakes }
    }

    fn right() -> Vec<Verdict> {
        vec![verdict("fits", true, &[]), verdict("does not", false, &["expected a string, got 1"])]
    }

    fn wrong() -> Vec<Verdict> {
        vec![verdict("fits", true, &["expected a string, got 1"]), verdict("does not", false, &[])]
    }

    fn group_of(verdicts: Result<Vec<Verdict>, &str>) -> Group {
        let verdicts = verdicts.map_err(str::to_owned);
        Group { file: "a.json".into(), name: "g".into(), schema: "{\n  \"x\": 1\n}".into(), size: 2, verdicts }
    }

    /// The summary, and the problems, of one group.
    fn of(list: &'static [LeftOut], group: &Group) -> (String, Vec<String>) {
        let mut report = Report::new(list);
        report.note(group);
        (report.summary(), report.problems())
    }

    const ALL_RAN: &str =
        "json-schema: 2 tests in 1 groups of 1 files; left out: 0 tests, with 0 whole groups and 0 whole files";
    const NONE_RAN: &str =
        "json-schema: 0 tests in 0 groups of 0 files; left out: 2 tests, with 1 whole groups and 1 whole files";
    const ONE_RAN: &str =
        "json-schema: 1 tests in 1 groups of 1 files; left out: 1 tests, with 0 whole groups and 0 whole files";

    const FILE: &[LeftOut] = &[file("a.json", "why")];
    const BUT: &[LeftOut] = &[file_but("a.json", "g", "why")];
    const GROUP: &[LeftOut] = &[group("a.json", "g", "why")];
    const TEST: &[LeftOut] = &[test("a.json", "g", "fits", "why")];
    const OTHERS: &[LeftOut] =
        &[file("b.json", "why"), group("a.json", "h", "why"), test("a.json", "g", "is not there", "why")];

    #[test]
    fn what_is_right_is_no_problem() {
        assert_eq!(of(&[], &group_of(Ok(right()))), (ALL_RAN.to_owned(), Vec::new()));
    }

    #[test]
    fn each_wrong_verdict_is_one() {
        let problems = [
            "a.json: g: fits: expected valid, found invalid (expected a string, got 1)\n    schema { \"x\": 1 }\n    data 1",
            "a.json: g: does not: expected invalid, found valid\n    schema { \"x\": 1 }\n    data 1",
        ];
        assert_eq!(of(&[], &group_of(Ok(wrong()))), (ALL_RAN.to_owned(), problems.map(String::from).to_vec()));
    }

    #[test]
    fn a_panic_is_one_whatever_is_expected() {
        for expects_valid in [true, false] {
            let verdict = Verdict { mistakes: Err("a panic".to_owned()), ..verdict("fits", expects_valid, &[]) };
            let (_, problems) = of(&[], &group_of(Ok(vec![verdict])));
            assert!(matches!(problems.as_slice(), [one] if one.contains("found a panic")), "{problems:?}");
        }
    }

    #[test]
    fn a_schema_that_is_refused_is_one() {
        let problem = "a.json: g: the schema is refused: no `x` here\n    schema { \"x\": 1 }".to_owned();
        assert_eq!(of(&[], &group_of(Err("no `x` here"))), (ALL_RAN.to_owned(), vec![problem]));
    }

    #[test]
    fn what_is_listed_may_fail_in_every_way() {
        for list in [FILE, GROUP] {
            assert_eq!(of(list, &group_of(Err("no `x` here"))), (NONE_RAN.to_owned(), Vec::new()));
            assert_eq!(of(list, &group_of(Ok(wrong()))), (NONE_RAN.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn a_group_that_a_file_is_left_out_without_has_to_pass() {
        let (summary, problems) = of(BUT, &group_of(Ok(wrong())));
        assert_eq!((summary.as_str(), problems.len()), (ALL_RAN, 3), "{problems:?}");
        let another = Group { name: "h".to_owned(), ..group_of(Ok(wrong())) };
        assert_eq!(of(BUT, &another), (NONE_RAN.to_owned(), Vec::new()));
    }

    #[test]
    fn what_is_listed_and_passes_is_a_problem() {
        for list in [FILE, GROUP] {
            let problem = "a.json: g: listed and passes: take it off (\"why\")".to_owned();
            assert_eq!(of(list, &group_of(Ok(right()))), (NONE_RAN.to_owned(), vec![problem]));
        }
        let problem = "a.json: g: fits: listed and passes: take it off (\"why\")".to_owned();
        assert_eq!(of(TEST, &group_of(Ok(right()))).1, [problem]);
    }

    #[test]
    fn a_single_test_that_is_listed_excuses_no_other() {
        let (summary, problems) = of(TEST, &group_of(Ok(wrong())));
        assert_eq!(summary, ONE_RAN);
        assert!(matches!(problems.as_slice(), [one] if one.starts_with("a.json: g: does not: ")), "{problems:?}");
        let (_, problems) = of(TEST, &group_of(Err("no `x` here")));
        assert!(problems.iter().any(|problem| problem.contains("the schema is refused")), "{problems:?}");
    }

    #[test]
    fn an_entry_that_names_nothing_is_a_problem() {
        let problems = [
            "b.json: listed, and not in the suite",
            "a.json: h: listed, and not in the suite",
            "a.json: g: is not there: listed, and not in the suite",
        ];
        assert_eq!(of(OTHERS, &group_of(Ok(right()))), (ALL_RAN.to_owned(), problems.map(String::from).to_vec()));
    }
}
