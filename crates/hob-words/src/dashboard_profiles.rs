//! The performance of profiles on the dashboard's issues, from the issues' ledgers alone.

use hob_domain::Record;
use hob_text::count;

/// The section on profiles; empty where no issue has one.
pub(super) fn profiles<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let (mut chosen, mut missed, mut handed_over, mut switched) = (0_usize, 0_usize, 0_usize, 0_usize);
    for record in records {
        let Some(route) = &record.route else { continue };
        missed += usize::from(route.warning.is_some());
        chosen += usize::from(route.warning.is_none() && route.profile.is_some());
        let switches = record.chain.links().iter().filter(|link| link.switched).count();
        switched += switches;
        handed_over += record.chain.links().len() - switches;
    }
    let all = chosen + missed;
    if all == 0 {
        return String::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer issues than an f64 can count")]
    let each = |number: usize| number as f64 / all as f64;
    format!(
        "\n### Profiles\n\n{} of {} {} as it was chosen ({:.0}%) · {:.1} hand-offs and {:.1} switches an issue\n",
        chosen,
        count(all, "profile"),
        if all == 1 { "works" } else { "work" },
        100.0 * each(chosen),
        each(handed_over),
        each(switched)
    )
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        ChosenBy, HandOff, Note, PassedOn, Received, RouteChoice, RunId, Sha, Spend, State, Timestamp, Transition,
        apply,
    };

    use super::*;
    use crate::fixtures::record_at;

    /// Requirement M9: the dashboard shows how many profiles work, and how often work is handed off between them.
    #[test]
    fn profiles_hand_offs_and_switches_are_told() {
        let routed = |warning: Option<&str>| {
            let mut record = record_at(State::Assigned);
            let choice = RouteChoice::of_agent(ChosenBy::Router);
            let profile = "dns".parse().ok().filter(|_| warning.is_none());
            record.note(Note::Routed(RouteChoice { profile, warning: warning.map(str::to_owned), ..choice }));
            record
        };
        let passed = |switched| {
            let received = Received {
                from: "dns".parse().unwrap(),
                to: "cloud".parse().unwrap(),
                hand_off: HandOff::default(),
                switched,
            };
            let (head, session) = (Sha("h".to_owned()), RunId("s".to_owned()));
            PassedOn { received, percent: None, spend: Spend::default(), head, session }
        };
        let mut handed = routed(None);
        for (state, switched) in [(State::Assigned, true), (State::InProgress, false)] {
            handed.state = state;
            let transition = Transition::HandOff(Box::new(passed(switched)));
            handed = apply(&handed, transition, Timestamp::UNIX_EPOCH).unwrap().0;
        }
        let records = [routed(Some("damaged")), routed(None), handed, record_at(State::Ready), routed(None)];
        assert_eq!(
            profiles(records.iter()),
            "\n### Profiles\n\n3 of 4 profiles work as it was chosen (75%) · 0.2 hand-offs and 0.2 switches an issue\n"
        );
        assert_eq!(profiles(records[3..4].iter()), "");
    }
}
