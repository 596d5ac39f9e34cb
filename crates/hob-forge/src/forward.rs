//! Requests of the holder of a [`Pass`], made with this connection's token: by its throttle and its conditional cache, so that one window
//! counts what all pods ask.
//!
//! # Guarantees
//! - What is sent was permitted to the pass, and is on the list of all calls. What a write is about was found to be the issue's.
//! - A holder waits half of a call's deadline at most for its turn, and is then told when to come again, as by the forge: its own client
//!   has not given up yet.
//! - Of an answer's headers only those are passed on that Hob reads, and of its body no token for a clone.
//!
//! # Caveats
//! Answers are kept as a whole, apart from those of the connection's own reads, and counted in bytes as those are.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    Connection, ForgeError, Pass, Reach,
    cache::Cached,
    call::Call,
    pass_permitted::{Denied, Subject, permit},
    pass_reach::Whose,
    permitted::GRAPHQL,
    purpose::{Purpose, Share},
    rendered::FULL,
    reply::{Links, Reply},
};

/// How long a holder waits before it comes again, if its turn did not come in time.
const BUSY: Duration = Duration::from_secs(2);

/// Completes "asked to …".
const WHAT: &str = "forward a request of a Job";

/// The headers of the forge's answers that Hob reads, beside links and tags.
const HEADERS: [HeaderName; 9] = [
    header::DATE,
    header::CONTENT_TYPE,
    header::RETRY_AFTER,
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
    HeaderName::from_static("x-ratelimit-resource"),
    HeaderName::from_static("x-accepted-github-permissions"),
    HeaderName::from_static("x-github-sso"),
];

/// What GitHub gives beside a private repository to those who may read it: a token for a clone, without the bounds of a pass.
const CLONE_TOKEN: &str = "temp_clone_token";

/// A request of a pass's holder.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The method.
    pub method: &'a Method,
    /// The path below the API's base, with its query.
    pub path: &'a str,
    /// The body.
    pub body: Option<&'a Value>,
    /// The tag of the answer that the holder has already.
    pub etag: Option<&'a str>,
    /// The media type that it accepts.
    pub accept: Option<&'a str>,
}

/// The forge's answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Its headers, without the links.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The relations and paths of the list's other pages, below the API's base.
    pub links: Vec<(&'static str, String)>,
}

/// Why there is no answer of the forge.
#[derive(Debug, thiserror::Error)]
pub enum NotForwarded {
    /// The pass does not open this.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The call itself failed, or has to wait.
    #[error(transparent)]
    Forge(#[from] ForgeError),
}

/// Has the forge answer a request of the holder of this pass.
///
/// # Errors
/// [`NotForwarded`] if the pass does not open this, or there is no answer.
pub async fn forward(
    connection: &Connection,
    reach: &Reach,
    pass: &Pass,
    asked: Asked<'_>,
) -> Result<Answer, NotForwarded> {
    let subjects = permit(pass, asked.method, asked.path, asked.body)?;
    if let Some(untold) = look_up(connection, reach, pass, subjects).await? {
        return Ok(untold);
    }
    let answer = Box::pin(send(connection, pass, asked)).await?;
    if answer.status.is_success() {
        reach.learn(pass, asked.method, asked.path, &answer.body);
    }
    Ok(answer)
}

/// Looks up whether all of these are the pass's issue's. If the forge does not tell, its answer is that of the write, too: a comment
/// that is gone cannot be edited.
async fn look_up(
    connection: &Connection,
    reach: &Reach,
    pass: &Pass,
    subjects: Vec<Subject>,
) -> Result<Option<Answer>, NotForwarded> {
    let is_part = |subject: &Subject| matches!(subject, Subject::Part(_) | Subject::PartId(_));
    let own = if subjects.iter().any(is_part) { connection.login().await? } else { None };
    for subject in subjects {
        let mut about = subject.clone();
        loop {
            let mut whose = reach.whose(pass, &about, own.as_ref());
            if let Whose::Asked(path) = &whose {
                let answer = read(connection, pass, Call::get(path, Purpose::without_permission(WHAT))).await?;
                let is_no_pull = answer.status == StatusCode::NOT_FOUND && matches!(about, Subject::Number(_));
                let told = (answer.status == StatusCode::OK).then(|| serde_json::from_slice(&answer.body));
                whose = match told {
                    Some(told) => reach.told(pass, &about, &told.unwrap_or_default()),
                    None if is_no_pull => Whose::Others,
                    None => return Ok(Some(answer)),
                };
            }
            match whose {
                Whose::Own => break,
                Whose::AsThatOf(other) => about = other,
                Whose::Others | Whose::Asked(_) => return Err(subject.denied().into()),
            }
        }
        reach.remember(pass, subject);
    }
    Ok(None)
}

async fn send(connection: &Connection, pass: &Pass, asked: Asked<'_>) -> Result<Answer, ForgeError> {
    let purpose = Purpose::without_permission(WHAT).with(share_of(asked.path));
    let accept = if asked.accept == Some(FULL) { FULL } else { Call::get(asked.path, purpose).accept };
    let call =
        Call { method: asked.method, body: asked.body, etag: asked.etag, accept, ..Call::get(asked.path, purpose) };
    let is_read = *asked.method == Method::GET;
    if is_read && accept != FULL {
        return read(connection, pass, call).await;
    }
    let turn = match is_read || asked.path == GRAPHQL {
        true => None,
        false => Some(in_time(connection, connection.write_turn(purpose)).await?),
    };
    let reply = without_clone_token(connection.send(call).await?);
    match turn {
        Some(_) => connection.count_write(),
        None => connection.count_read(),
    }
    drop(turn);
    Ok(answer(connection, pass, call, reply))
}

/// Whether a push fits into the minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushRoom {
    /// It does, and was counted.
    Counted,
    /// It does not, and moves nothing but refs that can be moved over the API, too.
    None,
}

/// Counts a push of these refs by a pass's holder, after its turn. A push of the issue's branch is always made.
///
/// # Errors
/// [`ForgeError::Limited`] if its turn does not come in time.
pub async fn count_forwarded_push(
    connection: &Connection,
    pass: &Pass,
    refs: &[String],
) -> Result<PushRoom, ForgeError> {
    let (settings, purpose) = (connection.settings(), Purpose::without_permission(WHAT));
    // Without a pause between writes, nothing is counted. Without a ref, git only asks whether it may push.
    if settings.write_interval_ms == 0 || refs.is_empty() {
        return Ok(PushRoom::Counted);
    }
    let is_of_ledgers = refs.iter().all(|name| !name.starts_with("refs/heads/"));
    if is_of_ledgers && !connection.pushes.has_room(&pass.repo, Share::Lease) {
        return Ok(PushRoom::None);
    }
    drop(in_time(connection, connection.transport.push_turn(purpose)).await?);
    connection.pushes.count(&pass.repo, settings.pushes_per_minute);
    Ok(PushRoom::Counted)
}

/// What keeps a lease goes first, as in the holder's own client.
fn share_of(path: &str) -> Share {
    let is_of_ledgers = path.split('/').nth(4) == Some("git");
    if is_of_ledgers { Share::Lease } else { Share::Common }
}

/// A turn, if it comes before the holder's own client gives up.
async fn in_time<T>(
    connection: &Connection,
    turn: impl Future<Output = Result<T, ForgeError>>,
) -> Result<T, ForgeError> {
    let busy = |_elapsed| Err(ForgeError::Limited { what: WHAT.to_owned(), retry_after: BUSY });
    timeout(connection.settings().timeout / 2, turn).await.unwrap_or_else(busy)
}

/// A read: of an answer that is known, the forge is asked only whether it has changed.
async fn read(connection: &Connection, pass: &Pass, call: Call<'_>) -> Result<Answer, ForgeError> {
    let known = connection.forwarded.get(call.path, connection.now());
    let etag = known.as_ref().map(|known| known.etag.as_str()).or(call.etag);
    let reply = without_clone_token(connection.send(Call { etag, ..call }).await?);
    let is_unchanged = reply.status == StatusCode::NOT_MODIFIED;
    if is_unchanged {
        connection.count_unchanged()
    } else {
        connection.count_read()
    }
    if let Some(Cached { etag, body, links, .. }) = known.filter(|_| is_unchanged) {
        let mut answer = answer(connection, pass, call, reply);
        answer.links = of_repository(pass, &links);
        if call.etag != Some(etag.as_str()) {
            (answer.status, answer.body) = (StatusCode::OK, body.into());
        }
        return Ok(answer);
    }
    if let (StatusCode::OK, Some(etag)) = (reply.status, reply.text(header::ETAG.as_str())) {
        let links = reply.links(connection.transport.base_path());
        let kept = Cached { kind: WHAT, etag: etag.to_owned(), body: reply.body.to_vec(), links };
        connection.forwarded.put(call.path, kept, connection.now());
    }
    Ok(answer(connection, pass, call, reply))
}

fn without_clone_token(mut reply: Reply) -> Reply {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Object(members) => {
                members.remove(CLONE_TOKEN);
                members.values_mut().for_each(strip);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let may_have_one = reply.body.windows(CLONE_TOKEN.len()).any(|part| part == CLONE_TOKEN.as_bytes());
    if may_have_one && let Ok(mut body) = serde_json::from_slice(&reply.body) {
        strip(&mut body);
        reply.body = body.to_string().into();
    }
    reply
}

/// What of a reply the holder gets. A limit that it names closes the gate for all.
fn answer(connection: &Connection, pass: &Pass, call: Call<'_>, reply: Reply) -> Answer {
    if reply.status.is_client_error() || reply.status.is_server_error() {
        let failure = connection.transport.failure(&reply, call.path, call.purpose);
        tracing::debug!(job = pass.job, "the forge refused a request of a Job: {failure}");
    }
    let is_log = reply.status.is_redirection() && call.path.ends_with("/logs");
    let names = HEADERS.into_iter().chain([header::ETAG]).chain(is_log.then_some(header::LOCATION));
    let headers = names.filter_map(|name| Some((name.clone(), reply.headers.get(name)?.clone()))).collect();
    let links = of_repository(pass, &reply.links(connection.transport.base_path()));
    Answer { status: reply.status, headers, body: reply.body, links }
}

/// The pages of a list by the repository's name: the forge also names it by a number, of which no pass says whose it is.
fn of_repository(pass: &Pass, links: &Links) -> Vec<(&'static str, String)> {
    let named = |path: &String| match path.strip_prefix("/repositories/").and_then(|rest| rest.split_once('/')) {
        Some((_id, rest)) => format!("/repos/{}/{rest}", pass.repo),
        None => path.clone(),
    };
    let all = [("first", &links.first), ("prev", &links.previous), ("next", &links.next), ("last", &links.last)];
    all.into_iter().filter_map(|(relation, path)| Some((relation, named(path.as_ref()?)))).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        convert::Infallible,
        sync::{Arc, Mutex},
    };

    use hob_config::Settings;
    use hob_domain::{IssueNumber, Timestamp};
    use hob_text::KnownSecrets;
    use http::{Request, Response};
    use http_body_util::Full;
    use octocrab::{AuthState, OctoBody, OctocrabBuilder};
    use serde_json::json;

    use super::*;
    use crate::{Access, Authentication};

    type Seen = Arc<Mutex<Vec<(String, HeaderMap)>>>;

    /// A connection to a forge that answers like this, and what it was asked.
    fn forge(
        answer: impl Fn(&Request<OctoBody>) -> Response<Full<Bytes>> + Clone + Send + Sync + 'static,
    ) -> (Arc<Connection>, Seen) {
        let seen = Seen::default();
        let log = Arc::clone(&seen);
        let service = tower::service_fn(move |request: Request<OctoBody>| {
            log.lock().unwrap().push((format!("{} {}", request.method(), request.uri()), request.headers().clone()));
            let answer = answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        let built = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None).build();
        let octocrab = built.unwrap_or_else(|never| match never {});
        let settings = Settings::load(None, HashMap::new(), &[]).unwrap().forge;
        let identity = Authentication::Token("token-of-the-forge".to_owned().into());
        let base = "/api/v3";
        (Connection::over(octocrab, base, identity, &settings, Access::ReadWrite, KnownSecrets::default()), seen)
    }

    fn says(status: u16, headers: &[(&str, &str)], body: &'static str) -> Response<Full<Bytes>> {
        let mut answer = Response::builder().status(status);
        for (name, value) in headers {
            answer = answer.header(*name, *value);
        }
        answer.body(Full::from(body)).unwrap()
    }

    fn pass() -> Pass {
        let (repo, ends) = ("acme/site".parse().unwrap(), Timestamp::UNIX_EPOCH);
        Pass { repo, issue: IssueNumber(7), job: "hob-site-7".to_owned(), ends }
    }

    fn reach() -> Reach {
        Reach::new("hob/")
    }

    fn get(path: &str) -> Asked<'_> {
        Asked { method: &Method::GET, path, body: None, etag: None, accept: None }
    }

    const ISSUES: &str = "/repos/acme/site/issues?page=1";

    #[tokio::test]
    async fn what_is_forwarded_has_the_connections_token_and_is_asked_again_only_if_it_changed() {
        let link = "<https://ghe/api/v3/repositories/7/issues?page=2>; rel=\"next\"";
        let (connection, seen) = forge(move |request| {
            let headers =
                [("etag", "\"1\""), ("link", link), ("set-cookie", "a=b"), ("date", "Thu, 01 Jan 1970 00:00:01 GMT")];
            let is_known = request.headers().contains_key(header::IF_NONE_MATCH);
            if is_known { says(304, &headers[..1], "") } else { says(200, &headers, "[1]") }
        });
        let first = forward(&connection, &reach(), &pass(), get(ISSUES)).await.unwrap();
        let next = vec![("next", "/repos/acme/site/issues?page=2".to_owned())];
        assert_eq!((first.status.as_u16(), &first.body[..], &first.links), (200, &b"[1]"[..], &next));
        assert!(first.headers.contains_key("date") && !first.headers.contains_key("set-cookie"), "{:?}", first.headers);
        let again = forward(&connection, &reach(), &pass(), get(ISSUES)).await.unwrap();
        assert_eq!((again.status.as_u16(), &again.body[..], &again.links), (200, &b"[1]"[..], &next));
        let known =
            forward(&connection, &reach(), &pass(), Asked { etag: Some("\"1\""), ..get(ISSUES) }).await.unwrap();
        assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 3);
        for (asked, headers) in seen.iter() {
            assert_eq!(asked, "GET /api/v3/repos/acme/site/issues?page=1");
            assert_eq!(headers[header::AUTHORIZATION], "Bearer token-of-the-forge");
        }
        let counts = connection.call_counts();
        assert_eq!((counts.reads, counts.unchanged, counts.writes), (1, 2, 0));
    }

    #[tokio::test]
    async fn a_token_for_a_clone_stays_here() {
        let body = r#"{"name":"site","temp_clone_token":"ghs_clone","parent":{"temp_clone_token":"ghs_clone"}}"#;
        let (connection, seen) = forge(move |request| {
            let is_known = request.headers().contains_key(header::IF_NONE_MATCH);
            if is_known { says(304, &[("etag", "\"1\"")], "") } else { says(200, &[("etag", "\"1\"")], body) }
        });
        for _ in 0..2 {
            let answer = forward(&connection, &reach(), &pass(), get("/repos/acme/site")).await.unwrap();
            assert_eq!(&answer.body[..], br#"{"name":"site","parent":{}}"#, "also the answer that is kept");
        }
        assert_eq!(seen.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn whose_a_comment_is_is_looked_up_once() {
        let pull = r#"{"head":{"ref":"hob/7-fix","repo":{"id":1}},"base":{"repo":{"id":1}}}"#;
        let (connection, seen) = forge(move |request| match request.uri().path().rsplit('/').next() {
            Some("3") if request.method() == Method::GET => says(200, &[], r#"{"issue_url":"x/issues/9"}"#),
            Some("4") => says(200, &[], r#"{"issue_url":"x/issues/8"}"#),
            Some("9") => says(200, &[], pull),
            Some("3") => says(200, &[], "{}"),
            _other => says(404, &[], "{}"),
        });
        let (reach, body) = (reach(), json!({ "body": "x" }));
        let edits = async |comment: u64| {
            let path = format!("/repos/acme/site/issues/comments/{comment}");
            let asked = Asked { method: &Method::PATCH, body: Some(&body), ..get(&path) };
            connection.skip_spacing();
            forward(&connection, &reach, &pass(), asked).await.map(|answer| answer.status.as_u16())
        };
        for (comment, expected) in [(3, Some(200)), (3, Some(200)), (4, None), (5, Some(404))] {
            let answered = edits(comment).await;
            let is_it = match (&answered, expected) {
                (Ok(status), Some(expected)) => *status == expected,
                (Err(NotForwarded::Denied(Denied::OtherIssue)), None) => true,
                _other => false,
            };
            assert!(is_it, "{comment}: {answered:?}");
        }
        let seen = seen.lock().unwrap();
        let asked: Vec<_> = seen.iter().map(|(asked, _)| asked.replace("/api/v3/repos/acme/site/", "")).collect();
        let comment = |id: u64| format!("GET issues/comments/{id}");
        let edit = "PATCH issues/comments/3".to_owned();
        let pull = |number: u64| format!("GET pulls/{number}");
        assert_eq!(asked, [comment(3), pull(9), edit.clone(), edit, comment(4), pull(8), comment(5)]);
    }

    #[tokio::test]
    async fn what_a_pass_does_not_open_is_not_sent() {
        let (connection, seen) = forge(|_| says(200, &[], "[]"));
        let refused = forward(&connection, &reach(), &pass(), get("/repos/acme/other")).await.unwrap_err();
        assert!(matches!(refused, NotForwarded::Denied(Denied::OtherRepository)), "{refused:?}");
        assert!(seen.lock().unwrap().is_empty());
    }

    /// In virtual time: one window counts the writes of all holders, and of the connection itself.
    #[tokio::test(start_paused = true)]
    async fn writes_take_turns_with_those_of_the_connection() {
        let (connection, seen) = forge(|_| says(201, &[], "{}"));
        let (post, body) = (Method::POST, json!({ "body": "x" }));
        let asked = Asked { method: &post, body: Some(&body), ..get("/repos/acme/site/issues/7/comments") };
        let most = connection.settings().writes_per_minute as usize;
        let mut made = 0;
        let wait = loop {
            match forward(&connection, &reach(), &pass(), asked).await {
                Ok(answer) => assert_eq!(answer.status, StatusCode::CREATED),
                Err(NotForwarded::Forge(ForgeError::Limited { retry_after, .. })) => break retry_after,
                Err(other) => panic!("{other}"),
            }
            made += 1;
            assert!(made <= most, "nothing was counted");
            connection.skip_spacing();
        };
        // A fifth is kept for leases.
        assert_eq!((made, seen.lock().unwrap().len()), (most - most / 5, most - most / 5));
        assert!(wait >= BUSY, "{wait:?}");
        let (own, refs) = (json!({ "sha": "1", "force": false }), "/repos/acme/site/git/refs/hob/issues/7");
        let renewal = Asked { method: &Method::PATCH, body: Some(&own), ..get(refs) };
        forward(&connection, &reach(), &pass(), renewal).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_a_holder_meets_closes_the_gate_for_all() {
        let (connection, seen) =
            forge(|_| says(403, &[("retry-after", "30")], r#"{"message":"secondary rate limit"}"#));
        let answer = forward(&connection, &reach(), &pass(), get(ISSUES)).await.unwrap();
        assert_eq!((answer.status.as_u16(), &answer.headers["retry-after"]), (403, &"30".parse().unwrap()));
        assert_eq!(connection.closed_for().unwrap().as_secs(), 30);
        let next = forward(&connection, &reach(), &pass(), get(ISSUES)).await.unwrap_err();
        assert!(matches!(next, NotForwarded::Forge(ForgeError::Limited { .. })), "{next}");
        assert_eq!(seen.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn pushes_of_ledgers_share_the_minute_and_one_of_the_branch_is_always_made() {
        let (connection, _seen) = forge(|_| says(200, &[], "{}"));
        connection.skip_spacing();
        let (ledger, branch) =
            (["refs/hob/issues/7".to_owned()], ["refs/heads/hob/7".to_owned(), "refs/hob/issues/7".to_owned()]);
        let push = async |refs: &[String]| count_forwarded_push(&connection, &pass(), refs).await.unwrap();
        for _ in 0..connection.settings().pushes_per_minute {
            assert_eq!((push(&[]).await, push(&ledger).await), (PushRoom::Counted, PushRoom::Counted));
        }
        assert_eq!((push(&ledger).await, push(&branch).await), (PushRoom::None, PushRoom::Counted));
        let other = Pass { repo: "acme/other".parse().unwrap(), ..pass() };
        assert_eq!(count_forwarded_push(&connection, &other, &ledger).await.unwrap(), PushRoom::Counted);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(push(&ledger).await, PushRoom::Counted);
    }
}
