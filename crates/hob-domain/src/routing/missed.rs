//! Damaged profiles: whether one of them would have been chosen for an issue, so that its absence does not go unnoticed.

use crate::{
    Catalog, CatalogEntry, Profile, ProfileName, Standing,
    routing::{
        candidate::{Candidate, RoutedText},
        decide::{ChosenBy, RouteChoice, RoutingRules, decide_agent},
        router::Router,
    },
};

/// Damaged profiles in whose place another one works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// Who works instead, and why.
    pub warning: String,
    /// Their names, if they have any.
    pub names: Vec<Option<ProfileName>>,
}

/// What `choice` would be, or might be, if the damaged profiles were sound; `None` if the same.
///
/// The readable part of a file says which issues it is for. An unreadable file may be for any issue for which the router has no
/// profile, unless the issue is so simple that no profile works on it. `is_candidate` says which profiles the router may choose,
/// and `present` is the choice before.
pub fn missed(
    catalog: &Catalog,
    is_candidate: impl Fn(&Profile) -> bool,
    text: RoutedText<'_>,
    choice: &RouteChoice,
    present: Option<&RouteChoice>,
    rules: RoutingRules,
) -> Option<Missed> {
    if catalog.unusable() == 0 {
        return None;
    }
    let would_be = match choice.by {
        // A name that no profile has is reported where the choice is carried out.
        ChosenBy::Command | ChosenBy::Label | ChosenBy::Repository => {
            choice.profile.clone().filter(|name| catalog.get(name).is_some())
        }
        ChosenBy::Router | ChosenBy::Base => {
            let sound = catalog.profiles().filter(|profile| catalog.damaged(&profile.name).is_none());
            let remains = catalog.entries.iter().filter_map(CatalogEntry::remains);
            // Of several with the same name only the first counts.
            let first = |profile: &&Profile| {
                catalog.damaged(&profile.name).is_none_or(|entry| entry.remains().is_some_and(|own| own == *profile))
            };
            let all: Vec<Candidate> = sound
                .chain(remains.filter(first))
                .filter(|profile| is_candidate(profile))
                .map(|profile| Candidate::new(catalog, profile))
                .collect();
            decide_agent(None, &Router::new(&all).route(text), present, rules).profile
        }
    };
    if let Some(entry) = would_be.as_ref().and_then(|name| catalog.damaged(name)) {
        return Some(Missed { warning: format!("{}: {}", works(choice), entry.fault()?), names: vec![would_be] });
    }
    let may_be_any = choice.by == ChosenBy::Base && choice.complexity > rules.complexity;
    let unreadable: Vec<&CatalogEntry> =
        catalog.entries.iter().filter(|entry| may_be_any && entry.is_unreadable()).collect();
    let faults: Vec<String> = unreadable.iter().filter_map(|entry| entry.fault()).collect();
    let warning =
        format!("{}, and one that cannot be read might be for this issue: {}", works(choice), faults.join("; "));
    let name = |entry: &&CatalogEntry| match &entry.standing {
        Standing::Unusable { name, remains: _ } => name.clone(),
        Standing::InUse(_) | Standing::Hidden { .. } => None,
    };
    (!faults.is_empty()).then(|| Missed { warning, names: unreadable.iter().map(name).collect() })
}

/// Who works.
fn works(choice: &RouteChoice) -> String {
    match &choice.profile {
        Some(name) => format!("the profile `{name}` works"),
        None => "the base agent works".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, ProfileFile, ProfileFiles, ProfileSource, ready_profiles};

    const TITLE: &str = "DNS: the resolver does not find our CNAME and MX record";
    const BODY: &str = "The zone file has stale records:\n\n- `www` has a CNAME that no resolver finds\n- the MX record is gone\n\
        - the nameserver has the old zone\n\n```\nSERVFAIL\n```\n\nReview `zones/a.zone` and `zones/b.zone`, and write down how \
        the nameserver is migrated.";
    const DNS: &str = "name: dns\ndescription: DNS zones, records, resolvers and nameservers\nhob:\n  match: {words: [nameserver, \
        resolver, CNAME]}\n";

    fn catalog(files: &[(&str, String)]) -> Catalog {
        let file = |(name, text): &(&str, String)| ProfileFile {
            source: ProfileSource::GithubAgents,
            name: (*name).to_owned(),
            content: Ok(text.as_bytes().to_vec()),
        };
        Catalog::new([ProfileFiles { files: files.iter().map(file).collect(), left_out: 0 }, ready_profiles()], 100)
    }

    /// What is missed, and by which choice.
    fn met(catalog: &Catalog, claim: Option<Claim<'_>>, (title, body): (&str, &str)) -> Option<Missed> {
        let (text, rules) = (RoutedText { title, body, labels: &[] }, RoutingRules::default());
        let candidates: Vec<Candidate> = catalog.profiles().map(Into::into).collect();
        let choice = decide_agent(claim, &Router::new(&candidates).route(text), None, rules);
        missed(catalog, |_| true, text, &choice, None, rules)
    }

    /// Requirement M5: a damaged profile that would have been chosen is told, with file, line and cause.
    #[test]
    fn a_damaged_profile_is_missed_where_it_would_have_been_chosen() {
        let damaged = format!("---\n{DNS}  limits: {{turns: 3}}\n---\nx");
        let (issue, other) = ((TITLE, BODY), ("Make done.txt", "Please."));
        let found = met(&catalog(&[("dns.md", damaged.clone())]), None, issue).unwrap();
        let fault = ".github/agents/dns.md cannot be used: line 6: `limits` has no key `turns`";
        assert!(found.warning.starts_with(&format!("the base agent works: {fault}")), "{}", found.warning);
        assert_eq!(found.names, ["dns".parse().ok()]);
        // It is for others, or sound.
        assert_eq!(met(&catalog(&[("dns.md", damaged.clone())]), None, other), None);
        assert_eq!(met(&catalog(&[("dns.md", format!("---\n{DNS}---\nx"))]), None, issue), None);
        // A sound one of a later place works instead, also where it is named.
        let named = "writer".parse().unwrap();
        let writer = catalog(&[("writer.md", damaged.replace("name: dns", "name: writer"))]);
        let by_repository = Some(Claim { profile: &named, by: ChosenBy::Repository });
        let found = met(&writer, by_repository, other).unwrap();
        assert!(found.warning.starts_with("the profile `writer` works: .github/agents/writer.md cannot"), "{found:?}");
        assert_eq!(met(&catalog(&[("dns.md", damaged)]), by_repository, issue), None, "it is not what is wanted");
    }

    /// Requirement M5: an unreadable file may be for any issue for which the router has no profile.
    #[test]
    fn what_cannot_be_read_may_be_for_any_issue_that_is_nobodys() {
        let files = [("dns.md", "---\nname: [\n---\nx".to_owned()), ("1 2.md", "no front matter".to_owned())];
        let found = met(&catalog(&files), None, (TITLE, BODY)).unwrap();
        for part in ["the base agent works, and one that", "dns.md cannot be used: line 3: ", "1 2.md cannot be used"] {
            assert!(found.warning.contains(part), "{part}: {}", found.warning);
        }
        assert_eq!(found.names, [None, "dns".parse().ok()]);
        assert_eq!(met(&catalog(&files), None, ("Make done.txt", "Please.")), None, "it is too simple");
    }
}
