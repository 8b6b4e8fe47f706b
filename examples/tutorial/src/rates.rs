//! Exchange rates. They come from KV, or from another server if KV does not have the rate.

use std::time::Duration;

use edge_mcp::host::{FetchLimits, Fetched};
use edge_mcp::{Context, HandlerError, ResultExt};
use serde::Deserialize;

use crate::App;

#[derive(Deserialize)]
struct Rate {
    euros: f64,
}

/// Returns the price of one unit of a currency in euros.
pub async fn rate(currency: &str, cx: &Context) -> Result<f64, HandlerError> {
    let app = cx.state::<App>()?;
    if let Some(rate) = app.store.rate(currency).await? {
        return Ok(rate);
    }
    let request = http::Request::get(format!("{}/{currency}", app.rates_url))
        .header("Authorization", format!("Bearer {}", app.rates_key))
        .body("")?;
    let limits = FetchLimits { time: Duration::from_secs(5), bytes: 4096 };
    let rate = cx.fetch(request, limits).await.and_then(Fetched::success).and_then(|response| response.json());
    let Rate { euros } = rate.message("The exchange rates are not available. Try again in a minute.")?;
    app.store.keep_rate(currency, euros).await?;
    Ok(euros)
}
