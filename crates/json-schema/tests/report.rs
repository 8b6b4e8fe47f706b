//! The results of the groups, compared with the list of exclusions.

use std::collections::BTreeSet;

use crate::excluded::Excluded;

/// A group of tests with the same schema, and its results.
pub(crate) struct Group {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) schema: String,
    /// The number of tests.
    pub(crate) size: usize,
    /// The verdict of each test, or the reason why the schema was rejected.
    pub(crate) verdicts: Result<Vec<Verdict>, String>,
}

/// The result of a test.
pub(crate) struct Verdict {
    pub(crate) test: String,
    pub(crate) data: String,
    pub(crate) expects_valid: bool,
    /// The mistakes in the value, or the reason why the check failed.
    pub(crate) mistakes: Result<Vec<String>, String>,
}

impl Verdict {
    fn is_correct(&self) -> bool {
        self.mistakes.as_ref().is_ok_and(|mistakes| mistakes.is_empty() == self.expects_valid)
    }

    fn actual(&self) -> String {
        match &self.mistakes {
            Ok(mistakes) if mistakes.is_empty() => "valid".to_owned(),
            Ok(mistakes) => format!("invalid ({})", mistakes.join("; ")),
            Err(why) => why.clone(),
        }
    }
}

/// The number of tests, groups and files that ran or were excluded.
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

/// The results of all groups.
pub(crate) struct Report {
    list: Vec<Excluded>,
    /// For each entry of the list, whether the suite has its tests.
    found: Vec<bool>,
    ran: Count,
    excluded: Count,
    problems: Vec<String>,
}

impl Report {
    pub(crate) fn new(list: Vec<Excluded>) -> Self {
        let found = vec![false; list.len()];
        Self { list, found, ran: Count::default(), excluded: Count::default(), problems: Vec::new() }
    }

    /// Returns the reason of the matching entry, if there is one.
    fn reason(&mut self, is_match: impl Fn(&Excluded) -> bool) -> Option<&'static str> {
        let mut reason = None;
        for (entry, found) in self.list.iter().zip(&mut self.found) {
            if is_match(entry) {
                (reason, *found) = (Some(entry.reason), true);
            }
        }
        reason
    }

    pub(crate) fn add(&mut self, group: &Group) {
        let Group { file, name, schema, size, verdicts } = group;
        let at = format!("{file}: {name}");
        if let Some(reason) = self.reason(|entry| entry.has_group(file, name)) {
            self.excluded.add(file, 1, *size);
            if verdicts.as_ref().is_ok_and(|verdicts| verdicts.iter().all(Verdict::is_correct)) {
                self.problems.push(needless_exclusion(&at, reason));
            }
            return;
        }
        match verdicts {
            Err(why) => {
                self.ran.add(file, 1, *size);
                self.problems.push(format!("{at}: the schema is rejected: {why}\n    schema {}", on_one_line(schema)));
            }
            Ok(verdicts) => {
                let ran = verdicts.iter().filter(|verdict| self.judge(group, verdict)).count();
                self.ran.add(file, 1, ran);
            }
        }
    }

    /// Checks a verdict. Returns whether it counts: the verdict of an excluded test does not.
    fn judge(&mut self, Group { file, name, schema, .. }: &Group, verdict: &Verdict) -> bool {
        let at = format!("{file}: {name}: {}", verdict.test);
        let reason = self.reason(|entry| entry.has_test(file, name, &verdict.test));
        match (reason, verdict.is_correct()) {
            (Some(reason), true) => self.problems.push(needless_exclusion(&at, reason)),
            (Some(_), false) => self.excluded.add(file, 0, 1),
            (None, true) => {}
            (None, false) => {
                let expected = if verdict.expects_valid { "valid" } else { "invalid" };
                self.problems.push(format!(
                    "{at}: expected {expected}, got {}\n    schema {}\n    data {}",
                    verdict.actual(),
                    on_one_line(schema),
                    on_one_line(&verdict.data),
                ));
            }
        }
        reason.is_none()
    }

    /// Returns the reasons why the run fails.
    pub(crate) fn problems(&self) -> Vec<String> {
        let missing = self.list.iter().zip(&self.found).filter(|(_, found)| !**found);
        let missing = missing.map(|(entry, _)| format!("{entry}: excluded, but not in the suite"));
        self.problems.iter().cloned().chain(missing).collect()
    }

    pub(crate) fn summary(&self) -> String {
        let Self { ran, excluded, .. } = self;
        // A file counts as excluded only if none of its tests ran.
        let files = excluded.files.difference(&ran.files).count();
        format!(
            "json-schema: {} tests in {} groups of {} files; excluded: {} tests, with {} whole groups and {files} whole files",
            ran.tests,
            ran.groups,
            ran.files.len(),
            excluded.tests,
            excluded.groups,
        )
    }
}

fn needless_exclusion(at: &str, reason: &str) -> String {
    format!("{at}: excluded, but passes: remove the entry (\"{reason}\")")
}

fn on_one_line(json: &str) -> String {
    json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::excluded::{file, file_except, group, test};

    fn verdict(test: &str, expects_valid: bool, mistakes: &[&str]) -> Verdict {
        let mistakes = Ok(mistakes.iter().map(|&mistake| mistake.to_owned()).collect());
        Verdict { test: test.to_owned(), data: "1".to_owned(), expects_valid, mistakes }
    }

    fn correct() -> Vec<Verdict> {
        vec![verdict("is valid", true, &[]), verdict("is invalid", false, &["expected a string, got 1"])]
    }

    fn wrong() -> Vec<Verdict> {
        vec![verdict("is valid", true, &["expected a string, got 1"]), verdict("is invalid", false, &[])]
    }

    fn group_of(verdicts: Result<Vec<Verdict>, &str>) -> Group {
        let verdicts = verdicts.map_err(str::to_owned);
        Group { file: "a.json".into(), name: "g".into(), schema: "{\n  \"x\": 1\n}".into(), size: 2, verdicts }
    }

    /// Returns the summary and the problems of one group.
    fn report_of(list: &[Excluded], group: &Group) -> (String, Vec<String>) {
        let mut report = Report::new(list.to_vec());
        report.add(group);
        (report.summary(), report.problems())
    }

    const ALL_RAN: &str =
        "json-schema: 2 tests in 1 groups of 1 files; excluded: 0 tests, with 0 whole groups and 0 whole files";
    const NONE_RAN: &str =
        "json-schema: 0 tests in 0 groups of 0 files; excluded: 2 tests, with 1 whole groups and 1 whole files";
    const ONE_RAN: &str =
        "json-schema: 1 tests in 1 groups of 1 files; excluded: 1 tests, with 0 whole groups and 0 whole files";

    const FILE: &[Excluded] = &[file("a.json", "why")];
    const FILE_EXCEPT_GROUP: &[Excluded] = &[file_except("a.json", "g", "why")];
    const GROUP: &[Excluded] = &[group("a.json", "g", "why")];
    const TEST: &[Excluded] = &[test("a.json", "g", "is valid", "why")];
    const MISSING: &[Excluded] =
        &[file("b.json", "why"), group("a.json", "h", "why"), test("a.json", "g", "is missing", "why")];

    #[test]
    fn correct_verdicts_are_not_problems() {
        assert_eq!(report_of(&[], &group_of(Ok(correct()))), (ALL_RAN.to_owned(), Vec::new()));
    }

    #[test]
    fn each_wrong_verdict_is_a_problem() {
        let problems = [
            "a.json: g: is valid: expected valid, got invalid (expected a string, got 1)\n    schema { \"x\": 1 }\n    data 1",
            "a.json: g: is invalid: expected invalid, got valid\n    schema { \"x\": 1 }\n    data 1",
        ];
        assert_eq!(report_of(&[], &group_of(Ok(wrong()))), (ALL_RAN.to_owned(), problems.map(String::from).to_vec()));
    }

    #[test]
    fn a_panic_is_always_a_problem() {
        for expects_valid in [true, false] {
            let verdict = Verdict { mistakes: Err("a panic".to_owned()), ..verdict("is valid", expects_valid, &[]) };
            let (_, problems) = report_of(&[], &group_of(Ok(vec![verdict])));
            assert!(matches!(problems.as_slice(), [one] if one.contains("got a panic")), "{problems:?}");
        }
    }

    #[test]
    fn a_rejected_schema_is_a_problem() {
        let problem = "a.json: g: the schema is rejected: no `x` here\n    schema { \"x\": 1 }".to_owned();
        assert_eq!(report_of(&[], &group_of(Err("no `x` here"))), (ALL_RAN.to_owned(), vec![problem]));
    }

    #[test]
    fn excluded_groups_may_fail_in_every_way() {
        for list in [FILE, GROUP] {
            assert_eq!(report_of(list, &group_of(Err("no `x` here"))), (NONE_RAN.to_owned(), Vec::new()));
            assert_eq!(report_of(list, &group_of(Ok(wrong()))), (NONE_RAN.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn the_group_that_is_excepted_from_an_excluded_file_must_pass() {
        let (summary, problems) = report_of(FILE_EXCEPT_GROUP, &group_of(Ok(wrong())));
        assert_eq!((summary.as_str(), problems.len()), (ALL_RAN, 3), "{problems:?}");
        let another = Group { name: "h".to_owned(), ..group_of(Ok(wrong())) };
        assert_eq!(report_of(FILE_EXCEPT_GROUP, &another), (NONE_RAN.to_owned(), Vec::new()));
    }

    #[test]
    fn an_excluded_test_that_passes_is_a_problem() {
        for list in [FILE, GROUP] {
            let problem = "a.json: g: excluded, but passes: remove the entry (\"why\")".to_owned();
            assert_eq!(report_of(list, &group_of(Ok(correct()))), (NONE_RAN.to_owned(), vec![problem]));
        }
        let problem = "a.json: g: is valid: excluded, but passes: remove the entry (\"why\")".to_owned();
        assert_eq!(report_of(TEST, &group_of(Ok(correct()))).1, [problem]);
    }

    #[test]
    fn an_excluded_test_does_not_excuse_others() {
        let (summary, problems) = report_of(TEST, &group_of(Ok(wrong())));
        assert_eq!(summary, ONE_RAN);
        assert!(matches!(problems.as_slice(), [one] if one.starts_with("a.json: g: is invalid: ")), "{problems:?}");
        let (_, problems) = report_of(TEST, &group_of(Err("no `x` here")));
        assert!(problems.iter().any(|problem| problem.contains("the schema is rejected")), "{problems:?}");
    }

    #[test]
    fn an_entry_for_missing_tests_is_a_problem() {
        let problems = [
            "b.json: excluded, but not in the suite",
            "a.json: h: excluded, but not in the suite",
            "a.json: g: is missing: excluded, but not in the suite",
        ];
        let expected = (ALL_RAN.to_owned(), problems.map(String::from).to_vec());
        assert_eq!(report_of(MISSING, &group_of(Ok(correct()))), expected);
    }
}
