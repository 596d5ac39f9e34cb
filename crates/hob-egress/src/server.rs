//! The server of one run: its address, its requests, its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use http::{Method, Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, UnixListener},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{sleep, timeout},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    forward::forward,
    gate::Gate,
    gatekeeper::Gatekeeper,
    host::Host,
    meter::{Budget, Meter},
    own::Asked,
    relay::Relay,
    report::{Log, OnLine},
    resolve::Resolver,
    route::Route,
    shared::{Body, EgressLimits, Shared},
    tunnel::connect,
};

/// Bytes of a request's head.
const HEAD_MAX: usize = 32 << 10;
/// The wait after the system had no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// The hosts and models that a run may reach. By default none.
#[derive(Debug, Default)]
pub struct EgressConfig {
    /// Hosts of the internet.
    pub hosts: Vec<Host>,
    /// Hosts that may also be on this machine or its network; only the owner of the settings may name them.
    pub private_hosts: Vec<Host>,
    /// AnswerOptions to model services.
    pub routes: Vec<Route>,
    /// The prices of models and the limit on their cost; `None` means no limit, and no price is needed.
    pub budget: Option<Budget>,
    /// What passes to models' services beside the tables, by its name.
    pub allow: BTreeSet<String>,
    /// Limits of the run.
    pub limits: EgressLimits,
    /// The resolver of host names.
    pub resolver: Resolver,
    /// Gets one line a connection.
    pub on_line: Option<OnLine>,
    /// Gets the messages that Hob answers itself; `None` if it answers none.
    pub asked: Option<mpsc::Sender<Asked>>,
}

/// The address to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A port of 127.0.0.1 that the system chooses.
    Loopback,
    /// A Unix socket at this path, which must be free, in a folder that others cannot enter. It is removed at the end.
    Unix(PathBuf),
}

/// The address of a running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of 127.0.0.1.
    Loopback(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// The server of one run. Dropping it ends it as well, without waiting.
#[derive(Debug)]
pub struct Egress {
    address: Address,
    server: Arc<Server>,
    meter: Meter,
    _ends: DropGuard,
}

#[derive(Debug)]
struct Server {
    shared: Arc<Shared>,
    relay: Relay,
    room: Arc<Semaphore>,
}

enum Listener {
    Tcp(TcpListener),
    Unix { listener: UnixListener, _file: RemovedAtEnd },
}

/// A socket's file.
struct RemovedAtEnd(PathBuf);

impl Drop for RemovedAtEnd {
    fn drop(&mut self) {
        // Its folder may be gone already.
        std::fs::remove_file(&self.0).ok();
    }
}

impl Egress {
    /// Starts a server that ends with `cancel`.
    pub async fn start(config: EgressConfig, listen: Listen, cancel: CancellationToken) -> io::Result<Self> {
        let EgressConfig { hosts, private_hosts, routes, budget, allow, limits, resolver, on_line, asked } = config;
        let cancel = cancel.child_token();
        let meter = Meter::new(budget.unwrap_or_else(|| Budget::new(None, |_| None)));
        let nonce = format!("{:032x}", rand::random::<u128>());
        let relay = Relay::new(nonce, routes, asked, Gatekeeper::new(allow), meter.clone(), &limits)?;
        let (listener, address) = match listen {
            Listen::Loopback => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
                let address = Address::Loopback(listener.local_addr()?);
                (Listener::Tcp(listener), address)
            }
            Listen::Unix(path) => {
                let listener = UnixListener::bind(&path)?;
                (Listener::Unix { listener, _file: RemovedAtEnd(path.clone()) }, Address::Unix(path))
            }
        };
        let room = Arc::new(Semaphore::new(limits.connections));
        let shared = Arc::new(Shared {
            gate: Gate::new(hosts, private_hosts, resolver, limits.setup),
            limits,
            log: Arc::new(Log::new(on_line)),
            tasks: TaskTracker::new(),
            cancel: cancel.clone(),
            sent: 0.into(),
            received: 0.into(),
        });
        let server = Arc::new(Server { shared, relay, room });
        server.shared.tasks.spawn(listen_on(listener, Arc::clone(&server)));
        Ok(Self { address, server, meter, _ends: cancel.drop_guard() })
    }

    /// Its address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The proxy's address for `HTTPS_PROXY` and `HTTP_PROXY`; `None` on a Unix socket, whose address depends on its
    /// bridge.
    pub fn proxy_url(&self) -> Option<String> {
        match self.address {
            Address::Loopback(address) => Some(format!("http://{address}")),
            Address::Unix(_) => None,
        }
    }

    /// The path of a model route, with its nonce: what follows the address of a bridge.
    pub fn route_path(&self, name: &str) -> Option<String> {
        self.server.relay.path(name)
    }

    /// The path of the requests that Hob answers itself; `None` if it answers none.
    pub fn own_path(&self) -> Option<String> {
        self.server.relay.own_path()
    }

    /// The base address of a model route for the agent; `None` if no route has the name, or on a Unix socket.
    pub fn route_url(&self, name: &str) -> Option<String> {
        Some(format!("{}{}", self.proxy_url()?, self.route_path(name)?))
    }

    /// The run's usage of its models.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The hosts that were refused, 100 of them at most, each with the first reason.
    pub fn denied(&self) -> BTreeMap<String, String> {
        self.server.shared.log.denied()
    }

    /// A token that is cancelled when the server stops listening, also by a failure. The caller then ends the run.
    pub fn ended(&self) -> CancellationToken {
        self.server.shared.cancel.clone()
    }

    /// Ends every connection, and returns when nothing listens any more.
    pub async fn end(self) {
        let tasks = self.server.shared.tasks.clone();
        self.server.shared.cancel.cancel();
        tasks.close();
        tasks.wait().await;
    }
}

/// Accepts connections until the run ends. However this ends, the run's connections end too.
async fn listen_on(listener: Listener, server: Arc<Server>) {
    let cancel = server.shared.cancel.clone();
    let _ends = cancel.clone().drop_guard();
    loop {
        let accepted = async {
            match &listener {
                Listener::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                    // A socket without the option works too.
                    stream.set_nodelay(true).ok();
                    serve(Arc::clone(&server), stream);
                }),
                Listener::Unix { listener, _file } => {
                    listener.accept().await.map(|(stream, _)| serve(Arc::clone(&server), stream))
                }
            }
        };
        let accepted = tokio::select! {
            () = cancel.cancelled() => return,
            accepted = accepted => accepted,
        };
        if let Err(error) = accepted {
            tracing::warn!(error = %error, "a connection of the agent could not be accepted: {error}");
            sleep(NO_ROOM).await;
        }
    }
}

/// Serves one connection as a task.
fn serve<S>(server: Arc<Server>, mut stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (cancel, tasks) = (server.shared.cancel.clone(), server.shared.tasks.clone());
    let setup = server.shared.limits.setup;
    let Ok(permit) = Arc::clone(&server.room).try_acquire_owned() else {
        tracing::warn!("the agent has too many connections at once, one more was refused");
        // Short enough for any socket's buffer, so it does not block; a client that is gone misses nothing.
        let answer = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        tasks.spawn(async move { timeout(setup, stream.write_all(answer)).await.is_ok() });
        return;
    };
    let permit = Arc::new(permit);
    tasks.spawn(async move {
        let service = service_fn(|request| {
            let (server, permit) = (Arc::clone(&server), Arc::clone(&permit));
            async move { Ok::<_, Infallible>(answer(&server, request, permit).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(setup)
            .max_buf_size(HEAD_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::select! {
            () = cancel.cancelled() => {}
            served = connection => if let Err(error) = served {
                tracing::debug!(error = %error, "a connection of the agent ended: {error}");
            }
        }
    });
}

async fn answer(server: &Server, request: Request<Incoming>, permit: Arc<OwnedSemaphorePermit>) -> Response<Body> {
    let shared = Arc::clone(&server.shared);
    if request.method() == Method::CONNECT {
        connect(shared, request, permit).await
    } else if request.uri().scheme().is_some() {
        forward(shared, request).await
    } else {
        server.relay.answer(&shared, request).await
    }
}
