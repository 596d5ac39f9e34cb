//! `hob status --watch`: on a terminal it draws again and again until it is stopped, and costs no quota while nothing changes.

use std::{
    fs::File,
    io::Read as _,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::Duration,
};

use rustix::{
    process::Signal,
    pty::{OpenptFlags, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::harness::World;

/// Where each frame begins.
const TOP: &str = "\u{1b}[H";
/// No look takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is drawn on a terminal.
struct Drawn {
    told: Receiver<Vec<u8>>,
    text: String,
}

impl Drawn {
    /// A terminal of 100 columns and 10 rows, and its name.
    fn new() -> (Self, String) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 10, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let (tells, told) = channel();
        std::thread::spawn(move || {
            let (mut terminal, mut part) = (File::from(terminal), [0; 4_096]);
            // It ends when nobody has the other side any more.
            while let Ok(read @ 1..) = terminal.read(&mut part) {
                if tells.send(part[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        (Self { told, text: String::new() }, name)
    }

    /// Waits until this many frames have begun.
    fn frames(&mut self, number: usize) {
        while self.text.matches(TOP).count() < number {
            let part = self.told.recv_timeout(PATIENCE).unwrap();
            self.text.push_str(&String::from_utf8_lossy(&part));
        }
    }

    /// Everything that was drawn, once the program has ended.
    fn all(mut self) -> String {
        loop {
            match self.told.recv_timeout(PATIENCE) {
                Ok(part) => self.text.push_str(&String::from_utf8_lossy(&part)),
                Err(RecvTimeoutError::Disconnected) => return self.text,
                Err(RecvTimeoutError::Timeout) => panic!("the terminal is still open: {}", self.text),
            }
        }
    }
}

/// The bot's requests to the API so far: how many, and those that counted against the rate limit.
fn requests(world: &World) -> (usize, Vec<String>) {
    let sent = world.forge.requests();
    let of_bot = sent.iter().filter(|sent| sent.login.as_ref().is_some_and(|login| login.as_str().starts_with("hob")));
    let counted = of_bot.clone().filter(|sent| sent.counted).map(|sent| format!("{} {}", sent.method, sent.path));
    (of_bot.count(), counted.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_each_issue_in_a_line_and_a_look_at_what_has_not_changed_is_free() {
    let world = World::fixing().set("poll.interval", "100ms").start().await;
    let issue = world.asks("Make done.txt \u{1b}]0;owned", "Please.").await;
    world.run().await;
    world.opens("ann", "A second one", "Please.", &["code"]).await;
    let (mut drawn, terminal) = Drawn::new();
    let program = world.starts_hob_to(&terminal, &["status", "--watch"]).await;
    let (first, counted) = tokio::task::block_in_place(|| {
        // The second look asks for the first time what the first one found to be asked.
        drawn.frames(2);
        let first = requests(&world);
        drawn.frames(4);
        first
    });
    let (all, later) = requests(&world);
    assert_eq!(later[counted.len()..], [""; 0], "each of them has not changed");
    assert!(all > first, "it looked: {all}");
    assert_eq!(program.ends_by(Signal::INT).await.code, 0);
    let text = tokio::task::block_in_place(move || drawn.all());
    assert!(text.starts_with("\u{1b}[?1049h") && text.trim_end().ends_with("\u{1b}[?1049l"), "{text:?}");
    let frame = text.split(TOP).nth(1).unwrap();
    assert!(
        frame.contains("acme/site") && frame.contains(&format!("#{issue} ")) && frame.contains("A second one"),
        "{frame}"
    );
    assert!(frame.contains("rate limit `core`") && frame.contains("today: "), "{frame}");
    assert!(!text.contains("\u{1b}]0;"), "no title of an issue reaches the terminal as it is");
    assert!(frame.lines().count() <= 10, "{frame}");
    world.leave();
}

#[tokio::test]
async fn without_a_terminal_it_says_so_and_asks_nothing() {
    let world = World::fixing().start().await;
    let before = requests(&world).0;
    let ended = world.hob(&["status", "--watch"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.starts_with("hob: `--watch` needs a terminal"), "{ended:?}");
    assert_eq!(world.hob(&["status", "--watch", "--json"]).await.code, 2);
    assert_eq!(requests(&world).0, before);
    world.finish().await;
}
