//! The page of the flight record: its parts, and the template that they are put into.

use anyhow::Context as _;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::cli::flight::{checks::Proof, cost::Costs, life::Transition, session::Session, told::Told};

/// Bytes of the file.
const FILE_MAX: usize = 8 << 20;
/// The template's name; by its end it escapes what is put into it.
const TEMPLATE: &str = "record.html";

/// What the page says.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    pub(super) repository: Told,
    pub(super) issue: String,
    pub(super) title: Told,
    pub(super) state: String,
    pub(super) facts: Vec<Fact>,
    pub(super) life: Vec<Transition>,
    pub(super) costs: Vec<Costs>,
    pub(super) proof: Option<Proof>,
    pub(super) deeds: Vec<Told>,
    /// The oldest first.
    pub(super) sessions: Vec<Session>,
    pub(super) made: Told,
}

/// One fact about the issue.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: Told,
}

/// The page with its style.
#[derive(Serialize)]
struct Styled<'a> {
    style: &'static str,
    #[serde(flatten)]
    page: &'a Page,
}

impl Page {
    /// The page as one file of at most 8 MB: what agents did first is left out where it would be larger. The rest is bounded, text by
    /// text and list by list.
    pub(super) fn html(mut self) -> anyhow::Result<String> {
        let mut room = FILE_MAX;
        loop {
            self.sessions.iter_mut().rev().fold(room, |room, session| session.keep(room));
            let html = self.rendered().context("render the flight record")?;
            if html.len() <= FILE_MAX || room == 0 {
                return Ok(html);
            }
            room /= 2;
        }
    }

    fn rendered(&self) -> Result<String, minijinja::Error> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.add_template(TEMPLATE, include_str!("record.html"))?;
        let template = templates.get_template(TEMPLATE)?;
        let styled = Styled { style: include_str!("record.css"), page: self };
        template.render(minijinja::Value::from(minijinja::value::Serde(&styled)))
    }
}
