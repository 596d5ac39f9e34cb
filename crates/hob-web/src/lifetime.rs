//! How long a connection may take, which depends on what is asked over it.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// The end of a connection's time. Its clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Lifetime(Arc<watch::Sender<Instant>>);

impl Lifetime {
    /// One that lasts this long from now on.
    pub(crate) fn new(time: Duration) -> Self {
        Self(Arc::new(watch::Sender::new(Instant::now() + time)))
    }

    /// Lets it last this long from now on.
    pub(crate) fn lasts(&self, time: Duration) {
        self.0.send_replace(Instant::now() + time);
    }

    /// Drops the work when its time is over.
    pub(crate) async fn bounds(&self, work: impl Future<Output = ()>) {
        let (mut ends, mut work) = (self.0.subscribe(), pin!(work));
        loop {
            let end = *ends.borrow_and_update();
            tokio::select! {
                () = &mut work => return,
                () = sleep_until(end) => return,
                Ok(()) = ends.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_is_dropped_when_its_time_is_over_which_may_be_later_than_at_first() {
        let began = Instant::now();
        let lifetime = Lifetime::new(Duration::from_secs(30));
        lifetime.bounds(pending()).await;
        assert_eq!(began.elapsed().as_secs(), 30);
        let (lifetime, began) = (Lifetime::new(Duration::from_secs(30)), Instant::now());
        let asks = lifetime.clone();
        let work = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            asks.lasts(Duration::from_secs(100));
            pending().await
        };
        lifetime.bounds(work).await;
        assert_eq!(began.elapsed().as_secs(), 120);
    }
}
