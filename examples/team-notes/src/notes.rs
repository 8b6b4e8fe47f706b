//! The notes, and the passages in which a search finds them. The document of a note has the id of the note as its name.

use std::fmt::Display;

use edge_mcp::rag::{ChunkOptions, Document, Space, SqlitePassages, chunks};
use edge_mcp::storage::Database;
use edge_mcp::{Context, HandlerError, Json, ResourceDescription};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the index that has the passages of all notes.
pub const INDEX: &str = "notes";

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Note {
    id: i64,
    title: String,
    text: String,
    author: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct NewNote {
    #[schemars(length(min = 1, max = 100))]
    title: String,
    /// The text as Markdown
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
}

pub async fn add(NewNote { title, text }: NewNote, cx: Context) -> Result<Json<Note>, HandlerError> {
    let author = cx.caller()?.subject.clone();
    let insert = "INSERT INTO notes (title, text, author) VALUES (?1, ?2, ?3)";
    let row = cx.state::<Database>()?.query(insert).bind(&title).bind(&text).bind(&author);
    let chunks = chunks(&format!("# {title}\n\n{text}"), &ChunkOptions::new());
    let document = Document { chunks, ..Document::default() };
    // The row and its passages are saved in one transaction.
    let id = cx.state::<SqlitePassages>()?.save_with_row(&space(), row, document).await?;
    Ok(Json(Note { id, title, text, author }))
}

#[derive(Deserialize, JsonSchema)]
pub struct FindNotes {
    /// A part of the title or the text
    #[schemars(length(min = 1, max = 100))]
    part: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Notes {
    /// At most 20 notes, the newest first
    notes: Vec<Note>,
}

pub async fn find(FindNotes { part }: FindNotes, cx: Context) -> Result<Json<Notes>, HandlerError> {
    // `instr` has no limit of 50 bytes, as a pattern of LIKE has.
    let find = "SELECT id, title, text, author FROM notes WHERE instr(lower(title || ' ' || text), lower(?1))
        ORDER BY id DESC LIMIT 20";
    Ok(Json(Notes { notes: cx.state::<Database>()?.query(find).bind(part).all().await? }))
}

#[derive(Deserialize, JsonSchema)]
pub struct NoteId {
    /// The id of the note
    id: i64,
}

pub async fn delete(note: NoteId, cx: Context) -> Result<String, HandlerError> {
    let Note { id, title, author, .. } = note.load(&cx).await?;
    if !cx.confirm("delete", &format!("Delete the note \"{title}\" of {author}?")).await? {
        return Ok("The note was not deleted.".to_owned());
    }
    let notes = cx.state::<Database>()?;
    let row = notes.query("DELETE FROM notes WHERE id = ?1").bind(id);
    let passages = cx.state::<SqlitePassages>()?.remove_statement(&space(), &id.to_string());
    notes.batch([row, passages]).await?;
    Ok(format!("Deleted the note \"{title}\"."))
}

pub async fn read(note: NoteId, cx: Context) -> Result<String, HandlerError> {
    let Note { title, text, author, .. } = note.load(&cx).await?;
    Ok(format!("# {title}\n\nby {author}\n\n{text}"))
}

pub async fn list(cx: Context) -> Result<Vec<ResourceDescription>, HandlerError> {
    let titles = cx.state::<Database>()?.query("SELECT id, title FROM notes ORDER BY id DESC LIMIT 100");
    let titles: Vec<(i64, String)> = titles.all().await?;
    Ok(titles.into_iter().map(|(id, title)| ResourceDescription::new(uri(id), title)).collect())
}

pub async fn summarize(note: NoteId, cx: Context) -> Result<String, HandlerError> {
    Ok(format!("Summarize this note in one sentence.\n\n{}", read(note, cx).await?))
}

pub fn uri(id: impl Display) -> String {
    format!("notes://{id}")
}

fn space() -> Space {
    Space { index: INDEX.into(), ..Space::default() }
}

impl NoteId {
    async fn load(&self, cx: &Context) -> Result<Note, HandlerError> {
        let select = "SELECT id, title, text, author FROM notes WHERE id = ?1";
        let note = cx.state::<Database>()?.query(select).bind(self.id).first().await?;
        note.ok_or_else(|| HandlerError::not_found("There is no note with this id. Call find-notes for the ids."))
    }
}
