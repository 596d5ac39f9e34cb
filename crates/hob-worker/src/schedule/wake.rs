//! News that come by themselves, such as a webhook's: their repository is polled at once. Polls by the clock go on, for what no news
//! tell, or what gets lost.

use std::time::Duration;

use hob_domain::{Login, RepoName};
use tokio::sync::mpsc;

/// The least time between the beginnings of two polls of a repository that has news again and again.
pub(super) const APART: Duration = Duration::from_millis(500);
/// News that wait for the scheduler at most.
const WAITING_MAX: usize = 1_000;

/// News of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The repository.
    pub repo: RepoName,
    /// Whose deed they tell, if that is known.
    pub sender: Option<Login>,
}

/// Takes news to a run; they are dropped while too many wait.
pub type NewsSender = mpsc::Sender<News>;
/// The news that a run gets.
pub type NewsReceiver = mpsc::Receiver<News>;

/// A way for news into a run.
pub fn news_channel() -> (NewsSender, NewsReceiver) {
    mpsc::channel(WAITING_MAX)
}

/// The next news; never, where none can come.
pub(super) async fn next_news(receiver: &mut Option<NewsReceiver>) -> News {
    if let Some(open) = receiver
        && let Some(news) = open.recv().await
    {
        return news;
    }
    *receiver = None;
    std::future::pending().await
}
