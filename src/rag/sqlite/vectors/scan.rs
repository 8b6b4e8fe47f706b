//! The codes of a space, and the passages whose codes are nearest to that of a question.

use serde::Deserialize;

use super::statements;
use super::tables::Tables;
use crate::rag::passage::PassageId;
use crate::rag::search::{Meaning, Search};
use crate::rag::sqlite::rows::unavailable;
use crate::rag::sqlite::statements::filtered_by;
use crate::rag::store_error::{StoreError, StoreFailure};
use crate::rag::vectors::code::{Nearest, candidates, code, parse_centre};

/// The model of an index, and the number of passages of a space.
#[derive(Deserialize)]
pub(super) struct Model {
    #[serde(rename = "model")]
    pub(super) name: String,
    pub(super) dimensions: usize,
    pub(super) saved: usize,
    pub(super) centre: String,
    pub(super) generation: usize,
    passages: usize,
}

/// The codes of some passages: one text, and the numbers of the passages.
#[derive(Deserialize)]
struct Page {
    codes: String,
    ids: String,
}

pub(super) struct Scan {
    /// The model, if the index has vectors.
    pub(super) model: Option<Model>,
    pages: Vec<Page>,
}

impl Model {
    /// # Errors
    /// The vectors of the index come from another model, or have other dimensions.
    pub(super) fn check(&self, model: &str, dimensions: usize) -> Result<(), StoreError> {
        StoreError::check_model((&self.name, self.dimensions), (model, dimensions))
    }

    /// Returns the centre of the vectors.
    pub(super) fn centre(&self) -> Result<Vec<f32>, StoreError> {
        if self.centre.is_empty() {
            return Ok(vec![0.0; self.dimensions]);
        }
        let centre = parse_centre(&self.centre).filter(|centre| centre.len() == self.dimensions);
        centre.ok_or_else(|| unavailable("the centre of the vectors is malformed"))
    }
}

impl Tables {
    /// Reads the codes in which a search by meaning looks for the nearest passages.
    pub(super) async fn scan(&self, search: &Search, meaning: &Meaning) -> Result<Scan, StoreError> {
        let scan = self.read_codes(search).await?;
        let Some(model) = &scan.model else { return Ok(scan) };
        model.check(&meaning.model, model.dimensions)?;
        if self.index.is_none() && model.passages > self.most_scanned {
            let (index, passages, most) = (&search.space.index, model.passages, self.most_scanned);
            let cause = format!(
                "The index `{index}` has {passages} passages in this space, and a search by meaning reads at most {most}. Its operator must \
                 use a vector index such as Vectorize."
            );
            return Err(StoreError { kind: StoreFailure::TooManyVectors, cause });
        }
        Ok(scan)
    }

    /// Reads the model of an index, and the codes of the passages of a space that match the filter. There are no codes if the space has too
    /// many passages, or if another service finds the nearest passages.
    pub(super) async fn read_codes(&self, search: &Search) -> Result<Scan, StoreError> {
        let Search { space, filter, containing, .. } = search;
        let model = self.passages.statement(statements::MODEL, space, Vec::new());
        if self.index.is_some() {
            return Ok(Scan { model: model.first().await?, pages: Vec::new() });
        }
        let condition = filter.to_sql("document.metadata", 3)?;
        let filter = (!filter.is_empty()).then_some(condition.text.as_str());
        let sql = statements::CODES
            .replace("{of document}", if filter.is_some() { " AND document IN (SELECT id FROM visible)" } else { "" })
            .replace("{containing}", if containing.is_some() { statements::CONTAINING } else { "" });
        let mut values = vec![condition.values, self.most_scanned.to_string()];
        values.extend(containing.clone());
        let codes = self.passages.statement(&filtered_by(&sql, filter), space, values);
        // Both statements are in one transaction, because the codes are relative to the centre in the model.
        let results = self.passages.database.batch([model, codes]).await?;
        let [model, codes] = results.as_slice() else { return Err(unavailable("a batch has too few results")) };
        Ok(Scan { model: model.first()?, pages: codes.all()? })
    }
}

impl Scan {
    /// Returns the passages whose codes are nearest to that of a vector. By default, these are 1 % of the passages, from 200 to 800.
    pub(super) fn near(&self, vector: &[f32], most: Option<usize>) -> Result<Vec<PassageId>, StoreError> {
        let Some(model) = &self.model else { return Ok(Vec::new()) };
        let malformed = || unavailable("the codes of the vectors are malformed");
        let pages: Vec<Vec<PassageId>> = (self.pages.iter())
            .map(|page| page.ids.split(',').map(|id| id.parse().ok()).collect::<Option<_>>())
            .collect::<Option<_>>()
            .ok_or_else(malformed)?;
        let passages = pages.iter().map(Vec::len).sum::<usize>();
        let most = most.unwrap_or_else(|| candidates(passages));
        let mut nearest = Nearest::new(&code(vector, &model.centre()?), most);
        for (page, ids) in self.pages.iter().zip(&pages) {
            nearest.page(&page.codes, ids).ok_or_else(malformed)?;
        }
        Ok(nearest.ids())
    }
}
