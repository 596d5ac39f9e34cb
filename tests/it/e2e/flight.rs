//! The flight record: `hob audit ISSUE --html FILE` writes one page with the whole life of an issue, and nothing in it is alive.

use std::{collections::BTreeSet, fs, path::Path};

use hob_config::{AgentSettings, BackendKind};
use serde_json::{Value, json};

use crate::harness::World;

const TEMPLATE: &str = include_str!("../../../src/cli/flight/record.html");
/// What tries to be an element, an attribute, an end of whatever it is in, and invisible.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>\" onmouseover=\"x' style='y</style></title></pre>{{ 12345*54321 }}\u{202e}";

/// The elements of a page, each with the names of its attributes, and the values of `class`: as the tokenizer of HTML reads them, without
/// what it does in elements whose content is text.
fn elements(html: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut elements, mut classes) = (BTreeSet::new(), BTreeSet::new());
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(rest.len());
        let mut element = rest[..end].to_ascii_lowercase();
        rest = &rest[end..];
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '=')).unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            element.push_str(&format!(" {name}"));
            rest = rest[end..].trim_start();
            if let Some(value) = rest.strip_prefix('=') {
                let value = value.trim_start();
                let quoted = value.strip_prefix('"').and_then(|value| value.split_once('"'));
                let (value, after) = quoted.unwrap_or_else(|| panic!("a value without quotes: {value:.60}"));
                if name == "class" {
                    classes.insert(value.to_owned());
                }
                rest = after;
            }
        }
        elements.insert(element);
    }
    (elements, classes)
}

/// The template's elements, without what decides which of them are there.
fn of_template() -> BTreeSet<String> {
    let mut plain = String::new();
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{%") {
        plain.push_str(before);
        rest = after.split_once("%}").unwrap().1;
    }
    plain.push_str(rest);
    while let Some((before, after)) = plain.split_once("{{") {
        plain = format!("{before}x{}", after.split_once("}}").unwrap().1);
    }
    let elements = elements(&plain).0;
    assert!(elements.contains("details open") && elements.contains("li class"), "{elements:?}");
    elements
}

/// A native agent whose model and tools say hostile things.
async fn hostile(folder: &Path) -> World {
    let call =
        |name: &str, arguments: Value| json!({ "text": EVIL, "calls": [{ "name": name, "arguments": arguments }] });
    let replies = json!({ "cassette": 1, "replies": [
        call("shell", json!({ "command": format!("cat << 'END'\n{EVIL}\nEND\nprintf '%s\\n' '--- a/x' '+++ b/x' '@@ -1 +1 @@' '+<b>'") })),
        call("write", json!({ "path": "<b onclick=x>.txt", "text": EVIL })),
        call("edit", json!({ "path": "<b onclick=x>.txt", "old": "<script>", "new": "</pre><i>" })),
        call("no <u> tool", json!({ "<s>": EVIL })),
        call("write", json!({ "path": "done.txt", "text": "done\n" })),
        call("done", json!({ "summary": format!("Made it. {EVIL}") })),
    ] });
    let file = folder.join("\"><svg onload=x>.json");
    fs::write(&file, replies.to_string()).unwrap();
    let agent = AgentSettings {
        backend: BackendKind::Native,
        model: Some(format!("cassette/{}", file.display())),
        last_look: false,
        ..AgentSettings::default()
    };
    let check = "echo '<em>' > /dev/null; test -f done.txt";
    World::fixing().check(check).agent("model", agent).set("agent", "model").start().await
}

/// Injected markup in every field does nothing.
#[tokio::test]
async fn a_record_has_the_whole_life_and_no_markup_but_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let world = hostile(folder.path()).await;
    let issue = world.asks(&format!("Make done.txt {EVIL} token-of-hob"), "Please.").await.to_string();
    let ran = world.hob(&["run", "--once"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let to = folder.path().join("record.html");
    let said = world.hob(&["audit", &issue, "--html", to.to_str().unwrap()]).await;
    assert!(said.stdout.starts_with(&format!("wrote the flight record of issue {issue} to `")), "{said:?}");
    let html = fs::read_to_string(&to).unwrap();

    let (elements, classes) = elements(&html);
    let strange: Vec<_> = elements.difference(&of_template()).cloned().collect();
    assert!(strange.is_empty(), "{strange:?}");
    let plain = |class: &String| class.chars().all(|c| c.is_ascii_lowercase() || matches!(c, ' ' | '-'));
    assert!(classes.iter().all(plain) && classes.contains("turn") && classes.contains("diff"), "{classes:?}");
    assert_eq!(html.matches("<style>").count() + html.matches("</style>").count(), 2);
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'";
    assert!(html.find(policy) < html.find("<style>") && html.contains(policy));
    assert!(!html.contains('\u{202e}') && !html.contains("670592745"), "nothing is invisible or evaluated");
    assert!(!html.contains("token-of-hob"), "no secret");

    for shown in [
        "&lt;script&gt;alert(1)",
        "\\u{202e}",
        "{{ 12345*54321 }}",
        "opened the pull request",
        "attempt 1",
        "no &lt;u&gt; tool",
        "the new tests on the old code",
        "ann authorized the text",
        "<span class=\"added\">+&lt;b&gt;",
        "svg onload=x&gt;.json",
    ] {
        assert!(html.contains(shown), "{shown}\n{html}");
    }
    assert!(html.find("<h5>old</h5>").unwrap() < html.find("<h5>new</h5>").unwrap());
    let printed = world.hob(&["audit", &issue, "--html", "-"]).await;
    assert!(printed.stdout.starts_with("<!doctype html>") && printed.stdout.ends_with("</html>\n"), "{printed:?}");
    for wrong in [vec!["audit", "--html", "-"], vec!["audit", &issue, "--html", "-", "--json"]] {
        assert_eq!(world.hob(&wrong).await.code, 2);
    }
    let none = world.hob(&["audit", "99", "--html", "-"]).await;
    assert!(none.stdout.is_empty() && none.stderr.contains("issue 99 has no ledger"), "{none:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_machine_without_the_sessions_says_so() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "Please.").await.to_string();
    world.run().await;
    let printed = world.hob(&["audit", &issue, "--html", "-"]).await.stdout;
    assert!(printed.contains("This machine has none of this issue") && printed.contains("in-review"), "{printed}");
    world.finish().await;
}

#[tokio::test]
async fn the_transcripts_of_all_sessions_are_exported_at_once() {
    let world = World::fixing().start().await;
    for title in ["One", "Two"] {
        world.asks(title, "Please.").await;
    }
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    let listed = world.hob(&["session", "list", "--json"]).await.result();
    let ids: BTreeSet<_> = listed.as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    let exported = world.hob(&["session", "log", "--all", "--json"]).await.objects();
    let of: BTreeSet<_> = exported.iter().map(|line| line["session"].to_string()).collect();
    assert_eq!((ids.len(), &ids), (2, &of));
    let (began, all) = (exported.iter().filter(|line| line["line"]["event"] == "started").count(), exported.len());
    assert!(began == 2 && all > 4, "{exported:#?}");
    assert_eq!(world.hob(&["session", "log"]).await.code, 2);
    world.finish().await;
}
