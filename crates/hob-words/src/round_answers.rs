//! Hob's answers at the end of a round in review: one in the conversation, and one in each thread that the agent spoke to.

use hob_domain::{ChangeText, EventAnswer, ReviewEvent, Sha, is_declined};
use hob_text::markup::code_span;

use crate::{ReviewBrief, ThreadBrief, review_text::answer_body};

/// Threads without an answer that are listed.
const PLACES_SHOWN: usize = 5;

/// The answers to post. `change` is what the agent said that is new, `commit` what it made; `None` if no file changed.
///
/// A thread gets only what was said about it. What else was said goes to the conversation, where somebody wrote there or a
/// thread has no answer; a single thread that is all that was said takes it itself. What comes first is `first`.
pub fn round_answers(brief: &ReviewBrief, change: &ChangeText, commit: Option<&Sha>, first: &str) -> Vec<EventAnswer> {
    let mut answers = Vec::new();
    let said = |number: usize| change.answers.get(&(number + 1));
    let silent: Vec<&ThreadBrief> =
        brief.threads.iter().enumerate().filter(|(number, _)| said(*number).is_none()).map(|(_, of)| of).collect();
    let written = brief.reviews.iter().filter(|(_, _, body)| !body.trim().is_empty() || brief.threads.is_empty());
    let conversation = brief.comments.iter().map(|(id, ..)| ReviewEvent::Comment(*id));
    let reviews = brief.reviews.iter().map(|(id, ..)| ReviewEvent::Review(*id));
    let written = conversation.clone().chain(written.map(|(id, ..)| ReviewEvent::Review(*id))).next();
    let is_alone = written.is_none() && brief.threads.len() == 1;
    let unspoken = || silent.first().filter(|_| !is_alone).map(|thread| ReviewEvent::Line(thread.newest));
    if let Some(to) = written.or_else(unspoken) {
        let mut text = format!("{first}{}", summary(change, commit));
        if let Some(silent) = unmentioned(&silent) {
            text.push_str(&format!("\n\n{silent}"));
        }
        // A ledger that is rebuilt knows by these what was heard.
        let heard = conversation.chain(reviews).chain(silent.iter().map(|thread| ReviewEvent::Line(thread.newest)));
        let heard: Vec<_> = [to.clone()].into_iter().chain(heard.filter(|event| *event != to)).collect();
        let text = answer_body(&heard, &text, commit);
        answers.push(EventAnswer { to, thread: None, text, resolves: false });
    }
    for (number, thread) in brief.threads.iter().enumerate() {
        let own = said(number);
        let text = match (own, commit) {
            (Some(own), Some(_)) => own.clone(),
            (Some(own), None) => format!("{}\n\nNo file changed.", own.trim()),
            (None, _) if is_alone => format!("{first}{}", summary(change, commit)),
            (None, _) => continue,
        };
        let to = ReviewEvent::Line(thread.newest);
        let text = answer_body(std::slice::from_ref(&to), &text, commit);
        // If the agent does not mention a thread, whether it was followed is unknown.
        let resolves = commit.is_some() && own.is_some_and(|said| !is_declined(said));
        answers.push(EventAnswer { to, thread: Some(thread.first), text, resolves });
    }
    answers
}

/// The answer to a round that nobody's words began, if there is something to see first.
pub fn told_first(to: &ReviewEvent, change: &ChangeText, commit: Option<&Sha>, first: &str) -> Option<EventAnswer> {
    let text = || answer_body(std::slice::from_ref(to), &format!("{first}{}", summary(change, commit)), commit);
    (!first.is_empty()).then(|| EventAnswer { to: to.clone(), thread: None, text: text(), resolves: false })
}

/// The agent's words about the round as a whole.
fn summary(change: &ChangeText, commit: Option<&Sha>) -> String {
    let said = change.summary.trim();
    match (commit, said.is_empty()) {
        (Some(_), true) => "Done.".to_owned(),
        (Some(_), false) => said.to_owned(),
        (None, false) => format!("No file changed: {said}"),
        (None, true) if !change.answers.is_empty() => "No file changed. The answers are in the threads.".to_owned(),
        (None, true) => {
            "No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what \
                         should change."
                .to_owned()
        }
    }
}

/// The threads that the agent did not speak to; `None` if it spoke to each.
fn unmentioned(silent: &[&ThreadBrief]) -> Option<String> {
    let mut places: Vec<String> = silent.iter().take(PLACES_SHOWN).map(|thread| shown(thread)).collect();
    let more = silent.len() - places.len();
    if more > 0 {
        places.push(format!("and {more} more"));
    }
    let threads = if silent.len() == 1 { "thread" } else { "threads" };
    (!silent.is_empty()).then(|| format!("The agent said nothing about the {threads} on {}.", places.join(", ")))
}

fn shown(thread: &ThreadBrief) -> String {
    let line = thread.line.map_or_else(String::new, |line| format!(" line {line}"));
    format!("{}{line}", code_span(&thread.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(first: u64, path: &str, line: Option<u64>) -> ThreadBrief {
        let (path, hunk) = (path.to_owned(), String::new());
        ThreadBrief { first, newest: first, path, line, hunk, comments: Vec::new() }
    }

    fn told(brief: &ReviewBrief, words: &str, commit: Option<&Sha>) -> String {
        let one = |answer: EventAnswer| {
            let place = answer.thread.map_or_else(|| "conversation".to_owned(), |first| format!("thread {first}"));
            let resolves = if answer.resolves { ", resolves" } else { "" };
            let (_, text) = answer.text.rsplit_once("-->\n").unwrap();
            format!("{place}, to {:?}{resolves}:\n{text}", answer.to)
        };
        let answers = round_answers(brief, &ChangeText::said(None, words), commit, "");
        answers.into_iter().map(one).collect::<Vec<_>>().join("")
    }

    fn briefs() -> [ReviewBrief; 4] {
        let review = |body: &str| vec![(7, "ann".into(), body.to_owned())];
        let threads = || vec![thread(1, "src/slug.js", Some(3)), thread(2, "test.js", None)];
        let both = ReviewBrief { reviews: review("Shorter, please."), threads: threads(), ..ReviewBrief::default() };
        let lines = ReviewBrief { reviews: review(""), threads: threads(), ..ReviewBrief::default() };
        let one = ReviewBrief { threads: vec![thread(1, "a.js", Some(3))], ..ReviewBrief::default() };
        let alone = ReviewBrief { reviews: review(""), ..ReviewBrief::default() };
        [both, lines, one, alone]
    }

    /// Row N64.
    #[test]
    fn a_thread_gets_what_was_said_about_it_and_a_round_without_a_change_says_so() {
        let [both, lines, one, alone] = briefs();
        let (words, head) = ("Slugs end after a word.\n\nT1: It finds the last blank.", Sha("abc".to_owned()));
        let mut text = String::new();
        for (row, brief, words, commit) in [
            ("a change", &both, words, Some(&head)),
            ("no change", &both, words, None),
            ("no change and no word", &both, "", None),
            ("no change, only about threads", &both, "T1: Yes.\nT2: No: it is right.", None),
            ("threads alone, a change", &lines, words, Some(&head)),
            ("threads alone, each spoken to", &lines, "T1: Done.\nT2: No: it is right.", Some(&head)),
            ("threads alone, no change and no word", &lines, "", None),
            ("one thread, a change", &one, "It finds the last blank.", Some(&head)),
            ("one thread, no change", &one, "It is right.", None),
            ("one thread, no change and no word", &one, "", None),
            ("a review without words, no change", &alone, "", None),
        ] {
            text.push_str(&format!("== {row}\n{}", told(brief, words, commit)));
        }
        insta::assert_snapshot!(text, @"
        == a change
        conversation, to Review(7):
        Slugs end after a word.

        The agent said nothing about the thread on `test.js`.

        In abc.
        thread 1, to Line(1), resolves:
        It finds the last blank.

        In abc.
        == no change
        conversation, to Review(7):
        No file changed: Slugs end after a word.

        The agent said nothing about the thread on `test.js`.
        thread 1, to Line(1):
        It finds the last blank.

        No file changed.
        == no change and no word
        conversation, to Review(7):
        No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what should change.

        The agent said nothing about the threads on `src/slug.js` line 3, `test.js`.
        == no change, only about threads
        conversation, to Review(7):
        No file changed. The answers are in the threads.
        thread 1, to Line(1):
        Yes.

        No file changed.
        thread 2, to Line(2):
        No: it is right.

        No file changed.
        == threads alone, a change
        conversation, to Line(2):
        Slugs end after a word.

        The agent said nothing about the thread on `test.js`.

        In abc.
        thread 1, to Line(1), resolves:
        It finds the last blank.

        In abc.
        == threads alone, each spoken to
        thread 1, to Line(1), resolves:
        Done.

        In abc.
        thread 2, to Line(2):
        No: it is right.

        In abc.
        == threads alone, no change and no word
        conversation, to Line(1):
        No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what should change.

        The agent said nothing about the threads on `src/slug.js` line 3, `test.js`.
        == one thread, a change
        thread 1, to Line(1):
        It finds the last blank.

        In abc.
        == one thread, no change
        thread 1, to Line(1):
        No file changed: It is right.
        == one thread, no change and no word
        thread 1, to Line(1):
        No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what should change.
        == a review without words, no change
        conversation, to Review(7):
        No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what should change.
        ");
    }
}
