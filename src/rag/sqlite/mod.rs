//! A store in SQLite, such as D1.

mod rows;
mod statements;
pub(super) mod vectors;

use std::collections::BTreeSet;

use edge_json::number;
use futures::FutureExt;

use super::document::Document;
use super::filter::Filter;
use super::filter::field::quoted;
use super::passage::{Edge, Passage, PassageId, Space};
use super::rank::ByWords;
use super::search::Search;
use super::search_result::SearchResult;
use super::store::{SaveCounts, SaveStore, SearchStore, StoreFuture};
use super::store_error::{StoreError, StoreFailure};
use crate::config::ConfigError;
use crate::limits::{RAG_CORRECTED_WORDS, RAG_GRAPH_NODES, RAG_READ_EDGES, RAG_SIMILAR_WORDS};
use crate::storage::{Database, Rows, Statement};
use crate::words::query::{IndexedWord, Words, beginning};
use rows::{Array, DocumentGroup, Statistics, array, found, groups, passages, read, unavailable};

/// The prefix of the tables in the texts of the statements.
const PREFIX: &str = "rag";
/// The longest prefix of the names of the tables.
const MOST_PREFIX: usize = 31;

/// Returns the SQL that creates the tables of a store in SQLite, for a migration of the program.
///
/// The names of the tables, the indexes and the triggers begin with `prefix`. [`SqlitePassages::new`] expects the prefix `rag`, and
/// [`SqlitePassages::tables`] sets another one. A test of the program can compare its migration with this text:
///
/// ```
/// let sql = edge_mcp::rag::migration("rag").expect("a valid prefix");
/// assert!(sql.contains("CREATE TABLE rag_documents ("));
/// ```
///
/// # Errors
/// The prefix does not begin with `a-z`, contains other characters than `a-z`, `0-9` and `_`, or is longer than 31 characters.
pub fn migration(prefix: &str) -> Result<String, ConfigError> {
    check_prefix(prefix)?;
    Ok(statements::named(include_str!("migrations/0001_passages.sql"), prefix))
}

fn check_prefix(prefix: &str) -> Result<(), ConfigError> {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_prefix = prefix.starts_with(|first: char| first.is_ascii_lowercase())
        && prefix.len() <= MOST_PREFIX
        && prefix.bytes().all(is_part);
    if is_prefix {
        return Ok(());
    }
    Err(ConfigError::new(
        "the prefix of the tables",
        format!("must begin with a-z, and have at most {MOST_PREFIX} characters of a-z, 0-9 and _ (got `{prefix}`)"),
    ))
}

/// A store in a database with SQLite.
///
/// The store does not create its tables. [`migration`] returns their SQL. Several indexes and spaces share the tables. The results of a
/// search depend only on the documents of its space that match its filter.
#[derive(Clone, Debug)]
pub struct SqlitePassages {
    database: Database,
    prefix: String,
}

impl SqlitePassages {
    /// Creates a store in `database`. The names of its tables begin with `rag_`.
    pub fn new(database: Database) -> Self {
        Self { database, prefix: PREFIX.to_owned() }
    }

    /// Sets the prefix of the names of the tables. With the prefix `kb`, the chunks are in `kb_chunks`.
    ///
    /// # Errors
    /// The prefix does not begin with `a-z`, contains other characters than `a-z`, `0-9` and `_`, or is longer than 31 characters.
    pub fn tables(self, prefix: &str) -> Result<Self, ConfigError> {
        check_prefix(prefix)?;
        Ok(Self { prefix: prefix.to_owned(), ..self })
    }

    /// Returns the database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Returns statements that replace the chunks of these documents. A program can run them in one transaction with its own statements.
    ///
    /// The statements compare the chunks with the stored chunks. So two clients can save the same document at the same time: the later
    /// transaction replaces all chunks of the earlier one.
    ///
    /// # Errors
    /// A document is [not valid](Document::check), or two documents have the same name.
    pub fn save_statements(&self, space: &Space, documents: &[Document]) -> Result<Vec<Statement>, StoreError> {
        check_all(documents)?;
        self.write_all(space, documents)
    }

    /// Returns the statements that write valid documents.
    fn write_all(&self, space: &Space, documents: &[Document]) -> Result<Vec<Statement>, StoreError> {
        Ok(groups(documents)?.iter().flat_map(|group| self.write(space, group)).collect())
    }

    /// Returns the statements that write a group.
    fn write(&self, space: &Space, group: &DocumentGroup) -> Vec<Statement> {
        let DocumentGroup { documents, keys, chunks, metadata, links, .. } = group;
        let before = [
            (statements::INSERT_SPACE, vec![]),
            (statements::DELETE_DOCUMENTS, vec![documents]),
            (statements::SAVE_DOCUMENTS, vec![documents]),
            (statements::DELETE_CHUNKS, vec![documents, keys]),
            (statements::MOVE_CHUNKS, vec![keys]),
        ];
        let chunks = chunks.iter().map(|chunks| (statements::INSERT_CHUNKS, vec![chunks]));
        let after = [
            (statements::DELETE_METADATA, vec![documents, keys]),
            (statements::DELETE_LINKS, vec![documents, links]),
            (statements::INSERT_LINKS, vec![links]),
        ];
        let metadata = metadata.iter().map(|metadata| (statements::SAVE_METADATA, vec![metadata]));
        let all = before.into_iter().chain(chunks).chain(after).chain(metadata);
        all.map(|(sql, values)| self.statement(sql, space, values.into_iter().map(Array::json).collect())).collect()
    }

    /// Returns the statement that removes a document with all of its passages.
    pub fn remove_statement(&self, space: &Space, document: &str) -> Statement {
        self.statement(statements::REMOVE, space, vec![document.to_owned()])
    }

    /// Returns a statement with these values.
    fn plain(&self, sql: &str, values: Vec<String>) -> Statement {
        let statement = self.database.query(statements::named(sql, &self.prefix));
        values.into_iter().fold(statement, Statement::bind)
    }

    /// Returns a statement whose first parameters are the index and the space.
    fn statement(&self, sql: &str, space: &Space, values: Vec<String>) -> Statement {
        self.plain(sql, [vec![space.index.to_string(), space.name.clone()], values].concat())
    }

    /// Returns a statement with a filter. The values of the filter are its third parameter.
    fn filtered(
        &self,
        sql: &str,
        space: &Space,
        filter: &Filter,
        values: Vec<String>,
    ) -> Result<Statement, StoreError> {
        self.with_condition(|filter| statements::filtered_by(sql, filter), space, filter, values)
    }

    /// Returns the statement that `text` returns for the condition of a filter, or for `None` if the filter matches everything. The values of
    /// the filter are its third parameter.
    fn with_condition(
        &self,
        text: impl FnOnce(Option<&str>) -> String,
        space: &Space,
        filter: &Filter,
        values: Vec<String>,
    ) -> Result<Statement, StoreError> {
        let condition = filter.to_sql("{metadata}", 3)?;
        let text = text((!filter.is_empty()).then_some(condition.text.as_str()));
        Ok(self.statement(&text, space, [vec![condition.values], values].concat()))
    }

    fn search_statement(&self, search: &Search, words: &Words) -> Result<Statement, StoreError> {
        let similar = words.correctable().map(|stem| (stem, beginning(stem), halves(stem)));
        let similar = similar.map(|(stem, beginning, (first, last))| [Some(stem), beginning, first, last]);
        let mut values = vec![
            array(words.stems()),
            search.most.to_string(),
            array(similar),
            RAG_CORRECTED_WORDS.to_string(),
            RAG_SIMILAR_WORDS.to_string(),
        ];
        values.extend(search.containing.clone());
        let text = |filter: Option<&str>| statements::search(filter, search.containing.is_some());
        self.with_condition(text, &search.space, &search.filter, values)
    }
}

/// Checks documents that are saved together. Two documents of the same name would be stored as one document with the chunks of both.
fn check_all(documents: &[Document]) -> Result<(), StoreError> {
    let mut names = BTreeSet::new();
    for document in documents {
        document.check()?;
        if !names.insert(&*document.name) {
            let name = quoted(&document.name);
            let cause = format!("Two documents have the name {name}. Save one of them, or give them different names.");
            return Err(StoreError { kind: StoreFailure::Document, cause });
        }
    }
    Ok(())
}

/// Returns two parts of a stem, of which a word that differs by one letter, or by the order of two adjacent letters, has at least one.
fn halves(stem: &str) -> (Option<&str>, Option<&str>) {
    let half = stem.len() / 2;
    (stem.get(..half), stem.get(half.saturating_add(1)..))
}

impl SqlitePassages {
    /// Replaces the chunks of several documents: of all of them, or of none. Returns the sum of the changes.
    ///
    /// # Errors
    /// A document is [not valid](Document::check), two documents have the same name, or the database failed.
    pub async fn save_all(&self, space: &Space, documents: &[Document]) -> Result<SaveCounts, StoreError> {
        check_all(documents)?;
        let groups = groups(documents)?;
        let count = |group: &DocumentGroup| {
            self.statement(statements::COUNT, space, vec![group.documents.json(), group.keys.json()])
        };
        let mut batch: Vec<_> = groups.iter().map(count).collect();
        batch.extend(groups.iter().flat_map(|group| self.write(space, group)));
        let mut saved = SaveCounts { chunks: groups.iter().map(|group| group.count).sum(), ..SaveCounts::default() };
        if batch.is_empty() {
            return Ok(saved);
        }
        let results = self.database.batch(batch).await?;
        let mut kept_chunks: usize = 0;
        for counted in results.iter().take(groups.len()) {
            for (stored, kept) in read::<(usize, usize)>(counted.all()?)? {
                saved.deleted = saved.deleted.saturating_add(stored.saturating_sub(kept));
                kept_chunks = kept_chunks.saturating_add(kept);
            }
        }
        saved.inserted = saved.chunks.saturating_sub(kept_chunks);
        Ok(saved)
    }

    /// Inserts a row of the program, and saves the document of this row: both, or none. The database chooses the id of the row, and the id
    /// is the name of the document. Returns the id.
    ///
    /// `row` is an INSERT into a table with an `INTEGER PRIMARY KEY`. The name of `document` is ignored.
    ///
    /// ```
    /// use edge_mcp::rag::{ChunkOptions, Document, Space, SqlitePassages, StoreError, chunks};
    ///
    /// async fn add(notes: &SqlitePassages, title: &str, text: &str) -> Result<i64, StoreError> {
    ///     let space = Space { index: "notes".into(), name: String::new() };
    ///     let row = notes.database().query("INSERT INTO notes (title, text) VALUES (?1, ?2)").bind(title).bind(text);
    ///     let document = Document {
    ///         name: String::new(),
    ///         metadata: [("title".to_owned(), title.into())].into_iter().collect(),
    ///         chunks: chunks(text, &ChunkOptions::new()),
    ///     };
    ///     notes.save_with_row(&space, row, document).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The document is [not valid](Document::check), or the database failed. [`StoreFailure::Constraint`](super::StoreFailure::Constraint) if
    /// a constraint rejects the row, or if `row` inserts nothing.
    pub async fn save_with_row(&self, space: &Space, row: Statement, document: Document) -> Result<i64, StoreError> {
        let document = Document { name: "a row".to_owned(), ..document };
        document.check()?;
        let document = Document { name: statements::UNNAMED.to_owned(), ..document };
        let mut batch = self.write_all(space, &[document])?;
        let unbound = |sql| self.plain(sql, Vec::new());
        batch.extend([
            unbound(statements::MARK),
            unbound(statements::REMOVE_MARK),
            row,
            unbound(statements::EXPECT_ROW),
        ]);
        batch.push(self.statement(statements::REMOVE_OF_ROW, space, Vec::new()));
        batch.push(self.statement(statements::NAME_BY_ROW, space, vec![statements::UNNAMED.to_owned()]));
        batch.push(self.database.query("SELECT last_insert_rowid() AS id"));
        let results = self.database.batch(batch).await?;
        let id = results.last().map(Rows::first).transpose()?.flatten();
        id.ok_or_else(|| unavailable("an INSERT returned no id"))
    }

    /// Returns the passages with any of the words of a question.
    async fn candidates(&self, search: &Search) -> Result<ByWords, StoreError> {
        search.filter.check()?;
        let mut words = Words::of(&search.text);
        if words.is_empty() {
            return Ok(ByWords::default());
        }
        let (mut statistics, mut passages) = self.run(search, &words).await?;
        if statistics.1 == 1 {
            return Err(StoreError::unknown_index(&search.space.index));
        }
        let word = |(stem, passages)| IndexedWord { stem, passages };
        if words.learn(&statistics.2.into_iter().map(word).collect::<Vec<_>>()) {
            (statistics, passages) = self.run(search, &words).await?;
        }
        Ok(ByWords { words, number: statistics.0, passages })
    }

    async fn run(&self, search: &Search, words: &Words) -> Result<(Statistics, Vec<Passage>), StoreError> {
        found(self.search_statement(search, words)?.all().await?)
    }

    async fn find_edges(
        &self,
        sql: &str,
        space: &Space,
        seeds: &[PassageId],
        threshold: f64,
        filter: &Filter,
    ) -> Result<Vec<Edge>, StoreError> {
        let around = RAG_GRAPH_NODES.saturating_sub(seeds.len());
        let values = vec![array(seeds), number::text(threshold), around.to_string(), RAG_READ_EDGES.to_string()];
        let statement = self.filtered(sql, space, filter, values)?;
        let edges: Vec<(PassageId, PassageId, f64)> = read(statement.all().await?)?;
        Ok(edges.into_iter().map(|(source, target, weight)| Edge { source, target, weight }).collect())
    }
}

impl SearchStore for SqlitePassages {
    fn search(&self, search: Search) -> StoreFuture<'_, SearchResult> {
        async move { Ok(self.candidates(&search).await?.ranked()) }.boxed_local()
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        async move {
            let statement = self.filtered(statements::PASSAGES, space, filter, vec![array(ids)])?;
            passages(statement.all().await?)
        }
        .boxed_local()
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        async move {
            let values = vec![array(ids), distance.to_string()];
            passages(self.filtered(statements::NEIGHBOURS, space, filter, values)?.all().await?)
        }
        .boxed_local()
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Edge>> {
        async move { self.find_edges(&statements::edges(false), space, seeds, threshold, filter).await }.boxed_local()
    }
}

impl SaveStore for SqlitePassages {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> StoreFuture<'a, SaveCounts> {
        self.save_all(space, std::slice::from_ref(document)).boxed_local()
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> StoreFuture<'a, bool> {
        async move {
            let removed: Vec<String> = self.remove_statement(space, document).all().await?;
            Ok(!removed.is_empty())
        }
        .boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RAG_CHUNK_MOST_BYTES;
    use crate::rag::{Chunk, ChunkOptions, Link, chunks};
    use crate::storage::SqlValue;
    use crate::testing::{self, TestDatabase};

    fn store() -> SqlitePassages {
        SqlitePassages::new(TestDatabase::empty().database())
    }

    /// Returns the texts of a statement that are not the index and the space.
    fn texts(statement: &Statement) -> Vec<&str> {
        let values = statement.values().iter().skip(2);
        values.map(|value| if let SqlValue::Text(text) = value { text.as_str() } else { panic!("{value:?}") }).collect()
    }

    fn space() -> Space {
        Space { index: "docs".into(), name: "tenant".into() }
    }

    fn document(name: &str, text: &str) -> Document {
        let mut chunks = chunks(text, &ChunkOptions::new());
        if let Some(first) = chunks.first_mut() {
            first.links = vec![Link { document: "other".into(), section: None }];
        }
        Document { name: name.into(), metadata: serde_json::Map::new(), chunks }
    }

    fn search() -> Statement {
        let search = Search { space: space(), ..Search::new("tea").top_k(5).within(Filter::eq("a", 1)) };
        store().search_statement(&search, &Words::of("tea")).expect("valid")
    }

    /// R22, R72: every statement on passages and links selects by the index and the space, and every statement that reads applies the filter.
    #[test]
    fn statements_select_by_space() {
        let mut all = store().save_statements(&space(), &[document("a", "# A\n\nText.")]).expect("statements");
        all.push(store().remove_statement(&space(), "a"));
        for filter in [Filter::default(), Filter::eq("a", 1)] {
            for sql in [statements::PASSAGES, statements::NEIGHBOURS, &statements::edges(false), statements::COUNT] {
                let statement = store().filtered(sql, &space(), &filter, Vec::new()).expect("valid");
                let is_filtered = statement.sql().contains("json_type(");
                assert_eq!(is_filtered, !filter.is_empty() && sql != statements::COUNT, "{}", statement.sql());
                all.push(statement);
            }
            for containing in [None, Some("pot".to_owned())] {
                let asked = Search { space: space(), containing, ..Search::new("tea").within(filter.clone()) };
                all.push(store().search_statement(&asked, &Words::of("tea")).expect("valid"));
            }
        }
        for statement in all {
            let sql = statement.sql();
            assert_eq!(statement.values()[..2], [SqlValue::from("docs"), SqlValue::from("tenant")]);
            let selects = sql.contains("index_name = ?1") && sql.contains("space = ?2");
            assert!(selects || sql.contains("SELECT ?1, ?2"), "{sql}");
            assert!(!sql.contains('{'), "{sql}");
        }
    }

    /// R21: the values of a filter are a parameter.
    #[test]
    fn the_text_of_a_statement_contains_no_value() {
        let search = search();
        let sql = search.sql();
        assert_eq!(texts(&search), [r#"["$.\"a\"",[1.0]]"#, r#"["tea"]"#, "5", "[]", "4", "1000"]);
        assert!(sql.contains("json_type(document.metadata, "), "{sql}");
        assert!(!sql.contains("tea"), "{sql}");
    }

    #[test]
    fn a_similar_word_has_a_half_of_the_misspelled_word() {
        let (first, last) = halves("templat");
        let (first, last) = (first.expect("a half"), last.expect("a half"));
        for similar in
            ["templt", "tempalt", "tempalat", "templaat", "etmplat", "tmplat", "templas", "xemplat", "temxlat"]
        {
            assert!(similar.starts_with(first) || similar.ends_with(last), "{similar}");
        }
    }

    #[test]
    fn an_invalid_filter_is_an_error() {
        let error = store().filtered(statements::PASSAGES, &space(), &Filter::eq("$a", 1), Vec::new()).unwrap_err();
        assert_eq!(error.kind, StoreFailure::Filter);
    }

    /// R29: many rows are one parameter. D1 limits a value to 2 MB, also for documents at every limit.
    #[test]
    fn lists_are_parameters_of_a_limited_size() {
        let text = |number| format!("## H{number}\n\n{}\n\n", "word ".repeat(250));
        let text: String = (0..1500).fold(String::new(), |all, number| all + &text(number));
        // JSON doubles quotes. A control character takes 6 bytes. The lower case of `Ⱥ` is longer.
        let name = "\"".repeat(256);
        let link = Link { document: name.clone(), section: Some("Ⱥ".repeat(128)) };
        let links = vec![link; 1000];
        let largest = Chunk { text: "\u{1}".repeat(RAG_CHUNK_MOST_BYTES), links, ..Chunk::default() };
        let chunks = [largest.clone(), largest]
            .into_iter()
            .chain(chunks(&text, &ChunkOptions::new()))
            .chain((0..498).map(|number| Chunk { text: format!("{number}"), ..Chunk::default() }));
        let at_limits = Document { chunks: chunks.collect(), ..document(&name, "") };
        let documents = [document("a", &text), document("b", "Text."), at_limits, document("c", &text)];
        let statements = store().save_statements(&space(), &documents).expect("statements");
        let inserts = statements.iter().filter(|statement| statement.sql().contains("INSERT INTO rag_chunks ")).count();
        assert!((10..20).contains(&inserts), "{inserts}");
        for statement in &statements {
            for list in texts(statement) {
                assert!(list.len() < 2_000_000, "{}", list.len());
                assert!(serde_json::from_str::<Vec<serde_json::Value>>(list).is_ok());
            }
        }
        assert!(store().save_statements(&space(), &[]).expect("statements").is_empty());
    }

    /// R65: a document beyond a limit is an error, and nothing is written.
    #[test]
    fn a_document_beyond_a_limit_is_an_error() {
        let documents = [document("a", "Text."), document("", "Text.")];
        let error = store().save_statements(&space(), &documents).expect_err("no name");
        assert_eq!(error.kind, StoreFailure::Document);
    }

    /// Two documents of one name are an error, and nothing is written. Otherwise, the stored document would have the chunks of both.
    #[test]
    fn documents_of_one_name_are_an_error() {
        let test = TestDatabase::empty();
        test.migrate(&migration("rag").expect("a prefix")).expect("the tables of passages");
        let store = SqlitePassages::new(test.database());
        let documents = [document("a", "Tea."), document("b", "Text."), document("a", "Coffee.")];
        assert_eq!(store.save_statements(&space(), &documents).expect_err("one name").kind, StoreFailure::Document);
        testing::run(async {
            let error = store.save_all(&space(), &documents).await.expect_err("one name");
            assert_eq!(error.kind, StoreFailure::Document);
            assert_eq!(error.cause, "Two documents have the name `a`. Save one of them, or give them different names.");
            let chunks: Vec<String> = store.database().query("SELECT text FROM rag_chunks").all().await.expect("rows");
            assert_eq!(chunks, [""; 0]);
            assert_eq!(store.save_all(&space(), &documents[..2]).await.expect("two names").chunks, 2);
        });
    }

    /// A row that a constraint rejects is not saved, and its document is not saved either.
    #[test]
    fn a_rejected_row_saves_nothing() {
        let test = TestDatabase::empty();
        test.migrate(&migration("rag").expect("a prefix")).expect("the tables of passages");
        test.migrate("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT UNIQUE)").expect("a table");
        let notes = SqlitePassages::new(test.database());
        let space = space();
        let add = || {
            let row = notes.database().query("INSERT INTO notes (title) VALUES (?1)").bind("Tea");
            notes.save_with_row(&space, row, document("", "Text."))
        };
        testing::run(async {
            assert_eq!(add().await.expect("a new title"), 1);
            let error = add().await.expect_err("a title that a note has");
            assert_eq!(error.kind, StoreFailure::Constraint);
            assert!(error.cause.contains("UNIQUE constraint failed: notes.title"), "{}", error.cause);
            let documents: Vec<String> =
                notes.database().query("SELECT name FROM rag_documents").all().await.expect("rows");
            assert_eq!(documents, ["1"]);
        });
    }

    /// R30: the names of the tables have a prefix, which the program can change.
    #[test]
    fn the_tables_have_a_prefix() {
        let store = store().tables("kb").expect("a prefix");
        let statement = store.statement(statements::REMOVE, &space(), Vec::new());
        assert!(statement.sql().starts_with("DELETE FROM kb_documents "), "{}", statement.sql());
        let long = "a".repeat(32);
        for invalid in ["", "Kb", "1a", "a b", "a\"", "ä", &long] {
            assert!(store.clone().tables(invalid).is_err(), "{invalid}");
            assert!(migration(invalid).is_err(), "{invalid}");
        }
    }

    /// R30: the migration names the tables as the statements do.
    #[test]
    fn the_migration_has_the_tables_of_the_statements() {
        let migration = migration("kb").expect("a prefix");
        assert!(!migration.contains("rag_"), "{migration}");
        let mut statements = store().save_statements(&space(), &[document("a", "Text.")]).expect("statements");
        statements.extend([search(), store().statement(&statements::edges(false), &space(), Vec::new())]);
        let of_prefix = |word: &&str| word.starts_with("rag_");
        let texts = statements.iter().map(Statement::sql);
        let names = texts.flat_map(|sql| sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
        let tables: BTreeSet<_> = names.filter(of_prefix).map(|name| name.replace("rag_", "kb_")).collect();
        assert_eq!(tables.len(), 7, "{tables:?}");
        for table in tables {
            assert!(migration.contains(&format!("TABLE {table} ")), "{table}");
        }
    }
}
