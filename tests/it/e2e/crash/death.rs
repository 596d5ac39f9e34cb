//! Deaths at a chosen moment: a run is a series of steps between two waits, and it can be abandoned between any two of
//! them.
//!
//! A run waits for each answer of the forge, each child process, each piece of work on files. So the steps cover them
//! all, on both sides of their effect. The number of steps depends a little on the speed of the child processes; the
//! writes to the API and pushes of ledgers are counted separately, and are always the same.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// The side of an awaited operation on which a run dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// At once: the operation that has just begun is not sent, and a child that has just started is killed.
    Before,
    /// When what it waited for is there, and before it hears of it.
    After,
}

/// When a worker dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// At the end of this step of its run, counted from 0.
    Step(usize, Side),
    /// At this write to the API or push of ledgers, counted from 0 over the whole life of the world.
    Write(usize, Side),
}

/// Runs `run` until it ends or the moment comes; `None` if it died. `writes` returns how many writes had
/// their effect, and is asked before each step. The caller checks whether a write is about to be sent, for
/// [`Side::Before`].
pub(super) async fn until<T>(
    moment: Option<Moment>,
    mut writes: impl FnMut() -> usize,
    run: impl Future<Output = T>,
) -> Option<T> {
    let mut run = pin!(run);
    let mut steps = 0;
    poll_fn(|context| {
        let written = writes();
        let dies = match moment {
            Some(Moment::Step(step, Side::After)) => steps == step + 1,
            Some(Moment::Write(write, Side::After)) => written > write,
            Some(Moment::Step(_, Side::Before) | Moment::Write(_, Side::Before)) | None => false,
        };
        if dies {
            return Poll::Ready(None);
        }
        steps += 1;
        match run.as_mut().poll(context) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if moment == Some(Moment::Step(steps - 1, Side::Before)) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
