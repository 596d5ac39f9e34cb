//! The embedded forge's Apps: a signed JSON web token gives tokens that end after an hour of the forge's clock.

use std::time::Duration;

use github_emulator::{App, AppKey, Options, Role, serve};
use http::Method;
use serde_json::{Value, json};

use crate::local_forge::{Fixture, site};

/// A public key, and a token that its private half, which is nowhere any more, signed for App 7 to be good from the
/// first minute of the year 2100.
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3+YiM2omJk6+nFf/wqSm
oRK2x6pG2yj/ieFk55XzraEJFjTuKEc/zRLGmpdOp3t1HKGSoC35uSs9lKCS5dh2
9oVMdtBZkVwbduz9SgSeqbIkrMn+aTGHlmvgxsnlHLBNbwF8KEME63EQYW+iaFdf
LgGipLsdCe+qeOWRVGzET2zaN83jCPJwPKifmhXPUJoTDqWmFGDSgU5hnHMV3c8K
gsO/dGyLkFsbSQ7PxPIJTo40uI6fvYgubHpIhwg3BePRRC+INzw6J5S626hc7Moe
do8sAboI8ud0LFPMvBH+8xGKNkv1F6nvhNU+CglgwBRP9YeBk7v7/WKPDPuFgJrI
NwIDAQAB
-----END PUBLIC KEY-----";
const TOKEN: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjQxMDI0NDQ4MDAsImV4cCI6NDEwMjQ0NTM0MCwiaXNzIjoiNyJ9.AZ",
    "Bm4YH_s1zz0LlOlTL7a0C8IrWxVTUaor-nfPERpeqQ9wM1TMg9UyPZmWILTsSDFP3PqTDGcajR2zWbVDCuJuO2tEAMevQmsYML8B",
    "kAYtiwm6bUi2A9ebA81sP90ophXkINaWOs9j29s4Kq74yabcJiiyybBwENgzGIEHTefVNjQtnaGYf9bpaf6IIAYI9iQMUq5Ua-1i",
    "Xc51Mwo0AHbWHGL1AzD8WgQUHz5TiiDphZXw9qRstL-wKkaisZezRLf_BGWWSo0xHFM67wvkQeSDjVI-bNGZ3pU86FMXLa9J93mh",
    "6s6baw3ty2w3m0jPDPMGyS_LneI7P1omJNQr2jMQ",
);
const BEGINS: i64 = 4_102_444_800;

#[tokio::test]
async fn an_app_gets_tokens_that_end_after_an_hour() {
    let mut fixture = Fixture::start().await;
    let key = AppKey::from_pem(KEY).unwrap();
    let app = App { id: 7, slug: "hob".to_owned(), key, installation: 70, role: Role::Write };
    fixture.forge = serve(Options { apps: vec![app], ..Options::default() }).await.unwrap();
    let early = fixture.send(TOKEN, Method::GET, "/app", Value::Null).await;
    assert_eq!(early.status, 401);
    let now = early.headers["date"].to_str().unwrap();
    let now = chrono::DateTime::parse_from_rfc2822(now).unwrap().timestamp();
    fixture.forge.advance(Duration::from_secs(u64::try_from(BEGINS - now).unwrap()));
    let own = fixture.send(TOKEN, Method::GET, "/app", Value::Null).await;
    assert_eq!((own.status, &own.body["slug"]), (200, &json!("hob")), "{}", own.body);
    let made = fixture.post(TOKEN, "/app/installations/70/access_tokens", Value::Null).await;
    assert_eq!(made.status, 201);
    let token = made.body["token"].as_str().unwrap();
    let seen = fixture.send(token, Method::GET, "/installation/repositories", Value::Null).await;
    assert_eq!((seen.status, &seen.body["total_count"]), (200, &json!(0)));
    fixture.forge.advance(Duration::from_secs(3_600));
    assert_eq!(fixture.send(token, Method::GET, "/installation/repositories", Value::Null).await.status, 401);
    assert_eq!(fixture.send(TOKEN, Method::GET, "/app", Value::Null).await.status, 401, "expired");
}

#[tokio::test]
async fn a_token_that_another_key_signed_is_refused() {
    let mut fixture = Fixture::start().await;
    let app =
        App { id: 7, slug: "hob".to_owned(), key: AppKey::from_pem(KEY).unwrap(), installation: 70, role: Role::Write };
    fixture.forge = serve(Options { apps: vec![app], ..Options::default() }).await.unwrap();
    let (signed, signature) = TOKEN.rsplit_once('.').unwrap();
    let turned: String = signature.chars().rev().collect();
    let refused = fixture.send(&format!("{signed}.{turned}"), Method::GET, "/app", Value::Null).await;
    assert_eq!((refused.status, &refused.body["message"]), (401, &json!("A JSON web token could not be decoded")));
    assert!(AppKey::from_pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----").is_err());
}

#[tokio::test]
async fn a_token_may_do_what_was_asked_for_and_nothing_else() {
    let mut fixture = Fixture::start().await;
    let key = AppKey::from_pem(KEY).unwrap();
    let app = App { id: 7, slug: "hob".to_owned(), key, installation: 70, role: Role::Write };
    let (apps, users) = (vec![app], vec!["wil:tw".parse().unwrap()]);
    fixture.forge = serve(Options { apps, users, ..Options::default() }).await.unwrap();
    fixture.head = fixture.forge.create_repository(&site(), &[("README.md", b"x\n", false)]).unwrap();
    let hidden = json!({"name": "hidden", "private": true, "auto_init": true});
    fixture.post("tw", "/user/repos", hidden).await;
    let now = fixture.forge.now().timestamp();
    fixture.forge.advance(Duration::from_secs(u64::try_from(BEGINS - now).unwrap()));
    let ask = async |body: Value| fixture.post(TOKEN, "/app/installations/70/access_tokens", body).await;
    for wrong in [
        json!({"permissions": {"administration": "write"}}),
        json!({"permissions": {"gists": "read"}}),
        json!({"repositories": ["none"]}),
        json!({"repository_ids": [1]}),
        json!({"target": "x"}),
    ] {
        assert_eq!(ask(wrong.clone()).await.status, 422, "{wrong}");
    }
    let made = ask(json!({"repositories": ["site"], "permissions": {"issues": "read"}})).await.body;
    assert_eq!(made["permissions"], json!({"metadata": "read", "issues": "read"}));
    assert_eq!((&made["repository_selection"], &made["repositories"][0]["name"]), (&json!("selected"), &json!("site")));
    let token = made["token"].as_str().unwrap();
    let issues = "/repos/acme/site/issues";
    assert_eq!(fixture.send(token, Method::GET, issues, Value::Null).await.status, 200);
    let refused = fixture.post(token, issues, json!({"title": "T"})).await;
    assert_eq!((refused.status, &refused.body["message"]), (403, &json!("Resource not accessible by integration")));
    assert_eq!(refused.headers["x-accepted-github-permissions"], "issues=write");
    assert_eq!(fixture.send(token, Method::GET, "/repos/wil/hidden", Value::Null).await.status, 404);
    assert_eq!(fixture.send(token, Method::GET, "/user", Value::Null).await.status, 403, "it is not a user");
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url(token), "w"]).await;
    let (ok, said) = fixture.git(&folder.path().join("w"), &["push", "origin", "HEAD:b"]).await;
    assert!(!ok && said.contains("403"), "{said}");
    let whole = ask(Value::Null).await.body;
    let (ok, said) = fixture
        .git(&folder.path().join("w"), &["push", &fixture.clone_url(whole["token"].as_str().unwrap()), "HEAD:b"])
        .await;
    assert!(ok, "{said}");
}
