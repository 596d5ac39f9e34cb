//! The emulator as a test double: a bot's test starts it, runs the bot against it, and looks at what the bot did.
//!
//! ```sh
//! cargo run -p github-emulator --example test_double
//! ```

use std::error::Error;

use github_emulator::{Fault, Options, serve};
use reqwest::{Client, StatusCode};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let users = vec!["ann:secret:admin".parse()?, "bot:token:write:bot".parse()?];
    let github = serve(Options { users, ..Options::default() }).await?;
    github.create_repository(&"ann/site".parse()?, &[("README.md", b"# Site\n", false)])?;
    let fault =
        br#"[{"method": "POST", "path": "/repos/**", "when": {"call": 1}, "what": {"answer": {"status": 502}}}]"#;
    Fault::parse(fault)?.into_iter().for_each(|fault| github.inject(fault));

    run_bot(&github.api_url(), "token").await?;

    let statuses: Vec<u16> = github.requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [502, 201], "the bot tries again after a 502");
    github.shutdown().await;
    Ok(())
}

/// A bot that opens an issue, and tries a second time if the server fails.
async fn run_bot(api_url: &str, token: &str) -> Result<(), Box<dyn Error>> {
    // `reqwest` is built here without a TLS provider, and needs one for plain HTTP too.
    rustls::crypto::ring::default_provider().install_default().ok();
    let (client, url) = (Client::new(), format!("{api_url}/repos/ann/site/issues"));
    for _ in 0..2 {
        let request = client.post(&url).bearer_auth(token).body(r#"{"title": "Fix the greeting"}"#);
        if request.send().await?.status() == StatusCode::CREATED {
            return Ok(());
        }
    }
    Err("the issue was not opened".into())
}
