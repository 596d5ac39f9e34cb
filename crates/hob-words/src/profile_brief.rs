//! What an agent is told about the profile that it works by, for any task.

use hob_domain::{Nonce, ProfileName};
use hob_text::{push_fenced, visible};

/// The instructions of the profile that works.
pub fn profile_brief(name: &ProfileName, instructions: &str, fence: &Nonce) -> String {
    let mut text = format!("\nYou work here as `{name}`, by these instructions of this repository's maintainers:\n");
    push_fenced(&mut text, fence, &format!("profile {name}"), visible(instructions).0.trim());
    text
}
