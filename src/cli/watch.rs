//! `hob status --watch`: the issues drawn in place on a terminal, one line each, with the day's spend and what is left of the quotas,
//! until Ctrl-C. What has not changed costs no quota: the client asks whether it has.

use std::io::{IsTerminal as _, Write as _};

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_words::age;
use hob_worker::{Explained, Preflight, Worker, WorkerPool};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    explain::next_step,
    issue_args::StatusArgs,
    layout::{Size, shortened, size_of},
    output::{self, BAD, BOLD, DIM, Unwritable, sentence, styled},
    setup::{Listen, Setup},
    status::{Seen, cost, look, state},
};

/// Shows the terminal's other screen without a cursor.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// Brings back what was there before.
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Puts the cursor to the top.
const TOP: &str = "\u{1b}[H";
/// Empties the rest of a line, and the rest of the screen.
const REST_OF_LINE: &str = "\u{1b}[K";
const REST: &str = "\u{1b}[J";
/// The columns before an issue's title.
const BEFORE_TITLE: usize = 42;

pub(super) async fn watch(setup: Setup, shared: Shared, args: StatusArgs) -> anyhow::Result<()> {
    if !std::io::stdout().is_terminal() {
        let why = "`--watch` needs a terminal as standard output\nhint: without it, `hob status` prints the same once";
        return Err(fatal(Exit::Usage, why));
    }
    let every = setup.settings.poll.interval;
    let pool = setup.pool(&shared, Access::ReadOnly, None, Preflight::BeforeWork, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let _other = OtherScreen::open()?;
    loop {
        let shown = tokio::select! {
            shown = shown(&pool, &workers, &args) => shown,
            () = either(&mut interrupt, &mut terminate) => return Ok(()),
        };
        draw(&shown)?;
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = either(&mut interrupt, &mut terminate) => return Ok(()),
        }
    }
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// The terminal's other screen, until this is dropped.
struct OtherScreen;

impl OtherScreen {
    fn open() -> Result<Self, Unwritable> {
        write_raw(OPEN)?;
        Ok(Self)
    }
}

impl Drop for OtherScreen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        write_raw(CLOSE).ok();
    }
}

/// Lines above the issues, the issues, and lines below them.
#[derive(Debug, Default)]
struct Screenful {
    head: Vec<String>,
    issues: Vec<String>,
    foot: Vec<String>,
}

async fn shown(pool: &WorkerPool, workers: &[Worker], args: &StatusArgs) -> Screenful {
    let mut all = Screenful::default();
    for worker in workers {
        let (repo, now) = (worker.forge().repo(), worker.forge().now());
        match look(worker, args).await {
            Ok(seen) => {
                let bill = seen.repository.as_ref().map(|record| record.day_bill(now));
                let bill = bill.map(|bill| format!(", today: {bill}")).unwrap_or_default();
                all.head.push(format!(
                    "{} {}{bill}",
                    styled(BOLD, &repo.to_string()),
                    count(seen.queue.len(), "issue")
                ));
                all.issues.extend(seen.queue.iter().map(|issue| line(&seen, issue)));
            }
            // The next look may succeed.
            Err(error) => {
                let why = terminal(&sentence(&anyhow::Error::from(error))).replace('\n', " ");
                all.foot.push(styled(BAD, &format!("{repo}: {why}")));
            }
        }
    }
    all.foot.extend(pool.rates().iter().map(|rate| styled(DIM, &output::rate(rate))));
    all.foot.extend(workers.first().map(|worker| {
        let at = worker.forge().now().format("%H:%M:%S UTC");
        styled(DIM, &format!("looked at {at}; Ctrl-C ends it"))
    }));
    all
}

/// An issue in one line: number, state, since when, cost, title, next step.
fn line(seen: &Seen, issue: &Explained) -> String {
    let record = seen.unfinished.iter().map(|(_, record)| record).find(|record| record.issue == issue.issue);
    let since = issue.since.map(|since| age(seen.now - since)).unwrap_or_default();
    let spent = record.and_then(|record| cost(record.spend)).unwrap_or_default();
    let IssueNumber(number) = issue.issue;
    let columns = format!("#{number:<7} {:<12} {since:>7} {spent:>11}", state(issue));
    let says = format!("{}: {}", issue.title, next_step(issue));
    format!("{columns:<BEFORE_TITLE$} {}", terminal(&says).replace('\n', " "))
}

impl Screenful {
    /// The lines that have room on a terminal of this size: all but the last issues.
    fn within(&self, Size { columns, rows }: Size) -> Vec<String> {
        let room = rows.saturating_sub(self.head.len() + self.foot.len() + 1);
        let is_cut = self.issues.len() > room;
        let kept = if is_cut { room.saturating_sub(1) } else { self.issues.len() };
        let more = is_cut.then(|| styled(DIM, &format!("and {} more", self.issues.len() - kept)));
        let issues = self.issues.iter().take(kept).map(|issue| shortened(issue, columns));
        self.head.iter().cloned().chain(issues).chain(more).chain(self.foot.iter().cloned()).take(rows).collect()
    }
}

fn draw(shown: &Screenful) -> Result<(), Unwritable> {
    let size = size_of(std::io::stdout()).filter(|size| size.rows > 0).unwrap_or(Size { columns: 80, rows: 24 });
    let is_plain = anstream::AutoStream::choice(&std::io::stdout()) == anstream::ColorChoice::Never;
    let mut frame = TOP.to_owned();
    for (at, line) in shown.within(size).iter().enumerate() {
        if at > 0 {
            frame.push_str("\r\n");
        }
        let line = output::redacted(line);
        frame.push_str(&if is_plain { anstream::adapter::strip_str(&line).to_string() } else { line });
        frame.push_str(REST_OF_LINE);
    }
    write_raw(&(frame + REST))
}

/// Not through the stream that drops styles: it would drop where they are drawn, too.
fn write_raw(text: &str) -> Result<(), Unwritable> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_counted() {
        let lines = |prefix: &str, number: usize| (1..=number).map(|n| format!("{prefix} {n}")).collect();
        let all = Screenful { head: lines("head", 1), issues: lines("issue", 9), foot: lines("foot", 2) };
        assert_eq!(all.within(Size { columns: 80, rows: 24 }).len(), 12);
        let few = all.within(Size { columns: 8, rows: 8 });
        assert_eq!(few[..4], ["head 1", "issue 1", "issue 2", "issue 3"]);
        assert!(few[4].contains("and 6 more") && few[5..] == ["foot 1", "foot 2"], "{few:?}");
        assert_eq!(all.within(Size { columns: 80, rows: 2 }).len(), 2);
    }
}
