//! From a host's name to a connection: checks that it is listed, resolves it once, checks every address, and connects
//! to one.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use crate::{
    address::{Reach, reach},
    host::{Host, InvalidHost},
    resolve::Resolver,
};

/// The most addresses of one name that are tried.
const TRIES: usize = 4;

/// The hosts that may be reached.
#[derive(Debug)]
pub(crate) struct Gate {
    public: BTreeSet<Host>,
    private: BTreeSet<Host>,
    resolver: Resolver,
    patience: Duration,
}

/// Why a host was not connected to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{0}")]
    Name(#[from] InvalidHost),
    #[error("this host and port are not on the list")]
    NotListed,
    #[error(
        "it resolves to {0}, which is a private address: if it is meant, the operator lists the host as `private:HOST`"
    )]
    Private(IpAddr),
    #[error("it resolves to {0}, which is not a public address")]
    Address(IpAddr),
    #[error("its name has no address")]
    NoAddress,
    #[error("its name could not be resolved: {0}")]
    Resolve(io::Error),
    #[error("it could not be reached: {0}")]
    Connect(io::Error),
    #[error("it did not answer in time")]
    Silent,
}

impl Refusal {
    /// Whether the rules refused it, not the network.
    pub(crate) fn is_denial(&self) -> bool {
        match self {
            Self::Name(_) | Self::NotListed | Self::Private(_) | Self::Address(_) => true,
            Self::NoAddress | Self::Resolve(_) | Self::Connect(_) | Self::Silent => false,
        }
    }
}

impl Gate {
    /// A gate to `public` hosts, and to `private` ones, which may also be on this machine or its network. A step of a
    /// connection may take as long as `patience`.
    pub(crate) fn new(public: Vec<Host>, private: Vec<Host>, resolver: Resolver, patience: Duration) -> Self {
        let (public, private) = (public.into_iter().collect(), private.into_iter().collect());
        Self { public, private, resolver, patience }
    }

    /// Connects to `host`. One bad address refuses the whole name: a server that mixes them is trying to steer the
    /// choice.
    pub(crate) async fn connect(&self, host: &Host) -> Result<TcpStream, Refusal> {
        let may_be_private = self.private.contains(host);
        if !may_be_private && !self.public.contains(host) {
            return Err(Refusal::NotListed);
        }
        let addresses = match host.literal() {
            Some(ip) => vec![ip],
            None => {
                let lookup = timeout(self.patience, self.resolver.lookup(host.name()));
                lookup.await.map_err(|_| Refusal::Silent)?.map_err(Refusal::Resolve)?
            }
        };
        for ip in &addresses {
            match reach(*ip) {
                Reach::Private if !may_be_private => return Err(Refusal::Private(*ip)),
                Reach::Never => return Err(Refusal::Address(*ip)),
                Reach::Public | Reach::Private => {}
            }
        }
        let mut failure = Refusal::NoAddress;
        for ip in addresses.into_iter().take(TRIES) {
            match timeout(self.patience, TcpStream::connect(SocketAddr::new(ip, host.port()))).await {
                Ok(Ok(stream)) => {
                    // Without it small requests wait for each other; a socket without the option works too.
                    stream.set_nodelay(true).ok();
                    return Ok(stream);
                }
                Ok(Err(error)) => failure = Refusal::Connect(error),
                Err(_) => failure = Refusal::Silent,
            }
        }
        Err(failure)
    }
}
