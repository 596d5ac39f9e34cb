//! All profiles of a repository: which one has a name, where each comes from, and why others are hidden or unusable. A
//! damaged file does not affect the others.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::profile::{
    parse::{Parsed, parse},
    problem::{Problem, Severity},
    profile_name::ProfileName,
    source::{ProfileFile, ProfileFiles, ProfileSource, name_of_file},
    types::Profile,
};

/// Where a profile was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileOrigin {
    /// The place.
    pub source: ProfileSource,
    /// The file's name there.
    pub file: String,
}

impl std::fmt::Display for ProfileOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.source {
            ProfileSource::Ready => f.write_str("Hob"),
            ProfileSource::Settings => write!(f, "settings: {}", self.file),
            ProfileSource::GithubAgents | ProfileSource::ClaudeAgents => write!(f, "{}/{}", self.source, self.file),
        }
    }
}

/// What a file contributes to the catalog.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// Its profile is in use under its name.
    InUse(Box<Profile>),
    /// Another profile has the same name.
    Hidden {
        /// Its own profile.
        profile: Box<Profile>,
        /// Where that one comes from.
        by: ProfileOrigin,
    },
    /// It is damaged; the entry's problems say how.
    Unusable {
        /// The name in the file, or else the file's own. `None` if neither is a valid name.
        name: Option<ProfileName>,
        /// What can be read of it. `None` if nothing can.
        remains: Option<Box<Profile>>,
    },
}

/// One file in the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogEntry {
    /// Where it comes from.
    pub origin: ProfileOrigin,
    /// What it contributes.
    pub standing: Standing,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl CatalogEntry {
    /// Its profile, in use or hidden.
    pub fn profile(&self) -> Option<&Profile> {
        match &self.standing {
            Standing::InUse(profile) | Standing::Hidden { profile, by: _ } => Some(profile),
            Standing::Unusable { .. } => None,
        }
    }

    /// What can be read of a damaged file. `None` if it is sound, or if nothing can be read.
    pub fn remains(&self) -> Option<&Profile> {
        match &self.standing {
            Standing::Unusable { remains, name: _ } => remains.as_deref(),
            Standing::InUse(_) | Standing::Hidden { .. } => None,
        }
    }

    /// Whether it is so damaged that even its purpose cannot be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.standing, Standing::Unusable { remains: None, name: _ })
    }

    /// Why it cannot be used: the file, and each error with its line. `None` if it can.
    pub fn fault(&self) -> Option<String> {
        let Standing::Unusable { .. } = &self.standing else { return None };
        let errors = self.problems.iter().filter(|problem| problem.severity == Severity::Error);
        let why: Vec<String> = errors.map(ToString::to_string).collect();
        Some(format!("{} cannot be used: {}", self.origin, why.join("; ")))
    }
}

/// All profiles of a repository.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Catalog {
    /// Every file that was read, by place and name.
    pub entries: Vec<CatalogEntry>,
    /// Problems that do not belong to a single file.
    pub warnings: Vec<String>,
    /// How many places could not be read, so that profiles may be missing.
    pub unread_places: usize,
    in_use: BTreeMap<ProfileName, usize>,
}

impl Catalog {
    /// The catalog of these files. At most `max` files are read, not counting Hob's own.
    pub fn new(places: impl IntoIterator<Item = ProfileFiles>, max: usize) -> Self {
        let (mut files, mut left_out) = (Vec::new(), 0);
        for place in places {
            files.extend(place.files);
            left_out += place.left_out;
        }
        files.sort_by(|one, two| (one.source, &one.name).cmp(&(two.source, &two.name)));
        let (mut catalog, mut read) = (Self::default(), 0);
        for file in files {
            let is_ready = file.source == ProfileSource::Ready;
            if !is_ready && read == max {
                left_out += 1;
                continue;
            }
            read += usize::from(!is_ready);
            catalog.add(file);
        }
        if left_out > 0 {
            let files =
                if left_out == 1 { "1 file of a profile is" } else { &format!("{left_out} files of profiles are") };
            let text = format!("{files} skipped: Hob reads {max} at most");
            catalog.warnings.push(text);
        }
        catalog
    }

    fn add(&mut self, file: ProfileFile) {
        let origin = ProfileOrigin { source: file.source, file: file.name };
        let Parsed { profile, remains, problems } = match file.content {
            Ok(bytes) => parse(&origin.file, &bytes),
            Err(why) => Parsed { profile: None, remains: None, problems: vec![Problem::of_file(why.to_string())] },
        };
        let standing = match profile {
            None => {
                let of_keys = remains.as_ref().map(|remains| remains.name.clone());
                Standing::Unusable { name: of_keys.or(name_of_file(&origin.file).ok()), remains: remains.map(Box::new) }
            }
            Some(profile) => match self.in_use.get(&profile.name).and_then(|at| self.entries.get(*at)) {
                Some(first) => Standing::Hidden { profile: Box::new(profile), by: first.origin.clone() },
                None => {
                    self.in_use.insert(profile.name.clone(), self.entries.len());
                    Standing::InUse(Box::new(profile))
                }
            },
        };
        self.entries.push(CatalogEntry { origin, standing, problems });
    }

    /// The profile in use under this name, and its origin.
    pub fn get(&self, name: &ProfileName) -> Option<(&Profile, &ProfileOrigin)> {
        let entry = self.entries.get(*self.in_use.get(name)?)?;
        Some((entry.profile()?, &entry.origin))
    }

    /// The damaged file that would otherwise be the profile `name`. `None` if there is none, or if an earlier place has
    /// a sound one.
    pub fn damaged(&self, name: &ProfileName) -> Option<&CatalogEntry> {
        let before = self.in_use.get(name).copied().unwrap_or(self.entries.len());
        self.entries[..before].iter().find(
            |entry| matches!(&entry.standing, Standing::Unusable { name: Some(other), remains: _ } if other == name),
        )
    }

    /// The targets that a profile names for hand-offs but whose files are damaged. `None` if there are none.
    pub fn damaged_targets(&self, profile: &Profile) -> Option<String> {
        let gone = profile.hand_off_to.iter().filter(|name| self.get(name).is_none());
        let faults: Vec<String> = gone.filter_map(|name| self.damaged(name)?.fault()).collect();
        let who = &profile.name;
        (!faults.is_empty())
            .then(|| format!("`{who}` cannot hand off to all the profiles that it names: {}", faults.join("; ")))
    }

    /// The profiles in use, by name.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.in_use.values().filter_map(|at| self.entries.get(*at)?.profile())
    }

    /// How many files cannot be used.
    pub fn unusable(&self) -> usize {
        let is_bad = |entry: &&CatalogEntry| entry.problems.iter().any(|problem| problem.severity == Severity::Error);
        self.entries.iter().filter(is_bad).count()
    }

    /// Why files cannot be used, one sentence each.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.entries.iter().filter_map(CatalogEntry::fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{ready::ready_profiles, source::Unread};

    fn file(source: ProfileSource, name: &str, text: &str) -> ProfileFile {
        ProfileFile { source, name: name.to_owned(), content: Ok(text.as_bytes().to_vec()) }
    }

    fn place(files: Vec<ProfileFile>) -> ProfileFiles {
        ProfileFiles { files, left_out: 0 }
    }

    fn named(name: &str, description: &str) -> String {
        format!("---\nname: {name}\ndescription: {description}\n---\nDo it.")
    }

    #[test]
    fn the_first_place_that_has_a_name_wins() {
        use ProfileSource::{ClaudeAgents, GithubAgents, Settings};
        let files = vec![
            file(Settings, "a.md", &named("a", "settings")),
            file(ClaudeAgents, "a.md", &named("a", "claude")),
            file(GithubAgents, "b.md", &named("b", "github")),
            file(GithubAgents, "c.agent.md", &named("b", "again")),
            file(ClaudeAgents, "code.md", &named("code", "own")),
        ];
        let catalog = Catalog::new([place(files), ready_profiles()], 100);
        let said = |name: &str| catalog.get(&name.parse().unwrap()).unwrap().0.description.as_str();
        assert_eq!((said("a"), said("b"), said("code")), ("claude", "github", "own"));
        let hidden: Vec<String> = catalog
            .entries
            .iter()
            .filter_map(|entry| match &entry.standing {
                Standing::Hidden { by, .. } => Some(format!("{} by {by}", entry.origin)),
                Standing::InUse(_) | Standing::Unusable { .. } => None,
            })
            .collect();
        assert_eq!(
            hidden,
            [
                ".github/agents/c.agent.md by .github/agents/b.md",
                "settings: a.md by .claude/agents/a.md",
                "Hob by .claude/agents/code.md",
            ]
        );
        assert_eq!(catalog.profiles().count(), 9);
    }

    /// Row M5: a damaged file neither hides nor stops another.
    #[test]
    fn a_damaged_file_takes_nothing_from_the_others() {
        let mut bad = file(ProfileSource::GithubAgents, "code.md", "---\nname: code\nhob: {limits: 3}\n---\nx");
        let unread = ProfileFile { content: Err(Unread::NotRegular), name: "l.md".to_owned(), ..bad.clone() };
        bad.name = "bad.md".to_owned();
        let catalog = Catalog::new([place(vec![bad, unread]), ready_profiles()], 100);
        assert_eq!((catalog.unusable(), catalog.profiles().count()), (2, 7));
        assert_eq!(catalog.get(&"code".parse().unwrap()).unwrap().1.source, ProfileSource::Ready);
        assert_eq!(catalog.entries[1].problems[0].to_string(), "it is not a regular file");
    }

    /// Requirement M5: a damaged file keeps the name that it would have, and the problem says where and why.
    #[test]
    fn a_damaged_file_is_known_by_its_name() {
        use ProfileSource::{ClaudeAgents, GithubAgents};
        let bad = "---\nname: dns\ndescription: Zones\nhob: {limits: 3}\n---\nx";
        let files = vec![
            file(GithubAgents, "zones.md", bad),
            file(GithubAgents, "Cloud.agent.md", "no front matter"),
            file(ClaudeAgents, "writer.md", bad),
            file(GithubAgents, "code.md", &named("code", "ours")),
            file(ClaudeAgents, "code.md", "x"),
        ];
        let catalog = Catalog::new([place(files), ready_profiles()], 100);
        let fault = |name: &str| catalog.damaged(&name.parse().unwrap()).and_then(CatalogEntry::fault);
        let hands_over = "---\nname: a\ndescription: x\nhob: {hand_off_to: [code, cloud, gone]}\n---\nx";
        let gives = parse("a.md", hands_over.as_bytes()).profile.unwrap();
        let said = catalog.damaged_targets(&gives).unwrap();
        assert!(
            said.starts_with("`a` cannot hand off to all the profiles that it names: .github/agents/Cloud.agent.md"),
            "{said}"
        );
        assert!(!said.contains("code.md"), "{said}");
        let zones = fault("dns").unwrap();
        assert!(zones.starts_with(".github/agents/zones.md cannot be used: line 4: `limits` is not a map"), "{zones}");
        assert!(fault("cloud").unwrap().contains("Cloud.agent.md cannot be used: there is no front matter"));
        assert_eq!((fault("zones"), fault("writer"), fault("code")), (None, None, None), "its own name; a sound one");
        let read: Vec<&str> =
            catalog.entries.iter().filter_map(CatalogEntry::remains).map(|p| &*p.description).collect();
        assert_eq!((read, catalog.faults().count()), (vec!["Zones", "Zones"], 4));
    }

    #[test]
    fn ten_thousand_profiles_are_bounded() {
        let many = (0..10_000).map(|n| file(ProfileSource::GithubAgents, &format!("p{n:05}.md"), &named("p", "x")));
        let catalog = Catalog::new([place(many.collect()), ready_profiles()], 200);
        assert_eq!((catalog.entries.len(), catalog.profiles().count()), (207, 8));
        assert_eq!(catalog.warnings, ["9800 files of profiles are skipped: Hob reads 200 at most"]);
    }
}
