//! Hob's requests to GitHub, checked against GitHub's own OpenAPI description and GraphQL schema: the list of permitted
//! calls, and the requests of a scenario that makes them all. `tests/conformance/requests.mjs` has the libraries for
//! both.
//!
//! `HOB_PAYLOADS_DIR` must be the folder in `tests/conformance`, whose script it is.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hob_forge::{live_calls, permitted_calls};
use http::Method;
use serde_json::{Value, json};

use super::{
    asked::{Asked, call},
    door::Door,
    every_call::make,
    packages::installed,
};
use crate::harness::{World, starts};

/// Calls that are let pass and that nothing makes.
const UNUSED: [&str; 1] = ["GET /repos/*/*/issues/comments/*/reactions"];

/// The folder of the packages, if node starts, too.
fn described() -> Option<PathBuf> {
    let folder = installed()?;
    starts("node").then_some(folder)
}

#[expect(clippy::disallowed_methods, reason = "a test's own tool")]
fn node(script: &str, argument: &str) -> std::io::Result<Output> {
    Command::new("node").args([script, argument]).output()
}

/// The violations of GitHub's description by these calls and requests: the index of each, and a sentence.
fn wrong(folder: &Path, lines: &[Value]) -> Vec<(usize, String)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let script = folder.join("../../requests.mjs");
    let output = node(script.to_str().unwrap(), file.path().to_str().unwrap()).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (faults, summary) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    assert!(summary.ends_with(" failed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let faults = faults.lines().map(|line| line.split_once(' ').unwrap());
    faults.map(|(index, sentence)| (index.parse().unwrap(), sentence.to_owned())).collect()
}

fn line(asked: &Asked) -> Value {
    json!({ "method": asked.method.as_str(), "path": asked.path, "accept": asked.accept, "body": asked.body })
}

#[test]
fn each_call_that_is_let_pass_is_an_operation_of_githubs_with_these_members() {
    let Some(folder) = described() else { return };
    let line = |call: hob_forge::PermittedCall| json!({ "method": call.method.as_str(), "path": call.path, "members": call.members });
    let lines: Vec<Value> = permitted_calls().chain(live_calls()).map(line).collect();
    assert_eq!(wrong(&folder, &lines), []);
}

#[tokio::test]
async fn each_request_that_is_made_is_as_github_describes_it() {
    let Some(folder) = described() else { return };
    let world = World::fixing().pushing_ledgers().start().await;
    let door = Door::before(&world).await;
    make(&world, &door).await;
    let asked = door.asked();
    let lines: Vec<Value> = asked.iter().map(line).collect();
    assert_eq!(wrong(&folder, &lines), []);
    let unmade = unmade(&asked);
    assert!(unmade.is_empty(), "the scenario has to make these, too:\n{}", unmade.join("\n"));
    world.leave();
}

/// Requests that Hob can make and did not: calls of the list, members of their bodies, parameters of queries and
/// documents of GraphQL that the client's files write.
fn unmade(asked: &[Asked]) -> Vec<String> {
    let mut made = BTreeSet::new();
    for one in asked {
        let call = one.call().unwrap_or_else(|| panic!("it is not on the list: {one:?}"));
        let name = format!("{} {}", call.method, call.path);
        for parameter in one.parameters() {
            made.extend([format!("{name} ?{parameter}"), format!("any call ?{parameter}")]);
        }
        let members = one.body.as_object().into_iter().flat_map(|body| body.keys());
        made.extend(members.map(|member| format!("{name} {{{member}}}")));
        made.insert(name);
    }
    let mut wanted = Vec::new();
    for call in permitted_calls() {
        let name = format!("{} {}", call.method, call.path);
        wanted.extend(call.members.iter().map(|member| format!("{name} {{{member}}}")));
        wanted.push(name);
    }
    let known = wanted.len();
    for text in client_texts() {
        wanted.extend(parameters_in(&text));
    }
    assert!(wanted.len() > known + 30, "the client's files write more parameters than these: {:?}", &wanted[known..]);
    wanted.retain(|one| !made.contains(one) && !UNUSED.contains(&one.as_str()));
    let queries: Vec<&str> = asked.iter().filter_map(|one| one.body["query"].as_str()).collect();
    for (file, beginning) in documents() {
        if !queries.iter().any(|query| query.contains(&beginning)) {
            wanted.push(format!("{file}: {beginning}…"));
        }
    }
    wanted
}

/// The production part of each file of the client.
fn client_files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/hob-forge/src");
    // The live check's requests are not a worker's.
    let is_of_workers = |path: &PathBuf| !path.file_name().unwrap().to_str().unwrap().starts_with("live");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_of_workers);
    let named = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let production = text.split("#[cfg(test)]").next().unwrap().to_owned();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), production)
    };
    files.map(named).collect()
}

/// Texts in double quotes that the client's files have on one line.
fn client_texts() -> Vec<String> {
    let lines = client_files().into_iter().flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The parameters of the query that a text writes, each with its call; with any call if the text has no whole path.
fn parameters_in(text: &str) -> Vec<String> {
    let Some((path, query)) = text.split_once(['?', '&']).filter(|_| !text.contains(' ')) else { return Vec::new() };
    let filled: Vec<&str> =
        path.split(['{', '}']).enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect();
    let filled = filled.concat();
    let found = call(&Method::GET, &filled).or_else(|| call(&Method::GET, &format!("/repos/a/b{filled}")));
    let call =
        found.filter(|_| path.starts_with('/')).map_or("any call".to_owned(), |found| format!("GET {}", found.path));
    let names = query.split('&').filter_map(|one| Some(one.split_once('=')?.0));
    names.map(|name| format!("{call} ?{name}")).collect()
}

/// The beginnings of the documents of GraphQL that the client's files write, each with its file. Where a query is put together in one file
/// for several others, which ask different things, they are those of what is asked.
pub(super) fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (file, text) in client_files().into_iter().filter(|(file, _)| file != "objects.rs") {
        for kind in ["\"query(", "\"mutation(", "\"fragment facts on "] {
            let begins = text.match_indices(kind).map(|(at, _)| &text[at + 1..]);
            // Up to what is filled in, or the end of the line.
            let fixed = begins.map(|rest| rest.split(['{', '\\', '"']).next().unwrap().trim_end().to_owned());
            found.extend(fixed.map(|beginning| (file.clone(), beginning)));
        }
    }
    found
}

/// A call that GitHub does not have, or not so, is found: the same lines once right and once with a fault planted.
#[test]
fn what_github_does_not_describe_is_found() {
    let Some(folder) = described() else { return };
    let call =
        |method: &str, path: &str, members: &[&str]| json!({ "method": method, "path": path, "members": members });
    let request = |method: &str, path: &str, body: Value| json!({ "method": method, "path": path, "accept": "application/vnd.github+json", "body": body });
    let query =
        |query: &str, variables: Value| request("POST", "/graphql", json!({ "query": query, "variables": variables }));
    let title = "query($n: Int!) { repository(owner: \"a\", name: \"b\") { issue(number: $n) { title } } }";
    let (refs, issues) = ("/repos/a/b/git/refs", "/repos/a/b/issues?state=open");
    let made = json!({ "ref": "refs/hob/issues/1", "sha": "1" });
    let right = [
        call("POST", "/repos/*/*/git/refs", &["ref", "sha"]),
        request("GET", issues, Value::Null),
        request("POST", refs, made.clone()),
        query(title, json!({ "n": 1 })),
    ];
    assert_eq!(wrong(&folder, &right), []);
    let raw = json!({ "method": "GET", "path": issues, "accept": "application/vnd.gitlab+json", "body": null });
    let planted = [
        (call("POST", "/repos/*/*/git/reference", &["ref", "sha"]), "no such operation"),
        (call("PUT", "/repos/*/*/git/refs", &[]), "no such operation"),
        (call("POST", "/repos/*/*/git/refs", &["ref", "sha1"]), "no member sha1"),
        (request("GET", "/repos/a/b/issue?state=open", Value::Null), "no such operation"),
        (request("GET", "/repos/a/b/issues?status=open", Value::Null), "no parameter status"),
        (request("GET", "/repos/a/b/issues?state=opened", Value::Null), "state:"),
        (request("GET", "/repos/a/b/issues?per_page=all", Value::Null), "per_page:"),
        (raw, "media type"),
        (request("POST", refs, json!({ "ref": "refs/hob/issues/1", "sha": "1", "lease": "2" })), "no member lease"),
        (request("POST", refs, json!({ "ref": "refs/hob/issues/1" })), "required property 'sha'"),
        (request("POST", refs, json!({ "ref": 1, "sha": "1" })), "must be string"),
        (request("POST", refs, Value::Null), "the body is missing"),
        (query(&title.replace("title", "heading"), json!({ "n": 1 })), "heading"),
        (query(title, json!({ "n": "one" })), "$n"),
        (query(title, json!({ "n": 1, "m": 2 })), "$m"),
        (query(&title.replace("($n: Int!)", ""), json!({})), "$n"),
        (query("query {", json!({})), "Syntax Error"),
    ];
    let lines: Vec<Value> = planted.iter().map(|(line, _)| line.clone()).collect();
    let found = wrong(&folder, &lines);
    for (index, (line, says)) in planted.iter().enumerate() {
        let told = found.iter().any(|(at, sentence)| *at == index && sentence.contains(says));
        assert!(told, "{line} has to be told with `{says}`: {found:?}");
    }
}
