//! The search for forms of secrets in a text: one pass over it as it is, and one for each way to read it.
//!
//! A form is cut into blocks short enough that any sufficient part of it contains a whole block. All blocks are
//! searched together; from a block that is found, the search follows the form in both directions.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::redaction::{
    forms::{Form, forms},
    plain::{Plain, Undo},
};

/// A shorter form with blanks in between is not a disguised secret but other words.
const SPREAD_MIN: usize = 16;

/// The forms to search for.
#[derive(Default)]
pub(super) struct Search {
    forms: Vec<(usize, Form)>,
    /// For each pattern of the automaton, the form that it belongs to and its offset there.
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
    /// A search for these secrets; a finding refers to one by its index.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let of_one = |(number, secret)| forms(secret).into_iter().map(move |form| (number, form));
        let forms: Vec<_> = secrets.into_iter().enumerate().flat_map(of_one).collect();
        let (mut blocks, mut patterns) = (Vec::new(), Vec::new());
        for (number, (_, form)) in forms.iter().enumerate() {
            // Any sufficient part contains at least one whole block.
            let length = if form.enough == form.text.len() { form.enough } else { form.enough.div_ceil(2) };
            for (n, block) in form.text.chunks_exact(length.max(1)).enumerate() {
                blocks.push((number, n * length));
                patterns.push(block);
            }
        }
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::ContiguousNFA));
        // Fails only for more patterns than fit into memory.
        let automaton = if patterns.is_empty() { None } else { builder.build(patterns).ok() };
        Self { forms, blocks, automaton }
    }

    /// Where secrets are in the text, in order; findings may overlap.
    pub(super) fn findings(&self, text: &[u8]) -> Vec<Found> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut found: Vec<Found> = Vec::new();
        self.runs(automaton, text, |secret, run| found.push(Found { at: (run.start, run.end), secret }));
        for plain in
            Undo::all_for(text).into_iter().map(|undo| Plain::new(text, undo)).filter(|plain| plain.bytes != text)
        {
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

    /// Finds the longest sufficient parts of forms.
    fn runs(&self, automaton: &AhoCorasick, text: &[u8], mut tell: impl FnMut(usize, Range<usize>)) {
        // Ranges found already: a form's later blocks are within the range that its first block led to.
        let mut known: Vec<(usize, usize)> = vec![(0, 0); self.forms.len()];
        for hit in automaton.find_overlapping_iter(text) {
            let (number, offset) = self.blocks[hit.pattern().as_usize()];
            let (secret, form) = &self.forms[number];
            let shift = hit.start().wrapping_sub(offset);
            if known[number].0 == shift && hit.end() <= known[number].1 {
                continue;
            }
            let run = run(&form.text, text, offset, hit.start(), hit.len());
            known[number] = (shift, run.end);
            if run.len() >= form.enough {
                tell(*secret, run);
            }
        }
    }
}

/// The range of `text` around a block of `length` that matches the form on both sides.
fn run(form: &[u8], text: &[u8], offset: usize, at: usize, length: usize) -> Range<usize> {
    let same = |(one, other): &(&u8, &u8)| one.eq_ignore_ascii_case(other);
    let before = form[..offset].iter().rev().zip(text[..at].iter().rev()).take_while(same).count();
    let after = form[offset + length..].iter().zip(&text[at + length..]).take_while(same).count();
    at - before..at + length + after
}
