//! Names to addresses, by the system or by a function of the caller's.

use std::{fmt, io, net::IpAddr, sync::Arc};

use futures_util::future::BoxFuture;

type Lookup = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

/// Reviews a name up.
#[derive(Clone)]
pub struct Resolver(Arc<Lookup>);

impl Resolver {
    /// Asks the system, as other programs on this machine do.
    pub fn system() -> Self {
        Self::new(|name| {
            Box::pin(async move {
                let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
                Ok(found.map(|address| address.ip()).collect())
            })
        })
    }

    /// Asks `lookup`, which gets a name in lower case without a final dot.
    pub fn new<F>(lookup: F) -> Self
    where
        F: Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    {
        Self(Arc::new(lookup))
    }

    /// The addresses of `name`.
    pub(crate) async fn lookup(&self, name: String) -> io::Result<Vec<IpAddr>> {
        (self.0)(name).await
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}
