//! The images of an issue and of the comments in its brief: Hob fetches them, so that a model with vision can look at
//! them. The agent itself cannot reach them.
//!
//! # Guarantees
//! - Only the forge's own addresses and GitHub's image servers are asked, without a token; redirects are not followed.
//! - A comment's images count only while its text is the one in the brief, and likewise the issue's.
//! - An image that cannot be fetched is reported as progress and left out: no attempt fails because of it.

use hob_domain::{IMAGE_BYTES_MAX, IMAGES_MAX, Image, InvalidImage, Login, images_in, may_show_images};
use hob_forge::{ForgeError, Issue, RenderedText};
use hob_text::count;

use crate::Worker;

/// The domain of GitHub's servers for attachments and proxied images.
const GITHUB: &str = ".githubusercontent.com";

/// Fetches them, those of the issue first.
pub(super) async fn images(worker: &Worker, issue: &Issue, comments: &[(Login, String)]) -> Vec<Image> {
    let found = match rendered(worker, issue, comments).await {
        Ok(found) => found,
        Err(error) => {
            worker.progress(issue.number, &format!("the issue's images are left out: {error}"));
            return Vec::new();
        }
    };
    let addresses: Vec<(String, String)> = found.iter().flat_map(|text| images_in(&text.html)).collect();
    if let Some(more) = addresses.len().checked_sub(IMAGES_MAX + 1) {
        worker.progress(issue.number, &format!("{} left out: {IMAGES_MAX} are shown", count(more + 1, "image")));
    }
    let mut images = Vec::new();
    for (place, (address, text)) in addresses.iter().take(IMAGES_MAX).enumerate() {
        let name = if text.trim().is_empty() { format!("image {}", place + 1) } else { text.clone() };
        match fetch(worker, address, &name).await {
            Ok(image) => images.push(image),
            Err(why) => worker.progress(issue.number, &format!("image {} is left out: {why}", place + 1)),
        }
    }
    images
}

/// The texts that may show images, as the forge renders them.
async fn rendered(
    worker: &Worker,
    issue: &Issue,
    comments: &[(Login, String)],
) -> Result<Vec<RenderedText>, ForgeError> {
    let mut found = Vec::new();
    let rendered = worker.forge.rendered();
    if may_show_images(&issue.body) {
        found.push(rendered.issue(issue.number).await?);
        found.retain(|text| text.body == issue.body);
    }
    if comments.iter().any(|(_, body)| may_show_images(body)) {
        let all = rendered.comments(issue.number).await?;
        found.extend(all.into_iter().filter(|text| comments.iter().any(|(_, body)| *body == text.body)));
    }
    Ok(found)
}

/// Why an image is left out.
#[derive(Debug, thiserror::Error)]
enum LeftOut {
    #[error("it is not on a server of the forge")]
    Elsewhere,
    #[error(transparent)]
    Forge(#[from] ForgeError),
    #[error(transparent)]
    Image(#[from] InvalidImage),
}

async fn fetch(worker: &Worker, address: &str, name: &str) -> Result<Image, LeftOut> {
    if !is_ours(address, worker.server_url()) {
        return Err(LeftOut::Elsewhere);
    }
    let bytes = worker.forge.rendered().file(address, IMAGE_BYTES_MAX).await?;
    Ok(Image::new(name, bytes)?)
}

/// Whether an address is the forge's own, or one of GitHub's servers of images.
fn is_ours(address: &str, server: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let of_server = server.split_once("://").is_some_and(|(known, rest)| {
        known == scheme && rest.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(host))
    });
    let is_plain = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    of_server || scheme == "https" && is_plain && host.to_ascii_lowercase().ends_with(GITHUB)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus C32.
    #[test]
    fn only_the_forge_and_githubs_images_are_asked() {
        for (address, server, is_asked) in [
            ("https://private-user-images.githubusercontent.com/1?jwt=x", "https://github.com", true),
            ("https://camo.githubusercontent.com/1", "https://github.com", true),
            ("https://github.com/user-attachments/assets/1", "https://github.com", true),
            ("http://127.0.0.1:8080/_attachments/1", "http://127.0.0.1:8080", true),
            ("http://127.0.0.1:8081/x", "http://127.0.0.1:8080", false),
            ("http://private-user-images.githubusercontent.com/1", "https://github.com", false),
            ("https://githubusercontent.com.evil.test/1", "https://github.com", false),
            ("https://evil.test/.githubusercontent.com", "https://github.com", false),
            ("https://evil.test\\.githubusercontent.com/", "https://github.com", false),
            ("https://user@x.githubusercontent.com/", "https://github.com", false),
            ("https://169.254.169.254/latest", "https://github.com", false),
            ("http://github.com/x", "https://github.com", false),
            ("/relative", "https://github.com", false),
        ] {
            assert_eq!(is_ours(address, server), is_asked, "{address}");
        }
    }
}
