//! The cases of the database.

use edge_mcp::storage::{Database, DatabaseError, DatabaseFailure, SqlValue, Statement};
use serde_json::{Value, json};

use Expected::{Changes, Error, Rows, Unreadable};

/// Statements that run in order. The last one has the expected outcome, and the others succeed.
pub(crate) struct Case {
    /// The rule, as docs/testing.md has it.
    pub(crate) rule: &'static str,
    statements: Vec<(String, Vec<SqlValue>)>,
    expected: Expected,
    is_batch: bool,
}

enum Expected {
    Rows(Value),
    Changes(u64),
    /// The kind of the error, and a part of its text. Both methods fail, `all` and `run`.
    Error(DatabaseFailure, &'static str),
    /// The same, but only `all` fails, because it reads the rows.
    Unreadable(DatabaseFailure, &'static str),
}

fn case(rule: &'static str, sql: impl Into<String>, values: Vec<SqlValue>, expected: Expected) -> Case {
    Case { rule, statements: vec![(sql.into(), values)], expected, is_batch: false }
}

impl Case {
    /// Sets the statements that run before.
    fn after(mut self, statements: &[&str]) -> Self {
        self.statements.splice(0..0, statements.iter().map(|sql| ((*sql).to_owned(), Vec::new())));
        self
    }

    /// Runs all statements in one batch.
    fn batch(mut self) -> Self {
        self.is_batch = true;
        self
    }
}

/// Returns `N` parts of a statement, separated by commas.
fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(", ")
}

fn numbers(count: i64) -> Vec<SqlValue> {
    (0..count).map(SqlValue::from).collect()
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn cases() -> Vec<Case> {
    const NUMBERS: &str = "A number is passed as REAL. An INTEGER column stores a whole number as INTEGER";
    const LARGE: &str = "A number beyond 2^53 − 1 is an error, as a parameter and in a row";
    const TYPES: &str = "NULL is `None`. A `bool` is 0 or 1. A BLOB is its bytes";
    const NAMES: &str = "A struct has the columns by name, and a tuple by order. Two columns of one name, and a missing one, are an error";
    const MIGRATED: &str = "A table or a column that does not exist is `NotMigrated`";
    const CONSTRAINTS: &str = "A constraint that rejects a value is `Constraint`. Foreign keys are enforced";
    const LIKE: &str = "A pattern of LIKE or GLOB has at most 50 bytes";
    const COLUMNS: &str = "A table and a row have at most 100 columns";
    const PARAMETERS: &str = "A statement has at most 100 parameters, and a value for each of them";
    const LENGTH: &str = "A statement has at most 100 000 bytes, and a value at most 2 000 000";
    const COMPLEX: &str = "An expression has a depth of at most 100, and a compound SELECT at most 5 terms";
    const ONE: &str = "A text has one statement";
    const TRANSACTIONS: &str = "BEGIN, COMMIT, SAVEPOINT, ATTACH and similar statements are refused";
    const BATCH: &str = "A batch changes nothing if one of its statements fails";
    const COUNT: &str = "`run` counts the changed rows, also those of foreign keys";
    const ROWS: &str = "A batch returns rows, and its statements see the changes of those before";
    const TEXT: &str = "Bytes of a text that are not UTF-8 are replaced by U+FFFD";
    const FUNCTIONS: &str = "FTS5, JSON, dates and mathematics are available";
    let text = |count: usize| vec![SqlValue::Text("x".repeat(count))];
    let of_60 = format!("SELECT 1 FROM {} LIMIT 1", list(60, |nth| format!("json_each('[1]') AS j{nth}")));
    let constraint = |part| Error(DatabaseFailure::Constraint, part);
    let statement = |part| Error(DatabaseFailure::Statement, part);
    let missing = |part| Error(DatabaseFailure::NotMigrated, part);
    vec![
        case(
            NUMBERS,
            "SELECT typeof(?1) AS a, ?1 || 'x' AS b, ?1 / 2 AS c, ?1 AS d",
            vec![5.into()],
            Rows(json!([{ "a": "real", "b": "5.0x", "c": 2.5, "d": 5 }])),
        ),
        case(
            NUMBERS,
            "INSERT INTO n VALUES (?1, ?1, ?1) RETURNING typeof(i) AS i, typeof(r) AS r, t",
            vec![5.into()],
            Rows(json!([{ "i": "integer", "r": "real", "t": "5.0" }])),
        )
        .after(&["CREATE TABLE n (i INTEGER, r REAL, t TEXT)"]),
        case(NUMBERS, "SELECT i FROM l LIMIT ?1", vec![1.into()], Rows(json!([{ "i": 1 }])))
            .after(&["CREATE TABLE l (i)", "INSERT INTO l VALUES (1), (2)"]),
        case(
            NUMBERS,
            "SELECT 5.0 AS a, 0.1 AS b, -0.0 AS c, 1e-7 AS d, 9e999 AS e",
            vec![],
            Rows(json!([{ "a": 5, "b": 0.1, "c": 0, "d": 1e-7, "e": null }])),
        ),
        case(
            LARGE,
            "SELECT 9007199254740991 AS a, -9007199254740991 AS b, ?1 AS c",
            vec![9_007_199_254_740_991_i64.into()],
            Rows(
                json!([{ "a": 9_007_199_254_740_991_i64, "b": -9_007_199_254_740_991_i64, "c": 9_007_199_254_740_991_i64 }]),
            ),
        ),
        case(
            LARGE,
            "SELECT 1 AS a, 9007199254740993 AS b",
            vec![],
            Unreadable(DatabaseFailure::Row, "the column `b` has a number beyond 2^53 - 1"),
        ),
        case(LARGE, "SELECT 1e300 AS a", vec![], Unreadable(DatabaseFailure::Row, "beyond 2^53 - 1")),
        case(LARGE, "SELECT ?1 AS a", vec![9_007_199_254_740_992_i64.into()], statement("?1")),
        case(LARGE, "SELECT ?1 AS a", vec![f64::NAN.into()], statement("finite")),
        case(
            TYPES,
            "SELECT ?1 AS a, ?2 AS b, ?3 AS c, typeof(?4) AS d, ?4 AS e, x'' AS f",
            vec![SqlValue::Null, true.into(), false.into(), vec![1_u8, 255].into()],
            Rows(json!([{ "a": null, "b": 1, "c": 0, "d": "blob", "e": [1, 255], "f": [] }])),
        ),
        case(
            TYPES,
            "SELECT ?1 AS a, length(?1) AS b",
            vec!["a\"\\\n\u{1F600}".into()],
            Rows(json!([{ "a": "a\"\\\n\u{1F600}", "b": 5 }])),
        ),
        case(
            NAMES,
            "SELECT 1 AS a, 2 AS a",
            vec![],
            Unreadable(DatabaseFailure::Statement, "two columns of a statement have the name `a`"),
        ),
        case(NAMES, "SELECT 'a' AS b, 2 AS '1', 3 AS a WHERE 0", vec![], Rows(json!([]))),
        case(MIGRATED, "SELECT * FROM absent", vec![], missing("no such table: absent")),
        case(MIGRATED, "SELECT absent FROM m", vec![], missing("no such column: absent"))
            .after(&["CREATE TABLE m (i)"]),
        case(MIGRATED, "INSERT INTO mm (absent) VALUES (1)", vec![], missing("has no column named absent"))
            .after(&["CREATE TABLE mm (i)"]),
        case(CONSTRAINTS, "INSERT INTO u VALUES (1)", vec![], constraint("UNIQUE"))
            .after(&["CREATE TABLE u (i UNIQUE)", "INSERT INTO u VALUES (1)"]),
        case(CONSTRAINTS, "INSERT INTO c VALUES (NULL, 1)", vec![], constraint("NOT NULL"))
            .after(&["CREATE TABLE c (i NOT NULL, p CHECK (p > 0))"]),
        case(CONSTRAINTS, "INSERT INTO c VALUES (1, 0)", vec![], constraint("CHECK")),
        case(CONSTRAINTS, "INSERT INTO child VALUES (9)", vec![], constraint("FOREIGN KEY"))
            .after(&["CREATE TABLE parent (i PRIMARY KEY)", "CREATE TABLE child (p REFERENCES parent (i))"]),
        case(CONSTRAINTS, "INSERT INTO strict VALUES (?1)", vec![5.5.into()], constraint("INTEGER"))
            .after(&["CREATE TABLE strict (i INTEGER) STRICT"]),
        case(LIKE, "SELECT 'a' LIKE ?1 AS a", text(50), Rows(json!([{ "a": 0 }]))),
        case(LIKE, "SELECT 'a' LIKE ?1 AS a", text(51), statement("pattern too complex")),
        case(LIKE, "SELECT 'a' GLOB ?1 AS a", text(51), statement("pattern too complex")),
        case(
            COLUMNS,
            format!("SELECT {}", list(101, |nth| format!("{nth} AS c{nth}"))),
            vec![],
            statement("too many columns"),
        ),
        case(
            COLUMNS,
            format!("CREATE TABLE wide ({})", list(101, |nth| format!("c{nth}"))),
            vec![],
            statement("too many columns"),
        ),
        case(COLUMNS, format!("CREATE TABLE wide ({})", list(100, |nth| format!("c{nth}"))), vec![], Changes(0)),
        case(
            PARAMETERS,
            format!("SELECT max({}) AS a", list(20, |nth| format!("?{}", nth + 1))),
            numbers(20),
            Rows(json!([{ "a": 19 }])),
        ),
        case(
            PARAMETERS,
            format!("SELECT 1 AS a WHERE 100 IN ({})", list(101, |nth| format!("?{}", nth + 1))),
            numbers(101),
            statement("100 parameters"),
        ),
        case(PARAMETERS, "SELECT ?101 AS a", numbers(100), statement("must be between ?1 and ?100")),
        case(PARAMETERS, "SELECT ?1 AS a, ?2 AS b", numbers(1), statement("parameter")),
        case(PARAMETERS, "SELECT ?1 AS a", numbers(2), statement("parameter")),
        case(LENGTH, format!("SELECT 1 AS a{}", " ".repeat(99_987)), vec![], Rows(json!([{ "a": 1 }]))),
        case(LENGTH, format!("SELECT 1 AS a{}", " ".repeat(99_988)), vec![], statement("100000")),
        case(LENGTH, "SELECT length(?1) AS a", text(2_000_000), Rows(json!([{ "a": 2_000_000 }]))),
        case(LENGTH, "SELECT length(?1) AS a", text(2_000_001), statement("2 000 000 bytes")),
        case(COMPLEX, format!("SELECT {} AS a", vec!["1"; 102].join(" + ")), vec![], statement("maximum depth 100")),
        case(COMPLEX, ["SELECT 1 AS a"; 5].join(" UNION ALL "), vec![], Rows(json!(vec![json!({ "a": 1 }); 5]))),
        case(COMPLEX, ["SELECT 1 AS a"; 6].join(" UNION ALL "), vec![], statement("too many terms in compound SELECT")),
        // The limit on the depth does not limit the number of tables.
        case(
            COMPLEX,
            format!("WITH a AS (SELECT 1 AS a) SELECT a.a FROM ({of_60}) AS b, ({of_60}) AS c, a"),
            vec![],
            Rows(json!([{ "a": 1 }])),
        ),
        case(ONE, "SELECT ';' AS a /* ; */ ;\n", vec![], Rows(json!([{ "a": ";" }]))),
        case(ONE, "SELECT 1 AS a; SELECT 2 AS a", vec![], statement("several statements")),
        case(ONE, "", vec![], statement("no statement")),
        case(ONE, "-- comment", vec![], statement("statement")),
        case(ONE, "SELEC 1", vec![], statement("syntax error")),
        case(TRANSACTIONS, "BEGIN", vec![], statement("`BEGIN` is not available")),
        case(TRANSACTIONS, "attach ':memory:' AS other", vec![], statement("`ATTACH` is not available")),
        case(BATCH, "INSERT INTO b VALUES (1)", vec![], constraint("UNIQUE"))
            .after(&["INSERT INTO b VALUES (1)"])
            .batch()
            .created("CREATE TABLE b (i UNIQUE)"),
        case(BATCH, "SELECT count(*) AS rows FROM b", vec![], Rows(json!([{ "rows": 0 }]))),
        case(COUNT, "UPDATE k SET i = 5 WHERE i > ?1", vec![1.into()], Changes(2))
            .after(&["CREATE TABLE k (i)", "INSERT INTO k VALUES (1), (2), (3)"]),
        case(COUNT, "DELETE FROM folder WHERE i = 1 RETURNING i", vec![], Changes(3)).after(&[
            "CREATE TABLE folder (i PRIMARY KEY)",
            "CREATE TABLE file (f REFERENCES folder (i) ON DELETE CASCADE)",
            "INSERT INTO folder VALUES (1), (2)",
            "INSERT INTO file VALUES (1), (1), (2)",
        ]),
        case(COUNT, "DELETE FROM folder WHERE i = 7", vec![], Changes(0)),
        case(COUNT, "INSERT INTO o VALUES (1) ON CONFLICT DO NOTHING", vec![], Changes(0))
            .after(&["CREATE TABLE o (i UNIQUE)", "INSERT INTO o VALUES (1)"]),
        case(
            ROWS,
            "SELECT id, last_insert_rowid() AS last FROM w WHERE id = last_insert_rowid()",
            vec![],
            Rows(json!([{ "id": 1, "last": 1 }])),
        )
        .after(&["INSERT INTO w (t) VALUES ('x')"])
        .batch()
        .created("CREATE TABLE w (id INTEGER PRIMARY KEY, t)"),
        case(ROWS, "INSERT INTO w (t) VALUES ('y') RETURNING id, t", vec![], Rows(json!([{ "id": 2, "t": "y" }])))
            .batch(),
        case(TEXT, "SELECT CAST(x'ff61' AS TEXT) AS a", vec![], Rows(json!([{ "a": "\u{FFFD}a" }]))),
        case(FUNCTIONS, "SELECT t FROM f WHERE f MATCH 'tea'", vec![], Rows(json!([{ "t": "green tea" }])))
            .after(&["CREATE VIRTUAL TABLE f USING fts5 (t)", "INSERT INTO f VALUES ('green tea'), ('coffee')"]),
        case(
            FUNCTIONS,
            "SELECT '{\"a\":[1]}' -> '$.a' AS a, sqrt(4) AS b, strftime('%Y', 0, 'unixepoch') AS c, unhex('41') AS d",
            vec![],
            Rows(json!([{ "a": "[1]", "b": 2, "c": "1970", "d": [65] }])),
        ),
    ]
}

impl Case {
    /// Sets a statement that runs before the others, and outside of the batch.
    fn created(mut self, sql: &str) -> Self {
        self.statements.insert(0, (sql.to_owned(), Vec::new()));
        self
    }
}

pub(crate) async fn check(database: &Database) -> Vec<String> {
    let mut failures = Vec::new();
    for case in cases() {
        if let Err(failure) = case.check(database).await {
            failures.push(format!(
                "{} ({:.60}): {failure}",
                case.rule,
                case.statements.last().map_or("", |(sql, _)| sql)
            ));
        }
    }
    failures
}

impl Case {
    async fn check(&self, database: &Database) -> Result<(), String> {
        let statement = |(sql, values): &(String, Vec<SqlValue>)| {
            values.iter().cloned().fold(database.query(sql.clone()), Statement::bind)
        };
        let mut first: Vec<_> = self.statements.iter().map(statement).collect();
        let last = first.split_off(first.len().saturating_sub(if self.is_batch { 2 } else { 1 }));
        for statement in first {
            statement.run().await.map_err(|error| error.to_string())?;
        }
        if self.is_batch {
            return self.compare(&batched(database, last).await);
        }
        for statement in last {
            if !matches!(self.expected, Changes(_)) {
                self.compare(&statement.clone().all().await.map(Value::Array))?;
            }
            if matches!(self.expected, Changes(_) | Error(..)) {
                self.compare(&statement.run().await.map(Value::from))?;
            }
        }
        Ok(())
    }

    fn compare(&self, got: &Result<Value, DatabaseError>) -> Result<(), String> {
        let is_expected = match (&self.expected, got) {
            (Rows(expected), Ok(got)) => got == expected,
            (Changes(expected), Ok(got)) => got == expected,
            (Error(kind, part) | Unreadable(kind, part), Err(error)) => {
                error.kind == *kind && error.to_string().contains(part)
            }
            _ => false,
        };
        if is_expected { Ok(()) } else { Err(format!("{got:?}")) }
    }
}

/// Returns the rows of the last statement of a batch.
async fn batched(database: &Database, statements: Vec<Statement>) -> Result<Value, DatabaseError> {
    let results = database.batch(statements).await?;
    results.last().map_or(Ok(Value::Null), |rows| rows.all().map(Value::Array))
}
