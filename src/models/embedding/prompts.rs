//! The prompts that embedding models document for queries and passages.

/// The texts before queries and passages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptPrefixes {
    pub(super) query: String,
    pub(super) passage: String,
}

/// The prompts for queries and passages of models whose names contain the first text. The first row that matches applies.
///
/// Sources: the model cards of EmbeddingGemma, Qwen3-Embedding and E5.
const PROMPTS: [(&str, &str, &str); 5] = [
    ("-embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (
        "-qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
    ("-e5-large-instruct", E5_INSTRUCT, ""),
    ("-e5-mistral-7b-instruct", E5_INSTRUCT, ""),
    ("-e5-", "query: ", "passage: "),
];

const E5_INSTRUCT: &str =
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ";

impl PromptPrefixes {
    /// Returns the prompts of the model `name`, which may begin with its publisher, as in `intfloat/e5-small`.
    pub(super) fn of(name: &str) -> Self {
        let name = format!("-{}", name.to_ascii_lowercase().replace('/', "-"));
        let row = PROMPTS.iter().find(|(part, ..)| name.contains(part));
        row.map_or_else(Self::default, |(_, query, passage)| Self {
            query: (*query).into(),
            passage: (*passage).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PromptPrefixes;

    /// R45: the presets are the prompts that the models document.
    #[test]
    fn prompts_depend_on_the_name_of_the_model() {
        const TASK: &str =
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";
        let gemma = ("task: search result | query: ", "title: none | text: ");
        let spaced = format!("{TASK} ");
        for (name, (query, passage)) in [
            ("@cf/google/embeddinggemma-300m", gemma),
            ("embeddinggemma:latest", gemma),
            ("Qwen/Qwen3-Embedding-0.6B", (TASK, "")),
            ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
            ("E5-large-v2", ("query: ", "passage: ")),
            ("intfloat/multilingual-e5-large-instruct", (&spaced, "")),
            ("e5-mistral-7b-instruct", (&spaced, "")),
            ("@cf/baai/bge-m3", ("", "")),
            ("text-embedding-3-small", ("", "")),
            ("large5-base", ("", "")),
            ("", ("", "")),
        ] {
            assert_eq!(
                PromptPrefixes::of(name),
                PromptPrefixes { query: query.into(), passage: passage.into() },
                "{name}"
            );
        }
    }
}
