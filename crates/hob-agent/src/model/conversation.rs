//! One conversation with the models of a list: the answering model, the cost, and the recording.
//!
//! - Flow: a request goes to the model that answered last. If that one cannot answer, the same request goes to the next
//!   of the list, wrapping around at its end, until each was asked once.
//! - Guarantees: the conversation stays with the model that answered, so that its prompt cache hits; a new conversation
//!   begins with the first model. A reply is charged at the price of the model that gave it.
//! - Failures that move on to the next model: all that concern the model or its service, once the retries are used up:
//!   a transient failure, a quota, a key or a name that the service refuses. A request that is invalid or too long is
//!   not passed on.
//! - Money: each request takes its most out of the budget before it is sent; an answer that was cut off counts as that.

use hob_domain::{FailureClass, Spend, Strain};
use hob_egress::{Budget, Metered, chat_span};
use tracing::Instrument;

use crate::{
    model::{
        FallbackChain, Memoized, Message, ModelError, ModelReply, ModelRequest, Rest, call_ids, chat_span::chat_ended,
        fallback_chain::Member, funds::Purse, recording::Recording,
    },
    traced::{model_of, provider},
};

/// A conversation under way.
pub struct Conversation<'a> {
    chain: &'a FallbackChain,
    session: String,
    /// The index of the model that is asked first.
    place: usize,
    recording: Option<Recording>,
    purse: Purse,
    /// What was told as spent.
    told: Metered,
}

/// A reply, and the model that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The reply.
    pub reply: ModelReply,
    /// The model that gave it.
    pub model: String,
    /// The cost, in millionths of a US dollar, with that of requests before it that gave no reply.
    pub usd_micros: u64,
    /// Why another model than before gave it, if one did.
    pub instead: Option<String>,
}

impl<'a> Conversation<'a> {
    /// Begins a conversation with the first model of `chain`; a recording of it gets the name `session`.
    pub fn begin(chain: &'a FallbackChain, session: &str) -> Self {
        let recording = chain.records().map(|records| Recording::new(records, session));
        let purse = Purse::new(Purse::budget(None, chain.prices().collect()));
        Self { chain, session: session.to_owned(), place: 0, recording, purse, told: Metered::default() }
    }

    /// The same, which begins with the model at `place` of the list, counted on from its end.
    #[must_use]
    pub(crate) fn from(self, place: u32) -> Self {
        Self { place: place as usize % self.chain.count(), ..self }
    }

    /// The same, for at most `usd_micros` millionths of a US dollar; `noting` has the budget note its spending. Models without a
    /// price count as free: the caller has seen to it that tokens are limited instead.
    #[must_use]
    pub(crate) fn within(self, usd_micros: Option<u64>, noting: impl FnOnce(Budget) -> Budget) -> Self {
        Self { purse: Purse::new(noting(Purse::budget(usd_micros, self.chain.prices_or_nothing().collect()))), ..self }
    }

    /// What was spent since the last call, also on requests without a reply.
    pub(crate) fn spent(&mut self) -> Spend {
        let now = self.purse.meter().read();
        let (before, all) = (self.told.usage(), now.usage());
        let spent = Spend {
            usd_micros: now.usd_micros.saturating_sub(self.told.usd_micros),
            input_tokens: all.input.saturating_sub(before.input),
            output_tokens: all.output.saturating_sub(before.output),
            wall_seconds: 0,
        };
        self.told = now;
        spent
    }

    /// Asks one question, without tools, in its own conversation.
    ///
    /// # Errors
    /// Those of [`ask`](Self::ask).
    pub(crate) async fn ask_once(
        chain: &'a FallbackChain,
        session: &str,
        system: &str,
        question: &str,
    ) -> Result<Answer, ModelError> {
        let messages = [Memoized::from(Message::user(question))];
        let tools = Memoized::from(Vec::new());
        let request = ModelRequest {
            system,
            messages: &messages,
            tools: &tools,
            turn: 1,
            funds: None,
            strain: Strain::Usual,
            rest: Rest::Short,
        };
        Self::begin(chain, session).ask(&request).await
    }

    /// Goes on with a model of the list that costs more than the one that answers, as far as prices tell which is stronger; its name.
    /// `None` if there is none.
    pub(crate) fn stronger(&mut self) -> Option<String> {
        let place = self.chain.dearest(self.place)?;
        self.place = place;
        Some(self.chain.at(place).name.clone())
    }

    /// The window of the model that answered, as its service lists it; `None` if it does not.
    pub(crate) async fn listed_window(&self) -> Option<u64> {
        self.chain.at(self.place).client.listed_window().await
    }

    /// Asks for the next reply. Dropping the future ends the request.
    ///
    /// # Errors
    /// [`ModelError`] of the model if the request itself is wrong, or if there is only one model; [`ModelError::All`]
    /// if each of several failed.
    pub async fn ask(&mut self, request: &ModelRequest<'_>) -> Result<Answer, ModelError> {
        let (mut failures, before): (Vec<(String, ModelError)>, _) = (Vec::new(), self.purse.meter().read());
        for place in self.place..self.place + self.chain.count() {
            let member = self.chain.at(place);
            let funded = ModelRequest { funds: Some(self.purse.funds(&member.name)), ..*request };
            let (counted, paid) = self.counted();
            let span = chat_span(provider(&member.name), model_of(&member.name), Some(&self.session));
            let replied = member.client.complete(&funded).instrument(span.clone()).await;
            if let Ok(reply) = &replied
                && self.counted().0 == counted
            {
                self.purse.meter().count(&member.name, reply.usage);
            }
            chat_ended(&span, &replied, self.counted().1.saturating_sub(paid));
            let error = match replied {
                Ok(mut reply) => {
                    call_ids::settle(&mut reply, request.messages, request.turn);
                    self.place = place % self.chain.count();
                    let usd_micros = self.purse.meter().read().usd_micros.saturating_sub(before.usd_micros);
                    return Ok(self.answer(request.turn, member, Charged { reply, usd_micros }, &failures).await);
                }
                Err(error) => error,
            };
            let wrong = is_about_the_request(&error);
            if wrong {
                self.place = place % self.chain.count();
            } else if self.chain.count() > 1 && error.failure() == FailureClass::Misconfigured {
                // A problem that needs a fix must not be hidden by another model's answer.
                tracing::warn!(model = member.name, %error, "the model `{}` cannot answer: {error}", member.name);
            }
            failures.push((member.name.clone(), error));
            if wrong {
                break;
            }
        }
        Err(match failures.pop() {
            Some((_, only)) if failures.is_empty() => only,
            last => ModelError::All(failures.into_iter().chain(last).collect()),
        })
    }

    /// The requests that were counted so far, and their cost in millionths of a US dollar.
    fn counted(&self) -> (u64, u64) {
        let now = self.purse.meter().read();
        (now.requests(), now.usd_micros)
    }

    async fn answer(
        &mut self,
        turn: u32,
        member: &Member,
        Charged { reply, usd_micros }: Charged,
        failures: &[(String, ModelError)],
    ) -> Answer {
        if let Some(mut recording) = self.recording.take() {
            let (name, recorded) = (member.name.clone(), reply.clone());
            let written = tokio::task::spawn_blocking(move || {
                recording.add(turn, &name, &recorded);
                recording
            });
            self.recording = match written.await {
                Ok(recording) => Some(recording),
                Err(error) => {
                    tracing::warn!(%error, "the model's replies are not recorded any more: {error}");
                    None
                }
            };
        }
        let instead: Vec<_> = failures.iter().map(|(name, error)| format!("`{name}` cannot answer: {error}")).collect();
        Answer {
            model: member.name.clone(),
            usd_micros,
            instead: (!instead.is_empty()).then(|| instead.join("; ")),
            reply,
        }
    }
}

/// A reply with its cost.
struct Charged {
    reply: ModelReply,
    usd_micros: u64,
}

/// Whether asking another model the same would be in vain.
fn is_about_the_request(error: &ModelError) -> bool {
    if matches!(error, ModelError::Money(_)) {
        return true;
    }
    match error.failure() {
        FailureClass::Permanent | FailureClass::Cancelled => true,
        FailureClass::Transient { .. }
        | FailureClass::Unfinished
        | FailureClass::QuotaExhausted { .. }
        | FailureClass::NeedsHuman
        | FailureClass::Misconfigured => false,
    }
}
