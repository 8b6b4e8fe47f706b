//! The statements of the store of passages.

use std::fmt::Debug;

use edge_mcp::rag::{
    ChunkOptions, Document, Edge, Filter, Link, Passage, SaveCounts, SaveStore, Search, SearchStore, Space,
    SqlitePassages, StoreError, StoreFailure, chunks,
};
use serde_json::json;

use crate::Failure;

/// Runs each statement of the store at least once.
pub(crate) async fn check(store: &SqlitePassages) -> Vec<Failure> {
    let mut checks = Checks { store, space: space("statements"), failures: Vec::new() };
    if let Err(error) = checks.run().await {
        checks.failures.push(format!("passages: {error:?}"));
    }
    checks.failures
}

fn space(index: &str) -> Space {
    Space { index: index.to_owned().into(), name: "passages".to_owned() }
}

fn document(name: &str, kind: &str, text: &str, links: &[&str]) -> Document {
    let mut chunks = chunks(text, &ChunkOptions::new().size(64));
    if let Some(first) = chunks.first_mut() {
        // A link is `document` or `document#section`.
        let link = |link: &&str| match link.split_once('#') {
            Some((document, section)) => Link { document: document.to_owned(), section: Some(section.to_owned()) },
            None => Link { document: (*link).to_owned(), section: None },
        };
        first.links = links.iter().map(link).collect();
    }
    Document { name: name.to_owned(), metadata: [("kind".to_owned(), json!(kind))].into_iter().collect(), chunks }
}

struct Checks<'s> {
    store: &'s SqlitePassages,
    space: Space,
    failures: Vec<Failure>,
}

impl Checks<'_> {
    fn equal<T: Debug + PartialEq>(&mut self, what: &str, got: &T, expected: &T) {
        if got != expected {
            self.failures.push(format!("{what}: {got:?}, expected {expected:?}"));
        }
    }

    async fn search(&self, question: &str, filter: Filter) -> Result<Vec<Passage>, StoreError> {
        let search = Search { space: self.space.clone(), ..Search::new(question).within(filter) };
        Ok(self.store.search(search).await?.passages.into_iter().map(|found| found.passage).collect())
    }

    /// Checks the names of the documents and the positions of the passages that a search finds.
    async fn finds(&mut self, question: &str, filter: Filter, expected: &[(&str, usize)]) -> Result<(), StoreError> {
        let found = self.search(question, filter).await?;
        let mut found: Vec<_> = found.iter().map(|passage| (passage.document.as_str(), passage.ordinal)).collect();
        found.sort_unstable();
        self.equal(question, &found, &expected.to_vec());
        Ok(())
    }

    async fn run(&mut self) -> Result<(), StoreError> {
        self.save().await?;
        self.read().await?;
        self.save_with_rows().await?;
        self.remove().await
    }

    async fn save(&mut self) -> Result<(), StoreError> {
        let first =
            document("a", "x", "# One\n\nThe walnut.\n\n# Two\n\nThe lantern.\n\n# Three\n\nThe harbor.", &["c"]);
        let saved = self.store.save(&self.space, &first).await?;
        self.equal("a new document", &saved, &SaveCounts { chunks: 3, inserted: 3, deleted: 0 });
        let saved = self.store.save(&self.space, &first).await?;
        self.equal("the same document", &saved, &SaveCounts { chunks: 3, inserted: 0, deleted: 0 });
        let moved = document(
            "a",
            "x",
            "# Two\n\nThe lantern.\n\n# One\n\nThe walnut.\n\n# Four\n\nThe violin.",
            &["b", "a#four"],
        );
        let text = "# Five\n\nThe walnut and the pumpkin.\n\nThe next paragraph of this section is in another passage.";
        let other = document("b", "y", text, &["c"]);
        let saved = self.store.save_all(&self.space, &[moved, other]).await?;
        self.equal("moved and new chunks", &saved, &SaveCounts { chunks: 5, inserted: 3, deleted: 1 });
        Ok(())
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let other = || Filter::eq("kind", "y");
        self.finds("walnut", Filter::default(), &[("a", 1), ("b", 0)]).await?;
        self.finds("walnut violin", other(), &[("b", 0)]).await?;
        self.finds("harbor", Filter::default(), &[]).await?;
        // One letter differs.
        self.finds("lanterm", Filter::default(), &[("a", 0)]).await?;
        self.finds("pumpkim", other(), &[("b", 0)]).await?;
        let unknown = Search { space: space("other"), ..Search::new("walnut") };
        let failure = self.store.search(unknown).await.err().map(|error| error.kind);
        self.equal("an unknown index", &failure, &Some(StoreFailure::UnknownIndex));

        let passages = self.search("lantern walnut violin", Filter::eq("kind", "x")).await?;
        let id = |ordinal| passages.iter().find(|passage| passage.ordinal == ordinal).map_or(0, |passage| passage.id);
        let (first, third) = (id(0), id(2));
        let linked = self.search("pumpkin", Filter::default()).await?.first().map_or(0, |passage| passage.id);
        let read = self.store.passages(&self.space, &[third, linked, first, 0], &Filter::eq("kind", "x")).await?;
        self.equal("passages", &read.iter().map(|passage| passage.id).collect::<Vec<_>>(), &vec![third, first]);

        for (filter, expected) in
            [(Filter::default(), vec![("b".to_owned(), 1)]), (Filter::eq("kind", "x"), Vec::new())]
        {
            let found = self.store.neighbours(&self.space, &[linked, first], 1, &filter).await?;
            let found: Vec<_> = found.into_iter().map(|passage| (passage.document, passage.ordinal)).collect();
            self.equal("neighbours", &found, &expected);
        }

        let edge = |source, target, weight| Edge { source, target, weight };
        let both = sorted(vec![edge(first, linked, 0.9), edge(linked, first, 0.9)]);
        for (seed, filter) in
            [(linked, Filter::default()), (first, Filter::default()), (first, Filter::ne("kind", "z"))]
        {
            let found = self.store.edges(&self.space, &[seed], 0.8, &filter).await?;
            self.equal("links between documents, in both directions", &sorted(found), &both);
        }
        let found = self.store.edges(&self.space, &[first], 0.5, &Filter::eq("kind", "x")).await?;
        self.equal("links to documents that match a filter", &found, &Vec::new());
        Ok(())
    }

    async fn save_with_rows(&mut self) -> Result<(), StoreError> {
        let (store, database) = (self.store, self.store.database());
        database.query("CREATE TABLE passage_rows (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE)").run().await?;
        store.save(&self.space, &document("2", "z", "# Earlier\n\nThe quartz.", &[])).await?;
        for (title, id) in [("bamboo", 1), ("candid", 2)] {
            let row = database.query("INSERT INTO passage_rows (title) VALUES (?1)").bind(title);
            let saved = store.save_with_row(&self.space, row, document("", "z", title, &[])).await?;
            self.equal("the id of a row", &saved, &id);
        }
        let row = database.query("INSERT INTO passage_rows (title) VALUES ('candid')");
        let is_saved = store.save_with_row(&self.space, row, document("", "z", "The quartz.", &[])).await.is_ok();
        self.equal("a row that exists", &is_saved, &false);
        self.finds("bamboo candid quartz", Filter::default(), &[("1", 0), ("2", 0)]).await?;
        database.query("DROP TABLE passage_rows").run().await?;
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        for (name, was_stored) in [("a", true), ("b", true), ("1", true), ("2", true), ("a", false)] {
            let removed = self.store.remove(&self.space, name).await?;
            self.equal(name, &removed, &was_stored);
        }
        for table in
            ["rag_documents", "rag_chunks", "rag_metadata", "rag_words", "rag_links", "rag_spaces WHERE passages <> 0"]
        {
            let count = self.store.database().query(format!("SELECT count(*) FROM {table}")).first::<u64>().await?;
            self.equal(table, &count, &Some(0));
        }
        Ok(())
    }
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by_key(|edge| (edge.source, edge.target));
    edges
}
