//! What people are told of a model before it works: that nothing is known of it, or that it retires.

use chrono::NaiveDate;
use hob_config::known_model;

/// Days before a model retires in which people are told.
const DAYS: i64 = 30;

/// That a model retires soon, or has; `None` if it does not, as far as is known.
pub(super) fn retirement(name: &str, today: NaiveDate) -> Option<String> {
    let known = known_model(name)?;
    let retires = known.retires?;
    let successor =
        known.successor.as_ref().map(|successor| format!("; its vendor suggests `{successor}`")).unwrap_or_default();
    match (retires - today).num_days() {
        days if days > DAYS => None,
        days if days > 0 => Some(format!("the model `{name}` retires on {retires}{successor}")),
        _ => Some(format!("the model `{name}` retired on {retires}{successor}")),
    }
}

/// That a model without a price is not known, and the settings that say what it has.
pub(super) fn unknown(name: &str) -> Option<String> {
    known_model(name).is_none().then(|| {
        format!(
            "the model `{name}` is not known (`hob models`): its window counts as 128,000 tokens (`context_tokens` of its agent) and its \
             cost as nothing (`[model.prices.\"{name}\"]`)"
        )
    })
}

/// That the window of a model is not known, and the setting that says what it is.
pub(super) fn unmeasured(name: &str) -> Option<String> {
    known_model(name).is_none().then(|| {
        format!("the model `{name}` is not known (`hob models`): its window counts as 128,000 tokens, unless its server lists one (`context_tokens` of its agent)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retirement_is_told_a_month_ahead() {
        let on = |date: &str| date.parse::<NaiveDate>().unwrap();
        for (name, today, says) in [
            ("openai/gpt-5", "2026-11-01", None),
            (
                "openai/gpt-5",
                "2026-11-11",
                Some("the model `openai/gpt-5` retires on 2026-12-11; its vendor suggests `gpt-5.6-sol`"),
            ),
            (
                "openai/gpt-5-2025-08-07",
                "2026-12-11",
                Some("the model `openai/gpt-5-2025-08-07` retired on 2026-12-11; its vendor suggests `gpt-5.6-sol`"),
            ),
            ("openai/gpt-6-sol", "2030-01-01", None),
            ("openai/unknown", "2030-01-01", None),
        ] {
            assert_eq!(retirement(name, on(today)).as_deref(), says, "{name} {today}");
        }
    }

    #[test]
    fn an_unknown_model_is_told_with_the_settings_that_it_needs() {
        let said = unknown("openai/gpt-6.2").unwrap();
        assert!(said.contains("`context_tokens`") && said.contains("[model.prices.\"openai/gpt-6.2\"]"), "{said}");
        assert!(unmeasured("openai/gpt-6.2").unwrap().contains("(`context_tokens` of its agent)"));
        assert_eq!((unknown("openai/gpt-6-sol"), unmeasured("openai/gpt-6-sol")), (None, None));
    }
}
