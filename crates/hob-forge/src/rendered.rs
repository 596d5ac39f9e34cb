//! Texts as the forge renders them. In these, attached images have addresses that are signed for some minutes, unlike
//! in the Markdown.
//! <https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types>

use hob_domain::IssueNumber;
use serde::Deserialize;

use crate::{Forge, ForgeError, TokenPermission::IssuesRead, call::Call, purpose::Purpose, reply::decode};

/// The media type for Markdown and HTML together.
pub(super) const FULL: &str = "application/vnd.github.full+json";

/// A text and its rendering.
#[derive(Debug, Clone, Deserialize)]
pub struct RenderedText {
    /// Its title; empty for a comment.
    #[serde(default)]
    pub title: String,
    /// Its Markdown.
    #[serde(default, deserialize_with = "text")]
    pub body: String,
    /// Its HTML, cleaned by the forge.
    #[serde(default, deserialize_with = "text", rename = "body_html")]
    pub html: String,
}

/// A text that may be null.
fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The rendered texts of a repository's issues.
#[derive(Debug, Clone, Copy)]
pub struct Rendered<'a> {
    pub(super) forge: &'a Forge,
}

impl Rendered<'_> {
    /// An issue's body.
    ///
    /// # Errors
    /// [`ForgeError`] of the read, which is not retried.
    pub async fn issue(self, number: IssueNumber) -> Result<RenderedText, ForgeError> {
        self.read(&format!("/issues/{number}"), IssuesRead.to("read the issue as it is rendered")).await
    }

    /// The first hundred comments on it.
    ///
    /// # Errors
    /// [`ForgeError`] of the read, which is not retried.
    pub async fn comments(self, number: IssueNumber) -> Result<Vec<RenderedText>, ForgeError> {
        let path = format!("/issues/{number}/comments?per_page=100");
        self.read(&path, IssuesRead.to("read the issue's comments as they are rendered")).await
    }

    /// A file at an address in a rendered text; the caller has to check that the address may be requested. No token is
    /// sent there, and no redirect is followed.
    ///
    /// # Errors
    /// [`ForgeError`] of the read, or if the file exceeds `most` bytes.
    pub async fn file(self, address: &str, most: usize) -> Result<Vec<u8>, ForgeError> {
        self.forge.connection().file(address, most, "fetch an image of the issue").await
    }

    async fn read<T: serde::de::DeserializeOwned>(self, path: &str, purpose: Purpose<'_>) -> Result<T, ForgeError> {
        let path = self.forge.path(path);
        let reply = self.forge.connection().send_read(Call { accept: FULL, ..Call::get(&path, purpose) }).await?;
        decode(&reply.body, purpose.what)
    }
}
