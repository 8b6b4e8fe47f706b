//! How well the search finds texts in scripts without spaces between words.

use std::fs;
use std::path::Path;

use edge_mcp::rag::{ChunkOptions, Document, SaveStore, Search, SearchStore, chunks};
use edge_mcp::testing;
use serde_json::Map;

use crate::{memory, space, sqlite};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rag/languages");

const LANGUAGES: [&str; 4] = ["chinese", "japanese", "korean", "thai"];

/// Saves each section of each text as a document of its own. Returns the language of each question, and the place of the document that
/// answers it.
async fn places(store: &impl SaveStore) -> Vec<(String, Option<usize>)> {
    for language in LANGUAGES {
        let text = fs::read_to_string(Path::new(FOLDER).join(language).with_extension("md")).expect("a text");
        for section in text.split("# ").filter(|section| !section.is_empty()) {
            let (heading, _) = section.split_once('\n').expect("a heading");
            let chunks = chunks(&format!("# {section}"), &ChunkOptions::new());
            let document = Document { name: format!("{language} {heading}"), metadata: Map::new(), chunks };
            store.save(&space(), &document).await.expect("saved");
        }
    }
    let mut places = Vec::new();
    for row in fs::read_to_string(Path::new(FOLDER).join("questions.tsv")).expect("the questions").lines() {
        let [language, question, heading] = row.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let search = Search { space: space(), ..Search::new(question) };
        let found = store.search(search).await.expect("a search").passages;
        let place = found.iter().position(|found| found.passage.document == format!("{language} {heading}"));
        println!("{question}: {place:?}");
        places.push((language.to_owned(), place));
    }
    places
}

/// The questions of each language, and how many of them have the answer in the first place, and in the first five.
#[test]
fn questions_in_scripts_without_spaces_find_the_document_that_answers_them() {
    testing::run(async {
        let places = places(&*sqlite()).await;
        assert_eq!(places, self::places(&*memory()).await);
        let hits = LANGUAGES.map(|language| {
            let places: Vec<_> = places.iter().filter(|(of, _)| of == language).map(|(_, place)| *place).collect();
            let hits = |most| places.iter().flatten().filter(|place| **place < most).count();
            (language, places.len(), hits(1), hits(5))
        });
        assert_eq!(
            hits,
            [("chinese", 15, 15, 15), ("japanese", 15, 14, 15), ("korean", 15, 14, 15), ("thai", 15, 15, 15)]
        );
    });
}

#[test]
fn an_emoji_is_found() {
    testing::run(async {
        let store = sqlite();
        for (name, text) in [("launch", "Ready for launch 🚀"), ("party", "🎉🚀 and cake"), ("tea", "Warm the pot.")]
        {
            store.save(&space(), &crate::document(name, text)).await.expect("saved");
        }
        for (question, expected) in [("🚀", 2), ("🎉", 1), ("🍵", 0)] {
            let search = Search { space: space(), ..Search::new(question) };
            assert_eq!(store.search(search).await.expect("a search").passages.len(), expected, "{question}");
        }
    });
}
