//! The router as a whole.

use proptest::prelude::*;

use super::{Candidate, ChosenBy, RoutedText, Router, Routing, RoutingRules, decide_agent};

/// Profiles as people write them, with nothing of Hob's in them.
const PROFILES: [(&str, &str); 6] = [
    ("wally", "Reviews code for vulnerabilities"),
    ("nina", "Knows DNS and networks"),
    ("cora", "Azure cloud architect"),
    ("dora", "Database administrator"),
    ("fred", "React developer"),
    ("tess", "Technical writer"),
];

fn candidate(name: &str, description: &str, hob: &str) -> Candidate {
    let file = format!("---\nname: {name}\ndescription: {description}\n{hob}---\nKeep changes small.\n");
    Candidate::from(&crate::profile::parse("x.md", file.as_bytes()).profile.unwrap())
}

fn router() -> Router {
    Router::new(&PROFILES.map(|(name, description)| candidate(name, description, "")))
}

fn route(router: &Router, title: &str, body: &str) -> Routing {
    router.route(RoutedText { title, body, labels: &[] })
}

/// Rows M1 and M8: the first scenario of the design.
#[test]
fn a_review_for_security_is_the_security_profiles() {
    let routing = route(&router(), "Review this Python code for security issues", "");
    let best = &routing.ranked[0];
    assert_eq!(best.profile.as_str(), "wally");
    assert!(best.confidence >= 0.8 && !best.reasons.is_empty(), "{best:?}");
    let choice = decide_agent(None, &routing, None, RoutingRules::default());
    assert_eq!((choice.by, choice.profile), (ChosenBy::Router, Some(best.profile.clone())));
}

/// Requirements M1 to M3: the example sentences of the design, with profiles that have one line of description each.
#[test]
fn the_designs_own_sentences_are_their_profiles() {
    let router = router();
    for (title, profile) in [
        ("Review my Python code for security issues", "wally"),
        ("Optimize Azure costs", "cora"),
        ("Setup Azure Exchange with custom domain", "cora"),
        ("Setup DNS for a custom domain", "nina"),
        ("Which SPF and DKIM records does the domain need?", "nina"),
        ("Optimize the slow SQL query", "dora"),
        ("Add a dark mode to the React component", "fred"),
        ("Document it", "tess"),
    ] {
        let routing = route(&router, title, "");
        let choice = decide_agent(None, &routing, None, RoutingRules::default());
        assert_eq!(
            choice.profile.as_ref().map(|name| name.as_str()),
            Some(profile),
            "{title}: {:?}",
            routing.ranked[0]
        );
    }
}

/// Requirement M1: a repository's own profiles go before those that Hob brings.
#[test]
fn a_repositorys_own_profile_goes_before_hobs() {
    let own = candidate("tech_writer", "Technical writer", "");
    let ready =
        Candidate { is_ready: true, ..candidate("writer", "Writes documentation, guides and release notes", "") };
    for order in [[own.clone(), ready.clone()], [ready.clone(), own]] {
        let ranked = route(&Router::new(&order), "Document it", "").ranked;
        assert_eq!(ranked[0].profile.as_str(), "tech_writer", "{ranked:?}");
        assert!(ranked[0].confidence > 0.7, "{ranked:?}");
    }
    let database = candidate("dora", "Database administrator", "");
    let ranked = route(&Router::new(&[database, ready]), "Document how the release notes are written", "").ranked;
    assert_eq!(ranked[0].profile.as_str(), "writer", "what does not fit goes before nothing");
}

/// Row M1: the sixth scenario of the design.
#[test]
fn small_talk_is_nobodys() {
    let router = router();
    for title in ["What's the weather?", "Hello!", "", "Thank you, it works"] {
        let routing = route(&router, title, "");
        assert!(routing.ranked.iter().all(|scored| scored.confidence < 0.4), "{title}: {:?}", routing.ranked[0]);
        assert_eq!(decide_agent(None, &routing, None, RoutingRules::default()).by, ChosenBy::Base);
    }
}

/// Row M2: the third scenario of the design.
#[test]
fn a_message_about_something_else_switches() {
    let router = router();
    let issue = route(
        &router,
        "Host names are not resolved",
        "Since Monday `dig` answers SERVFAIL for every name in our zone. The resolver forwards to two nameservers; both \
         answer when they are asked directly, over UDP and TCP. What is wrong with the CNAME chain?",
    );
    let rules = RoutingRules::default();
    let first = decide_agent(None, &issue, None, rules);
    assert_eq!(first.profile.as_ref().unwrap().as_str(), "nina");
    let thanks = decide_agent(None, &route(&router, "", "Thank you, please go on."), Some(&first), rules);
    assert_eq!(thanks.profile, first.profile);
    let message =
        "It was the Azure subscription: the Terraform state says that the cloud resource group was destroyed.";
    let second = decide_agent(None, &route(&router, "", message), Some(&thanks), rules);
    assert_eq!(second.profile.as_ref().unwrap().as_str(), "cora", "{second:?}");
}

#[test]
fn labels_errors_and_paths_count() {
    let hob = "hob:\n  match:\n    labels: [Widgets]\n    errors: ['E_FROB_\\d+']\n    paths: ['frob/**']\n";
    let router = Router::new(&[candidate("fay", "Reviews after it", hob), candidate("dora", "Databases", "")]);
    let label = ["area: widgets".to_owned()];
    for (issue, reason) in [
        (RoutedText { title: "Strange", body: "", labels: &label }, "the label `area: widgets`"),
        (RoutedText { title: "Strange", body: "it says\n```\nE_FROB_17\n```", labels: &[] }, "the error pattern"),
        (RoutedText { title: "Strange", body: "See `frob/a/b.txt:12`.", labels: &[] }, "the path `frob/a/b.txt:12`"),
        (RoutedText { title: "fix(widgets): Strange", body: "", labels: &[] }, "the title's kind `widgets`"),
    ] {
        let best = &router.route(issue).ranked[0];
        assert_eq!(best.profile.as_str(), "fay", "{issue:?}");
        assert!(best.reasons[0].starts_with(reason), "{:?}", best.reasons);
        assert!(best.likeness.is_choice(), "{best:?}");
    }
}

#[test]
fn no_profile_and_many_profiles_are_no_trouble() {
    assert_eq!(route(&Router::new(&[]), "A title", "A body").ranked, []);
    let same = vec![candidate("dora", "Databases", ""); 10_000];
    let routing = route(&Router::new(&same), "Deadlock in Postgres", "");
    assert!(!routing.ranked.is_empty() && routing.ranked.len() <= 1_000);
    assert!(routing.ranked.iter().all(|scored| scored.confidence <= 0.5), "no one of them is likelier than the others");
}

#[test]
fn a_text_is_read_up_to_its_cap() {
    let router = router();
    for part in ["deadlock ", "a_", "x", "# ", "```\n", "<!--", "- [ ] ", "é", "\u{202e}", "a/b.c ", "C++", "#1 "] {
        let body = part.repeat(1_000_000 / part.len());
        let routing = route(&router, &body, &body);
        assert!((1..=10).contains(&routing.complexity));
        assert!(routing.ranked.iter().flat_map(|scored| &scored.reasons).all(|reason| reason.len() < 200));
    }
}

#[test]
fn reasons_are_words_that_a_person_would_give() {
    let hob = "hob:\n  match:\n    words: ['in the browser', 'out of the', 'foreign key']\n";
    let router = Router::new(&[candidate("dora", "Databases", hob), candidate("fred", "React developer", "")]);
    let routing = route(&router, "A foreign key is out of the order in the dump", "The key is foreign in the schema.");
    assert_eq!(routing.ranked[0].reasons, ["the words `foreign key`", "the word `schema`"]);
}

/// Two words in a row, of which one is grammar, are told as the other one.
#[test]
fn reasons_have_no_words_of_grammar() {
    let hob = "hob:\n  match:\n    words: ['tokens in', 'the dump']\n";
    let router = Router::new(&[candidate("sam", "Looks after it", hob), candidate("fred", "React developer", "")]);
    let routing = route(&router, "There are tokens in the dump", "");
    assert_eq!(routing.ranked[0].reasons, ["the word `dump`", "the word `tokens`"]);
}

/// A field that no profile has leaves the issue to the base agent, though some of its words are another profile's.
#[test]
fn a_field_that_nobody_has_is_nobodys() {
    let title = "Populate ignores the query parameters of the REST endpoint";
    let body = "The API returns 400 for a GET request with a nested filter, and the response body has no pagination.";
    let database = candidate("dora", "Database administrator", "");
    let alone = route(&Router::new(&[database.clone(), candidate("tess", "Technical writer", "")]), title, body);
    assert!(!alone.ranked[0].likeness.is_choice(), "{:?}", alone.ranked[0]);
    let found = route(&Router::new(&[database, candidate("abel", "Designs REST APIs", "")]), title, body);
    assert_eq!(found.ranked[0].profile.as_str(), "abel");
    assert!(found.ranked[0].likeness.is_choice(), "{:?}", found.ranked[0]);
}

/// The profile that is nearest to a topic has it, not one that mentions it.
#[test]
fn a_topic_is_the_nearest_profiles() {
    let near = candidate("accessibility-tester", "Checks accessibility", "");
    let far = candidate("frontend-developer", "Web frontends that are accessible", "");
    let ranked =
        route(&Router::new(&[far, near]), "The options are not announced", "With NVDA the listbox is silent.").ranked;
    assert_eq!(ranked[0].profile.as_str(), "accessibility-tester", "{ranked:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Bad input: the result is usable for any text of an issue.
    #[test]
    fn any_text_has_a_result(title in any::<String>(), body in "(?s).{0,400}", markup in "[#`<>!\\-\\[\\] x\n.:/é😀a-c_]{0,400}") {
        let router = router();
        for body in [&body, &markup] {
            let issue = RoutedText { title: &title, body, labels: std::slice::from_ref(&title) };
            let routing = router.route(issue);
            prop_assert!((1..=10).contains(&routing.complexity));
            prop_assert_eq!(routing.ranked.len(), PROFILES.len());
            prop_assert!(routing.ranked.windows(2).all(|two| two[0].confidence >= two[1].confidence));
            for scored in &routing.ranked {
                prop_assert!((0.0..=1.0).contains(&scored.confidence) && scored.reasons.len() <= 3);
                prop_assert!(scored.reasons.iter().all(|reason| !reason.contains('\n')));
            }
            prop_assert_eq!(router.route(issue), routing, "the same again");
        }
    }
}
