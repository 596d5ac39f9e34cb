//! The search: where forms of secrets stand in a text, in one pass over it as it is and one for each way
//! to read it.
//!
//! A form is cut into blocks so short that enough of the form in a row always holds a whole one. The blocks are searched
//! for together; a block that is found is then followed in both directions.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::redaction::{
    forms::{Form, forms},
    plain::{Plain, Undo},
};

/// Below this length blanks in between are no disguise, but other words.
const SPREAD_MIN: usize = 16;

/// What is searched for.
#[derive(Default)]
pub(super) struct Search {
    forms: Vec<(usize, Form)>,
    /// For each pattern of the automaton, the form that it is of and where in it.
    blocks: Vec<(usize, usize)>,
    automaton: Option<AhoCorasick>,
}

/// A finding: which secret, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) at: (usize, usize),
    pub(super) secret: usize,
}

impl Search {
    /// A search for these secrets; a finding names one by its place here.
    pub(super) fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let of_one = |(number, secret)| forms(secret).into_iter().map(move |form| (number, form));
        let forms: Vec<_> = secrets.into_iter().enumerate().flat_map(of_one).collect();
        let (mut blocks, mut patterns) = (Vec::new(), Vec::new());
        for (number, (_, form)) in forms.iter().enumerate() {
            // Whatever part is enough, at least one block lies wholly within it.
            let length = if form.enough == form.text.len() { form.enough } else { form.enough.div_ceil(2) };
            for (n, block) in form.text.chunks_exact(length.max(1)).enumerate() {
                blocks.push((number, n * length));
                patterns.push(block);
            }
        }
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::ContiguousNFA));
        // It can only fail for more patterns than there is memory for.
        let automaton = if patterns.is_empty() { None } else { builder.build(patterns).ok() };
        Self { forms, blocks, automaton }
    }

    /// Where secrets stand in the text, in order; findings may overlap.
    pub(super) fn findings(&self, text: &[u8]) -> Vec<Found> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut found: Vec<Found> = Vec::new();
        self.runs(automaton, text, |secret, run| found.push(Found { at: (run.start, run.end), secret }));
        for plain in Undo::of(text).into_iter().map(|undo| Plain::of(text, undo)).filter(|plain| plain.bytes != text) {
            self.runs(automaton, &plain.bytes, |secret, run| {
                let Some((from, to, is_spread)) = plain.source(run.start, run.end) else { return };
                if !is_spread || run.len() >= SPREAD_MIN {
                    found.push(Found { at: (from, to), secret });
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Finds the longest parts of forms that are enough.
    fn runs(&self, automaton: &AhoCorasick, text: &[u8], mut tell: impl FnMut(usize, Range<usize>)) {
        // What is known already: a form's later blocks lie within the part that its first one led to.
        let mut known: Vec<(usize, usize)> = vec![(0, 0); self.forms.len()];
        for hit in automaton.find_overlapping_iter(text) {
            let (number, offset) = self.blocks[hit.pattern().as_usize()];
            let (secret, form) = &self.forms[number];
            let shift = hit.start().wrapping_sub(offset);
            if known[number].0 == shift && hit.end() <= known[number].1 {
                continue;
            }
            let run = run(&form.text, text, (offset, hit.start()), hit.len());
            known[number] = (shift, run.end);
            if run.len() >= form.enough {
                tell(*secret, run);
            }
        }
    }
}

/// The part of `text` around a block of `length` that goes on as the form does, on both sides.
fn run(form: &[u8], text: &[u8], (offset, at): (usize, usize), length: usize) -> Range<usize> {
    let same = |(one, other): &(&u8, &u8)| one.eq_ignore_ascii_case(other);
    let before = form[..offset].iter().rev().zip(text[..at].iter().rev()).take_while(same).count();
    let after = form[offset + length..].iter().zip(&text[at + length..]).take_while(same).count();
    at - before..at + length + after
}
