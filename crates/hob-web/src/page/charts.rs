//! Charts, as numbers for the templates, which draw them as SVG: no script, and a table of the same says it in words.

use minijinja::{Value, context};

/// The room for a chart's marks, in its own units.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

/// A day's spend.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) usd: f64,
}

/// A bill beside its quote.
#[derive(Debug, Clone)]
pub(super) struct Dot {
    pub(super) name: String,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is: f64,
}

/// Bars beside each other; `None` if there are none.
pub(super) fn bars(all: &[Bar]) -> Option<Value> {
    let most = all.iter().map(|bar| bar.usd).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let step = WIDTH / as_float(all.len());
    let bars: Vec<Value> = all
        .iter()
        .enumerate()
        .map(|(at, bar)| {
            let height = HEIGHT * bar.usd / most;
            context! {
                name => &*bar.name, usd => bar.usd, x => step.mul_add(as_float(at), step * 0.1), y => HEIGHT - height, height,
                width => (step * 0.8).min(48.0),
            }
        })
        .collect();
    Some(context! { bars, most })
}

/// Bills beside their quotes, each a column; `None` if there are none.
pub(super) fn dots(all: &[Dot]) -> Option<Value> {
    let most = all.iter().map(|dot| dot.high.max(dot.is)).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let step = WIDTH / as_float(all.len());
    let at_height = |usd: f64| HEIGHT - HEIGHT * usd / most;
    let dots: Vec<Value> = all
        .iter()
        .enumerate()
        .map(|(at, dot)| {
            let is_within = (dot.low..=dot.high).contains(&dot.is);
            context! {
                name => &*dot.name, low => dot.low, high => dot.high, usd => dot.is, is_within,
                x => step.mul_add(as_float(at), step / 2.0),
                y_low => at_height(dot.low), y_high => at_height(dot.high), y => at_height(dot.is),
            }
        })
        .collect();
    Some(context! { dots, most })
}

#[expect(clippy::cast_precision_loss, reason = "a chart has few marks")]
fn as_float(number: usize) -> f64 {
    number as f64
}
