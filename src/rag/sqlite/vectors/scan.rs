//! The codes of a space, and the passages whose codes are nearest to that of a question.

use serde::Deserialize;

use super::{SqliteVectors, statements};
use crate::rag::passage::PassageId;
use crate::rag::search::{Meaning, Search};
use crate::rag::sqlite::rows::unavailable;
use crate::rag::sqlite::statements::filtered_by;
use crate::rag::store_error::{StoreError, StoreFailure};
use crate::rag::vectors::code::{Nearest, candidates, code, parse_centre};

/// The model of an index, and the number of passages of a space.
#[derive(Deserialize)]
pub(super) struct ModelRow {
    #[serde(rename = "model")]
    pub(super) name: String,
    pub(super) dimensions: usize,
    pub(super) saved: usize,
    centre: String,
    pub(super) generation: usize,
    passages: usize,
}

#[derive(Default)]
pub(super) struct Scan {
    /// The model, if the index has vectors.
    pub(super) model: Option<ModelRow>,
    /// The centre of the codes. Empty if it is zero.
    pub(super) centre: Vec<f32>,
    /// The codes of some passages each, and the numbers of these passages.
    pages: Vec<(String, Vec<PassageId>)>,
}

impl ModelRow {
    /// # Errors
    /// The vectors of the index come from another model, or have other dimensions.
    pub(super) fn check(&self, model: &str, dimensions: usize) -> Result<(), StoreError> {
        StoreError::check_model((&self.name, self.dimensions), (model, dimensions))
    }

    fn centre(&self) -> Result<Vec<f32>, StoreError> {
        let is_complete = |centre: &Vec<f32>| centre.is_empty() || centre.len() == self.dimensions;
        let centre = parse_centre(&self.centre).filter(is_complete);
        centre.ok_or_else(|| unavailable("the centre of the vectors is malformed"))
    }
}

impl SqliteVectors {
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
            return Ok(Scan { model: model.first().await?, ..Scan::default() });
        }
        let text = |filter: Option<&str>| {
            let containing = if containing.is_some() { statements::CONTAINING } else { "" };
            filtered_by(&statements::CODES.replace("{containing}", containing), filter)
        };
        let mut values = vec![self.most_scanned.to_string()];
        values.extend(containing.clone());
        let codes = self.passages.with_condition(text, space, filter, values)?;
        // Both statements are in one transaction, because the codes are relative to the centre in the model.
        let results = self.passages.database.batch([model, codes]).await?;
        let [model, codes] = results.as_slice() else { return Err(unavailable("a batch has too few results")) };
        let model: Option<ModelRow> = model.first()?;
        let centre = model.as_ref().map(ModelRow::centre).transpose()?.unwrap_or_default();
        let page = |(codes, ids): (String, String)| {
            let ids = ids.split(',').map(|id| id.parse().ok()).collect::<Option<_>>().ok_or_else(malformed)?;
            Ok((codes, ids))
        };
        let pages = codes.all()?.into_iter().map(page).collect::<Result<_, StoreError>>()?;
        Ok(Scan { model, centre, pages })
    }
}

fn malformed() -> StoreError {
    unavailable("the codes of the vectors are malformed")
}

impl Scan {
    /// Returns the passages whose codes are nearest to that of a vector. By default, these are 1 % of the passages, from 200 to 800.
    pub(super) fn near(&self, vector: &[f32], most: Option<usize>) -> Result<Vec<PassageId>, StoreError> {
        let most = most.unwrap_or_else(|| candidates(self.pages.iter().map(|(_, ids)| ids.len()).sum()));
        let mut nearest = Nearest::new(&code(vector, &self.centre), most);
        for (codes, ids) in &self.pages {
            nearest.page(codes, ids).ok_or_else(malformed)?;
        }
        Ok(nearest.ids())
    }
}
