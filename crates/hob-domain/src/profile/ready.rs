//! The profiles that are in the program.

use crate::profile::source::{ProfileFile, ProfileFiles, ProfileSource};

/// Their files, by name.
const FILES: [(&str, &str); 7] = [
    ("code.md", include_str!("../../../../config/profiles/code.md")),
    ("integrations.md", include_str!("../../../../config/profiles/integrations.md")),
    ("investigator.md", include_str!("../../../../config/profiles/investigator.md")),
    ("planner.md", include_str!("../../../../config/profiles/planner.md")),
    ("research.md", include_str!("../../../../config/profiles/research.md")),
    ("reviewer.md", include_str!("../../../../config/profiles/reviewer.md")),
    ("writer.md", include_str!("../../../../config/profiles/writer.md")),
];

/// The files of the ready profiles.
pub fn ready_profiles() -> ProfileFiles {
    let file = |(name, text): (&str, &str)| ProfileFile {
        source: ProfileSource::Ready,
        name: name.to_owned(),
        content: Ok(text.as_bytes().to_vec()),
    };
    ProfileFiles { files: FILES.map(file).into(), left_out: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deliverable, profile::parse::parse};

    #[test]
    fn ready_profiles_are_without_a_warning() {
        let known: Vec<&str> = FILES.iter().filter_map(|(name, _)| name.strip_suffix(".md")).collect();
        for file in ready_profiles().files {
            let parsed = parse(&file.name, &file.content.unwrap());
            assert_eq!(parsed.problems, [], "{}", file.name);
            let profile = parsed.profile.unwrap();
            assert_eq!(format!("{}.md", profile.name), file.name);
            assert!(!profile.description.is_empty() && profile.instructions.len() < 3_000, "{}", file.name);
            let is_base = profile.name.as_str() == "code";
            assert!(is_base || !profile.matches.words.is_empty(), "{} is never found", file.name);
            assert!(profile.hand_off_to.iter().all(|to| known.contains(&to.as_str()) && *to != profile.name));
            let changes = ["edit", "write", "apply_patch"];
            let has = |tool: &&str| profile.tools.as_ref().is_none_or(|tools| tools.iter().any(|own| own == tool));
            let is_denied = |tool: &&str| profile.denied.iter().any(|action| action == tool);
            let may_change = changes.iter().any(|tool| has(tool) && !is_denied(tool));
            assert_eq!(may_change, profile.deliverable == Deliverable::Change, "{}", file.name);
        }
    }
}
