//! The App of every world: its key, its clients, and the crews that sign in as it.

use std::sync::Arc;

use hob_config::Settings;
use hob_domain::RepoName;
use hob_forge::{Access, App, AppKey, Authentication, Connection, Forge};
use hob_text::KnownSecrets;
use hob_worker::{EventSink, Repositories, Watcher, Worker, WorkerParts, WorkerPool};
use tokio_util::sync::CancellationToken;

use super::{
    Turnstile, World,
    inside::{self, client_as},
    repo,
    world::Line,
};

/// The App's id and its installation's.
pub(crate) const APP: u64 = 7;
const INSTALLATION: u64 = 70;

/// A private key that was made for these tests and opens nothing else; without the lines around it, so that it is not
/// mistaken for a secret.
const KEY: &str = concat!(
    "MIIEowIBAAKCAQEAqg3bfhgssJV9zcrOIoUIxACwzZLI7beStE30OL9NE1rtrXoKnddZpW+i3qbEdqp/U7t+Xk4uPX4PolNBJ1x0",
    "yRFiobyTvOpiOJxYvE6lcwL9lD10O7cV8N3oiJMWobCoSJen4uvTgXq0HnBrUoC1PHEjybDwr1lQBEtnAv7OFjXx7tdPPxupMU/x",
    "8qgCSefJ6KAYu+UC8jSW7Ctyzy7D2b51VyFLzjodATjbBBV0bntXc7I3pMsryJY6LrkRFio2uGPAuC8WddQ4TXiBvelL731sDZXR",
    "yqRAECTduaO/528Weg2lG1WKS/PeOPE07TsfWhdrtnMu4ycmFr3uj6fOJQIDAQABAoIBAACrorNc8/WxCc7Il/zYi7w5elGWZnzc",
    "hUSM3r7HwusIO5bju+dxaEw6S3LI0MRmsky9Xc7fEWwQfT9xvkcr1ZuTy25yvB3DjxxYpIicmsRixwRk/QRALYpaG8b5wwV3GRGF",
    "vRWifShLc3mTjjKc18F3U38t/wYpV8CSvHRjkY8Nnx96enVBefprraLR8h8dJXofTA7ywBzPoztbUDoFI6b+EwVsq4kg8wvtKRvL",
    "Y6/E37k+XM/ZDyzLe4bed7kJNmxapL/C4fLBN3y5EsNhHUEmvGM9zL/Pz8xY0JTBfrNLV21QXFP7lE20gVfW793O7kPJ8doGSQTf",
    "z14Gmc8PXqUCgYEA6eSiQS+uHXWl9pEl96INAKtFSEYT12qbKJ22f+1y15wPOd2Xa0h2PQfrEF5SGOza8HfTYiPJKUYNCmFRxIu9",
    "uKwJAM8w81YzVEb6yvwldqVfqCTUZOOufqA5Th6f3VGoOICF/SC5YfGtFT+x4Q+GA1AudzoJfNqe0V47PvK7yNMCgYEAuiCNOGSy",
    "+Qxow3rrlBXLHEZETguJZKqtIKag9Jvw/KYQAm4vEggkfe8w30UDNGeKMYSp9pnAmKRVMguZUXPtwI3tSBVBpR8VfFvneS97G4YH",
    "grF3vIx5AADhRG1wzIomo2dCMxvav/az82M2BBg2JGUofe3CNkHwH2G8PQUBMicCgYEAtLwZrSl88ALDNh6/KfWs+oFeThTorCMS",
    "tnX4Wi5P+c/77AkRQrOBunNt7v4TjnMoU30keMeSYDRjS0wcdTZOam91nYx9FOvdShh3H3dsM5xiqHmdLkDJy8tfvL/pZIn+5Xpb",
    "D1jEJ60qxCqt922ZbuH8peDRCAufgcXBHklPVkUCgYBb/0TuD8/qi3ioznPsgQ0gj5apYMhrSnVCQzohTYbCyi31lZKMfhvTZ0un",
    "v8vCtj63FRSRQBPTHr7BerwwZ3WnjD8xNth4jjGngyGZY5+czhWeQqulNWWFW+n8UX/EibBpadttuaHY6k6tyWbkhTcVrC5keAVb",
    "niHa0QsiufuKVwKBgExMXu1bamVyr/NP1BsKQHwIhsigQb8VIfMhmfL1V8ePKuManXn+QMjt1UwAdUyWKiXrTKzejEBzWEatv0fr",
    "UT+Hmh8/dzlk8u68jF+c+hoMaaxIN3+2EyDs0lFfrrJXkzmhGc+/n5CYjeIG8KOjfEj845VoLcrnQSldOeyNbJDd",
);

/// The key as GitHub gives it.
pub(crate) fn private_key() -> String {
    let kind = "RSA PRIVATE KEY";
    let lines: Vec<_> = KEY.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}

/// The App as the forge knows it.
pub(super) fn app() -> github_emulator::App {
    let key = github_emulator::AppKey::from_pem(&private_key()).unwrap();
    let role = github_emulator::Role::Write;
    github_emulator::App { id: APP, slug: "hob".to_owned(), key, installation: INSTALLATION, role }
}

impl World {
    /// A connection that signs in as the App; its installation is that of `found_by`, otherwise the only one.
    pub(crate) fn as_app(&self, found_by: Option<RepoName>) -> Arc<Connection> {
        let key = AppKey::from_pem(&private_key().into()).unwrap();
        let identity = Authentication::App(Box::new(App::new(APP, key, None, found_by)));
        self.connected(identity, &self.settings)
    }

    /// A client of the live check that signs in as the App, without sockets.
    pub(crate) fn live_app(&self) -> Forge {
        let key = AppKey::from_pem(&private_key().into()).unwrap();
        let identity = Authentication::App(Box::new(App::new(APP, key, None, Some(repo()))));
        client_as(self.forge.router(), None, identity, &self.settings, Access::LiveCheck)
    }

    /// A client of the live check with this token, without sockets and past this turnstile.
    pub(crate) fn live_with(&self, token: &str, turnstile: Option<Arc<Turnstile>>) -> Forge {
        let identity = Authentication::Token(token.to_owned().into());
        client_as(self.forge.router(), turnstile, identity, &self.settings, Access::LiveCheck)
    }

    /// A connection with the bot's token.
    pub(crate) fn as_bot(&self, settings: &Settings) -> Arc<Connection> {
        self.connected(Authentication::Token("token-of-hob".into()), settings)
    }

    fn connected(&self, identity: Authentication, settings: &Settings) -> Arc<Connection> {
        if let Line::Inside(turnstile) = &self.line {
            let turnstile = Some(Arc::clone(turnstile));
            return inside::connection(self.forge.router(), turnstile, identity, settings, Access::ReadWrite);
        }
        Connection::new(&self.forge.api_url(), identity, &settings.forge, Access::ReadWrite, KnownSecrets::default())
            .unwrap()
    }

    /// The workers of several repositories on one connection.
    pub(crate) fn pool(
        &self,
        connection: &Arc<Connection>,
        repositories: Repositories,
        settings: &Settings,
    ) -> WorkerPool {
        let cancel = CancellationToken::new();
        self.pool_until(connection, repositories, settings, (cancel, None))
    }

    /// A worker that only looks at a repository, on this connection.
    pub(crate) async fn onlooker(&self, connection: &Arc<Connection>, repo: RepoName) -> Worker {
        let made = Forge::new(Arc::clone(connection), repo);
        let parts = self.parts("onlooker", self.settings.clone(), made, CancellationToken::new());
        Worker::new(parts).await.unwrap()
    }

    /// A pool that this page is told of, which ends when `cancel` is cancelled.
    pub(crate) fn pool_seen(
        &self,
        connection: &Arc<Connection>,
        repositories: Repositories,
        cancel: CancellationToken,
        known: &Arc<hob_web::Known>,
    ) -> WorkerPool {
        let made = Forge::new(Arc::clone(connection), repo());
        let (parts, seen) = (self.parts("pool", self.settings.clone(), made, cancel), Arc::clone(known));
        let events: EventSink = Arc::new(move |repo, event| {
            seen.event(repo, event, &serde_json::to_value(event).unwrap());
        });
        let watcher = Some(Arc::clone(known) as Arc<dyn Watcher>);
        self.pool_of(connection, repositories, WorkerParts { events, watcher, ..parts })
    }

    /// A pool with a sink for its events, which ends when `cancel` is cancelled.
    pub(crate) fn pool_until(
        &self,
        connection: &Arc<Connection>,
        repositories: Repositories,
        settings: &Settings,
        (cancel, events): (CancellationToken, Option<EventSink>),
    ) -> WorkerPool {
        let made = Forge::new(Arc::clone(connection), repo());
        let parts = self.parts("pool", settings.clone(), made, cancel.clone());
        let parts = WorkerParts { events: events.unwrap_or_else(|| Arc::clone(&parts.events)), ..parts };
        self.pool_of(connection, repositories, parts)
    }

    fn pool_of(&self, connection: &Arc<Connection>, repositories: Repositories, parts: WorkerParts) -> WorkerPool {
        let (settings, cancel) = (parts.settings.clone(), parts.cancel.clone());
        let shared = Arc::clone(connection);
        let factory = Arc::new(move |repo: RepoName| WorkerParts {
            forge: Forge::new(Arc::clone(&shared), repo),
            ..parts.clone()
        });
        WorkerPool::new(Arc::clone(connection), settings, cancel, repositories, factory)
    }

    /// The number of tokens that the App was given so far.
    pub(crate) fn tokens_made(&self) -> usize {
        let requests = self.forge.requests();
        requests.iter().filter(|request| request.path.ends_with("/access_tokens") && request.status == 201).count()
    }
}
