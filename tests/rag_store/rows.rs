//! Documents that are saved with a row of the program, whose id the database chooses.

use edge_mcp::rag::{Document, Passage, SaveStore, Search, SearchStore, SqlitePassages, StoreError, StoreFailure};
use edge_mcp::testing;

use crate::{document, space, sqlite_with};

const NOTES: &str = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE);";

async fn run(store: &SqlitePassages, sql: &'static str) {
    store.database().query(sql).run().await.expect(sql);
}

async fn add(store: &SqlitePassages, title: Option<&str>, document: Document) -> Result<i64, StoreError> {
    let row = store.database().query("INSERT INTO notes (title) VALUES (?1)").bind(title.map(str::to_owned));
    store.save_with_row(&space(), row, document).await
}

/// Adds a note whose text is its title.
async fn added(store: &SqlitePassages, title: &str) -> i64 {
    add(store, Some(title), document("ignored", &format!("# {title}\n\nThe {title}."))).await.expect("added")
}

async fn search(store: &SqlitePassages, word: &str) -> Vec<Passage> {
    let found = store.search(Search { space: space(), ..Search::new(word) }).await.expect("a search");
    found.passages.into_iter().map(|found| found.passage).collect()
}

/// Returns the names of the documents that contain a word.
async fn found(store: &SqlitePassages, word: &str) -> Vec<String> {
    search(store, word).await.into_iter().map(|passage| passage.document).collect()
}

/// Returns the titles of the notes, and the names of the documents.
async fn stored(store: &SqlitePassages) -> (Vec<String>, Vec<String>) {
    let database = store.database();
    let titles = database.query("SELECT title FROM notes ORDER BY id").all().await.expect("titles");
    let names = database.query("SELECT name FROM rag_documents ORDER BY id").all().await.expect("names");
    (titles, names)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_document_has_the_id_of_its_row() {
    testing::run(async {
        let store = sqlite_with(NOTES);
        run(&store, "INSERT INTO notes VALUES (40, 'first')").await;
        assert_eq!(added(&store, "walnut").await, 41);
        assert_eq!(added(&store, "tulip").await, 42);
        assert_eq!(stored(&store).await, (texts(&["first", "walnut", "tulip"]), texts(&["41", "42"])));
        assert_eq!(found(&store, "walnut").await, ["41"]);
        assert_eq!(found(&store, "tulip").await, ["42"]);
        assert!(store.remove(&space(), "41").await.expect("removed"));
        assert_eq!(found(&store, "walnut").await, [""; 0]);
        assert_eq!(found(&store, "tulip").await, ["42"]);
    });
}

/// The id can be that of a row that the program has deleted without its document.
#[test]
fn the_document_replaces_an_earlier_one_of_its_name() {
    testing::run(async {
        let store = sqlite_with(NOTES);
        let earlier = document("1", "# Walnut\n\nThe walnut.\n\n# Tulip\n\nThe tulip.");
        store.save(&space(), &earlier).await.expect("saved");
        assert_eq!(added(&store, "lantern").await, 1);
        assert_eq!(found(&store, "walnut").await, [""; 0]);
        assert_eq!(found(&store, "lantern").await, ["1"]);

        run(&store, "DELETE FROM notes").await;
        assert_eq!(add(&store, Some("empty"), document("", "")).await.expect("added"), 1);
        assert_eq!(stored(&store).await, (texts(&["empty"]), texts(&[])), "a document without chunks is not stored");
    });
}

/// R111: both are saved, or none.
#[test]
fn a_failure_saves_neither_the_row_nor_the_document() {
    testing::run(async {
        let store = sqlite_with(NOTES);
        assert_eq!(added(&store, "walnut").await, 1);
        let before = (stored(&store).await, search(&store, "walnut").await);
        let valid = || document("", "# Tulip\n\nThe tulip.");
        let large = Document { chunks: vec![valid().chunks.remove(0); 2001], ..valid() };
        for (title, document, kind) in [
            (None, valid(), StoreFailure::Constraint),
            (Some("walnut"), valid(), StoreFailure::Constraint),
            (Some("tulip"), large, StoreFailure::Document),
        ] {
            let error = add(&store, title, document).await.expect_err("a failure");
            assert_eq!(error.kind, kind, "{error:?}");
            assert_eq!((stored(&store).await, search(&store, "walnut").await), before, "{error:?}");
            assert_eq!(found(&store, "tulip").await, [""; 0], "{error:?}");
        }
        for sql in [
            "INSERT OR IGNORE INTO notes (title) VALUES ('walnut')",
            "INSERT INTO notes (title) VALUES ('walnut') ON CONFLICT DO UPDATE SET title = excluded.title",
            "UPDATE notes SET title = 'walnut'",
            "INSERT INTO notes (title) SELECT 'pine' WHERE 0",
        ] {
            let error = store.save_with_row(&space(), store.database().query(sql), valid()).await.expect_err(sql);
            assert_eq!(error.kind, StoreFailure::Constraint, "{error:?}");
            assert_eq!((stored(&store).await, search(&store, "walnut").await), before, "{sql}");
        }
        assert_eq!(added(&store, "tulip").await, 2);
    });
}

/// Triggers can insert rows into other tables, also into an index of words, and delete documents.
#[test]
fn rows_that_triggers_insert_do_not_change_the_id() {
    const TRIGGER: &str = "\
CREATE TABLE log (id INTEGER PRIMARY KEY, note INTEGER);
INSERT INTO log VALUES (500, 0);
CREATE VIRTUAL TABLE titles USING fts5 (title);
CREATE TRIGGER notes_inserted AFTER INSERT ON notes BEGIN
  INSERT INTO log (note) VALUES (new.id);
  INSERT INTO titles (rowid, title) VALUES (new.id + 900, new.title);
  DELETE FROM rag_documents WHERE name = 'obsolete';
END;";
    testing::run(async {
        let store = sqlite_with(&[NOTES, TRIGGER].concat());
        store.save(&space(), &document("obsolete", "# Obsolete\n\nThe walnut.")).await.expect("saved");
        store.save(&space(), &document("2", "# Earlier\n\nThe walnut.")).await.expect("saved");
        assert_eq!(added(&store, "walnut").await, 1);
        assert_eq!(added(&store, "tulip").await, 2);
        assert_eq!(found(&store, "walnut").await, ["1"]);
        assert_eq!(found(&store, "tulip").await, ["2"]);
        let logged: Vec<i64> = store.database().query("SELECT note FROM log ORDER BY id").all().await.expect("rows");
        assert_eq!(logged, [0, 1, 2]);
    });
}
