//! Measures what a write to the embedded forge costs with a data folder, by the number of issues it holds:
//! `cargo run --release -p hob-bench --example forge_writes`.
//!
//! Opens issues, several at a time, and prints how many a second were answered around each of the given sizes.
//! Arguments: the sizes (100 5000).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for engineers, which prints and stops at the first error"
)]

use std::time::Instant;

use futures_util::{StreamExt, stream};
use github_emulator::{Options, serve};
use serde_json::json;

/// Requests at one time.
const WRITERS: usize = 4;
/// The number of issues that a rate is measured over.
const MEASURED: usize = 400;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    let sizes = if sizes.is_empty() { vec![100, 5_000] } else { sizes };
    let (users, data) = (vec!["ann:secret:admin".parse().unwrap()], Some(folder.path().to_owned()));
    let forge = serve(Options { users, data, rate_limit: Some(u32::MAX), ..Options::default() }).await.unwrap();
    forge.create_repository(&"ann/site".parse().unwrap(), &[("README.md", b"# Site\n", false)]).unwrap();
    rustls::crypto::ring::default_provider().install_default().ok();
    let (client, url) = (reqwest::Client::new(), format!("{}/repos/ann/site/issues", forge.api_url()));
    let open = |number: usize| {
        let body = json!({"title": format!("Issue {number}"), "body": "Text. ".repeat(50), "labels": ["code"]});
        let request = client.post(&url).bearer_auth("secret").body(body.to_string());
        async move { assert_eq!(request.send().await.unwrap().status(), 201) }
    };
    let mut opened = 0;
    for size in sizes {
        let before = size.saturating_sub(MEASURED / 2).max(opened);
        stream::iter(opened..before).map(open).buffer_unordered(WRITERS).collect::<()>().await;
        let begun = Instant::now();
        stream::iter(before..before + MEASURED).map(open).buffer_unordered(WRITERS).collect::<()>().await;
        let rate = MEASURED as f64 / begun.elapsed().as_secs_f64();
        println!("{size:>6} issues: {rate:.0} creates a second");
        opened = before + MEASURED;
    }
    forge.shutdown().await;
}
