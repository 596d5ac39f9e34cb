//! The approval prompt on the terminal: one question at a time, which shows the whole action. End of input, an unclear
//! answer and a timeout refuse.

use std::{
    collections::BTreeSet,
    io::{IsTerminal, Write},
    time::Duration,
};

use hob_agent::{Approval, Proposal, Verdict};
use hob_domain::{ActionMark, IssueNumber, Proposed, RepoName};
use hob_text::terminal;
use tokio::sync::mpsc;

use crate::cli::{
    output::{self, BOLD, DIM, WARN, styled},
    screen::Screen,
};

/// Bytes of one line of an answer.
const LINE_MAX: u64 = 4 * 1024;
/// Unclear answers before the action is refused.
const TRIES: usize = 3;
/// The question.
const PROMPT: &str = "Allow? [y]es / [a]lways in this run / [n]o (optional reason): ";

/// Whether every action that is not denied is approved without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AutoApprove {
    Yes,
    No,
}

impl From<bool> for AutoApprove {
    fn from(flag: bool) -> Self {
        if flag { Self::Yes } else { Self::No }
    }
}

/// The way in which this process approves actions: without asking, on the terminal, or not at all.
pub(super) fn approval(auto: AutoApprove, time: Duration, screen: &Screen) -> Approval {
    if auto == AutoApprove::Yes {
        return Approval::Given;
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && is_in_front()) {
        return Approval::Nobody;
    }
    let (sender, proposals) = mpsc::channel(1);
    let person = Person::new(Box::new(read_line), forget_typed, anstream::stderr(), time);
    tokio::spawn(person.answer_all(proposals, screen.clone()));
    Approval::Asked(sender)
}

/// Whether this process is in the terminal's foreground: the system stops a background process that reads from it.
fn is_in_front() -> bool {
    rustix::termios::tcgetpgrp(std::io::stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// A line from the terminal; none at the end of the input.
fn read_line() -> Option<String> {
    use std::io::{BufRead, Read};
    if !is_in_front() {
        return None;
    }
    let mut line = String::new();
    match std::io::stdin().lock().take(LINE_MAX).read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line),
    }
}

/// Discards what was typed before the question was shown.
fn forget_typed() {
    // If this fails, lines that were already read are still discarded.
    rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
}

/// Reads one line, however long that takes; none at the end of the input.
type ReadLine = Box<dyn FnMut() -> Option<String> + Send>;

/// The person at the terminal.
struct Person<W> {
    /// Moves to the reading thread, which starts with the first question.
    read: Option<ReadLine>,
    keyboard: Option<Keyboard>,
    forget: fn(),
    out: W,
    time: Duration,
    /// Actions that were approved for the whole run.
    always: BTreeSet<(RepoName, IssueNumber, ActionMark)>,
}

/// The thread that reads the terminal. It reads only while a line is wanted, because a process that moved to the
/// background after a question must not be reading.
struct Keyboard {
    want: std::sync::mpsc::Sender<()>,
    typed: mpsc::Receiver<String>,
    /// Whether a line was requested and has not arrived.
    reading: bool,
}

/// A parsed answer.
#[derive(Debug, PartialEq, Eq)]
enum Response {
    Once,
    Always,
    No(String),
    Unclear,
}

impl<W: Write + Send> Person<W> {
    fn new(read: ReadLine, forget: fn(), out: W, time: Duration) -> Self {
        Self { read: Some(read), keyboard: None, forget, out, time, always: BTreeSet::new() }
    }

    /// Answers proposals, one after the other, until all senders are gone.
    async fn answer_all(mut self, mut proposals: mpsc::Receiver<Proposal>, screen: Screen) {
        while let Some(Proposal { repo, issue, action, mut answer }) = proposals.recv().await {
            let key = (repo, issue, action.mark());
            if answer.is_closed() {
                continue;
            }
            if self.always.contains(&key) {
                answer.send(Verdict::Approved).ok();
                continue;
            }
            let asking = screen.ask();
            let said = tokio::select! {
                said = self.ask(&key.0, issue, &action) => said,
                () = answer.closed() => {
                    self.write("\n(no longer needed: the run has ended)\n");
                    continue;
                }
            };
            drop(asking);
            let verdict = match said {
                Response::Always => {
                    self.always.insert(key);
                    Verdict::Approved
                }
                Response::Once => Verdict::Approved,
                Response::No(why) => Verdict::Refused(why),
                Response::Unclear => Verdict::Refused("the answer was not understood".to_owned()),
            };
            // The run may have ended at this moment.
            answer.send(verdict).ok();
        }
    }

    async fn ask(&mut self, repo: &RepoName, issue: IssueNumber, action: &Proposed) -> Response {
        self.begin();
        let line = terminal(&action.line).replace('\n', " ");
        self.write(&format!("\n{} {}", styled(BOLD, &format!("{repo}#{issue}")), styled(WARN, &line)));
        self.write(&format!(" {}\n", styled(DIM, &format!("(impact {})", action.impact))));
        if !action.fits_its_line() {
            self.write(&action.shown());
        }
        for _try in 0..TRIES {
            self.write(PROMPT);
            let Some(keyboard) = self.keyboard.as_mut() else {
                return Response::No("the terminal cannot be read".to_owned());
            };
            let said = match tokio::time::timeout(self.time, keyboard.line()).await {
                Ok(Some(line)) => parse_response(&line),
                Ok(None) => {
                    self.write("\n(end of input: refused)\n");
                    Response::No("the input has ended".to_owned())
                }
                Err(_elapsed) => {
                    self.write("\n(timed out: refused)\n");
                    Response::No("the approval timed out".to_owned())
                }
            };
            if said != Response::Unclear {
                return said;
            }
        }
        Response::Unclear
    }

    /// Discards what was typed before the question, and starts the reading thread with the first one.
    fn begin(&mut self) {
        (self.forget)();
        if let Some(keyboard) = self.keyboard.as_mut() {
            keyboard.forget();
        }
        if let Some(read) = self.read.take() {
            match Keyboard::start(read) {
                Ok(keyboard) => self.keyboard = Some(keyboard),
                Err(error) => tracing::warn!(%error, "the terminal cannot be read: {error}"),
            }
        }
    }

    fn write(&mut self, text: &str) {
        // A terminal that is gone gives no answer, which refuses.
        let text = output::redacted(text);
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).ok();
    }
}

impl Keyboard {
    fn start(mut read: ReadLine) -> std::io::Result<Self> {
        let (want, wanted) = std::sync::mpsc::channel();
        let (sender, typed) = mpsc::channel(1);
        // A blocking read cannot be cancelled, so a separate thread waits for it until the process ends.
        let reads = move || {
            while wanted.recv().is_ok() {
                let Some(line) = read() else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("terminal".to_owned()).spawn(reads)?;
        Ok(Self { want, typed, reading: false })
    }

    /// The next line; none at the end of the input.
    async fn line(&mut self) -> Option<String> {
        if !self.reading {
            self.reading = self.want.send(()).is_ok();
        }
        let line = self.typed.recv().await;
        self.reading = false;
        line
    }

    /// Discards a line that arrived too late for its question.
    fn forget(&mut self) {
        if self.typed.try_recv().is_ok() {
            self.reading = false;
        }
    }
}

fn parse_response(line: &str) -> Response {
    let line = line.trim();
    let (word, rest) = line.split_once(|c: char| c.is_whitespace() || matches!(c, ',' | ':')).unwrap_or((line, ""));
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" if rest.is_empty() => Response::Once,
        "a" | "always" if rest.is_empty() => Response::Always,
        "n" | "no" if rest.trim().is_empty() => Response::No("a person refused it".to_owned()),
        "n" | "no" => Response::No(rest.trim().to_owned()),
        _other => Response::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as std_mpsc;

    use hob_domain::Impact;
    use tokio::sync::{mpsc::UnboundedReceiver, oneshot};

    use super::*;

    /// A screen that tells what is written on it.
    struct Paper(mpsc::UnboundedSender<String>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.send(String::from_utf8_lossy(bytes).into_owned()).ok();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A person with a keyboard, and what they see.
    struct Desk {
        keys: Option<std_mpsc::Sender<String>>,
        sees: UnboundedReceiver<String>,
        proposals: mpsc::Sender<Proposal>,
        seen: String,
    }

    impl Desk {
        fn new(time: Duration) -> Self {
            let (keys, typed) = std_mpsc::channel::<String>();
            let (paper, sees) = mpsc::unbounded_channel();
            let (proposals, proposed) = mpsc::channel(1);
            let person = Person::new(Box::new(move || typed.recv().ok()), || {}, Paper(paper), time);
            tokio::spawn(person.answer_all(proposed, Screen::default()));
            Self { keys: Some(keys), sees, proposals, seen: String::new() }
        }

        async fn proposes(&self, text: &str) -> oneshot::Receiver<Verdict> {
            let (answer, verdict) = oneshot::channel();
            let line = format!("shell {}", text.lines().next().unwrap());
            let action = Proposed { tool: "shell".into(), line, text: text.to_owned(), impact: Impact::High };
            let (repo, issue) = ("acme/site".parse().unwrap(), IssueNumber(7));
            self.proposals.send(Proposal { repo, issue, action, answer }).await.unwrap();
            verdict
        }

        /// Waits until the question is on the screen.
        async fn asked(&mut self) {
            self.sees("Allow? [y]es").await;
        }

        async fn sees(&mut self, text: &str) {
            self.seen.clear();
            while !self.seen.contains(text) {
                self.seen.push_str(&self.sees.recv().await.unwrap());
            }
        }

        fn types(&self, line: &str) {
            self.keys.as_ref().unwrap().send(format!("{line}\n")).unwrap();
        }
    }

    fn refused(why: &str) -> Verdict {
        Verdict::Refused(why.to_owned())
    }

    #[test]
    fn an_answer_is_yes_always_or_no_with_a_reason() {
        for (line, said) in [
            ("y\n", Response::Once),
            (" YES ", Response::Once),
            ("a", Response::Always),
            ("n", Response::No("a person refused it".into())),
            ("no, use git rm", Response::No("use git rm".into())),
            ("n it is still used\n", Response::No("it is still used".into())),
            ("", Response::Unclear),
            ("yes but", Response::Unclear),
            ("nope", Response::Unclear),
        ] {
            assert_eq!(parse_response(line), said, "{line:?}");
        }
    }

    #[tokio::test]
    async fn each_question_shows_the_whole_action_and_gets_its_answer() {
        let mut desk = Desk::new(Duration::from_secs(600));
        let verdict = desk.proposes("rm x").await;
        desk.asked().await;
        assert!(desk.seen.contains("acme/site#7") && desk.seen.contains("shell rm x"), "{}", desk.seen);
        assert!(desk.seen.contains("(impact high)"), "{}", desk.seen);
        desk.types("y");
        assert_eq!(verdict.await.unwrap(), Verdict::Approved);
        let verdict = desk.proposes("rm x\n\u{1b}[2Krm -rf y").await;
        desk.asked().await;
        assert!(desk.seen.contains("| rm x\n| \\u{1b}[2Krm -rf y\n"), "{}", desk.seen);
        desk.types("n not the second one");
        assert_eq!(verdict.await.unwrap(), refused("not the second one"));
    }

    #[tokio::test]
    async fn always_is_for_the_same_action_alone() {
        let mut desk = Desk::new(Duration::from_secs(600));
        let verdict = desk.proposes("rm x").await;
        desk.asked().await;
        desk.types("a");
        assert_eq!(verdict.await.unwrap(), Verdict::Approved);
        assert_eq!(desk.proposes("rm x").await.await.unwrap(), Verdict::Approved);
        let verdict = desk.proposes("rm y").await;
        desk.asked().await;
        desk.types("n");
        assert_eq!(verdict.await.unwrap(), refused("a person refused it"));
    }

    #[tokio::test]
    async fn what_is_not_understood_is_asked_again_and_then_refused() {
        let mut desk = Desk::new(Duration::from_secs(600));
        let verdict = desk.proposes("rm x").await;
        for _try in 0..TRIES {
            desk.asked().await;
            desk.types("perhaps");
        }
        assert_eq!(verdict.await.unwrap(), refused("the answer was not understood"));
    }

    #[tokio::test]
    async fn the_end_of_the_input_refuses_now_and_later() {
        let mut desk = Desk::new(Duration::from_secs(600));
        let verdict = desk.proposes("rm x").await;
        desk.asked().await;
        desk.keys = None;
        assert_eq!(verdict.await.unwrap(), refused("the input has ended"));
        assert_eq!(desk.proposes("rm x").await.await.unwrap(), refused("the input has ended"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_that_is_over_refuses() {
        let mut desk = Desk::new(Duration::from_secs(600));
        let verdict = desk.proposes("rm x").await;
        desk.asked().await;
        assert_eq!(verdict.await.unwrap(), refused("the approval timed out"));
    }

    #[tokio::test]
    async fn what_came_too_late_for_a_question_answers_no_other() {
        let (keys, typed) = std_mpsc::channel::<String>();
        let mut keyboard = Keyboard::start(Box::new(move || typed.recv().ok())).unwrap();
        assert!(tokio::time::timeout(Duration::ZERO, keyboard.line()).await.is_err());
        keys.send("y\n".to_owned()).unwrap();
        while keyboard.typed.is_empty() {
            tokio::task::yield_now().await;
        }
        keyboard.forget();
        keys.send("n\n".to_owned()).unwrap();
        assert_eq!(keyboard.line().await.as_deref(), Some("n\n"));
    }

    #[tokio::test]
    async fn a_run_that_ended_frees_the_screen_for_the_next_question() {
        let mut desk = Desk::new(Duration::from_secs(600));
        drop(desk.proposes("rm x").await);
        let verdict = desk.proposes("rm y").await;
        desk.sees("shell rm y").await;
        desk.asked().await;
        desk.types("y");
        assert_eq!(verdict.await.unwrap(), Verdict::Approved);
    }
}
