//! An issue's bill for the quotes of others, and its own quote.

use crate::{Bill, Bills, ProfileName, Quote, Record, Spend, State};

/// The bill of work that has brought something. `None` of other work, and if no money is known.
pub fn bill_of(record: &Record) -> Option<Bill> {
    let is_through = match record.state {
        State::InReview | State::Done => true,
        State::Ready | State::Assigned | State::InProgress | State::Blocked => false,
    };
    let brought = record.pull.number.is_some() || record.comments.report.is_some();
    let (profile, complexity) = kind_of(record);
    let (issue, usd_micros) = (record.issue, record.spend.usd_micros);
    (is_through && brought && usd_micros > 0).then_some(Bill { issue, profile, complexity, usd_micros })
}

/// The quote for an issue that no work was done on. `None` if too few like it are known, or if work has begun.
pub fn quote_for(record: &Record, known: &Bills) -> Option<Quote> {
    let is_untouched = record.session.is_none() && record.spend == Spend::default();
    let (profile, complexity) = kind_of(record);
    if is_untouched { known.quote(profile.as_ref(), complexity) } else { None }
}

/// The profile and the complexity by which issues are alike.
fn kind_of(record: &Record) -> (Option<ProfileName>, u8) {
    record.route.as_ref().map_or((None, 0), |route| (route.profile.clone(), route.complexity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ChosenBy, CommentId, IssueNumber, OwnComments, PullLog, PullNumber, RouteChoice, RunId,
        issue::lease::tests::record_at,
    };

    #[test]
    fn a_quote_is_for_work_that_has_not_begun() {
        let bill = |issue| Bill { issue: IssueNumber(issue), profile: None, complexity: 5, usd_micros: 1_000_000 };
        let known = (1..=5).fold(Bills::default(), |bills, issue| bills.and(bill(issue)));
        let route = RouteChoice { complexity: 6, ..RouteChoice::of_agent(ChosenBy::Router) };
        let record = Record { route: Some(route), ..record_at(State::Assigned) };
        assert_eq!(quote_for(&record, &known).map(|quote| quote.of), Some(5));
        assert_eq!(quote_for(&Record { session: Some(RunId("s".to_owned())), ..record.clone() }, &known), None);
        let spend = Spend { usd_micros: 1, ..Spend::default() };
        assert_eq!(quote_for(&Record { spend, ..record }, &known), None);
    }

    #[test]
    fn only_work_that_brought_something_has_a_bill() {
        let spend = Spend { usd_micros: 7, ..Spend::default() };
        let published = Record { spend, pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        assert_eq!(bill_of(&published).map(|bill| bill.usd_micros), Some(7));
        let report = OwnComments { report: Some(CommentId(1)), ..OwnComments::default() };
        assert!(bill_of(&Record { comments: report, spend, ..record_at(State::Done) }).is_some());
        assert_eq!(bill_of(&Record { spend, ..record_at(State::Done) }), None);
        assert_eq!(bill_of(&Record { state: State::Blocked, ..published.clone() }), None);
        assert_eq!(bill_of(&Record { spend: Spend::default(), ..published }), None);
    }
}
