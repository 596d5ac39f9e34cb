//! Requests that Hob answers itself, below the same nonce as the model routes: messages for the caller of the server.
//!
//! - Flow: the body of a `POST` goes to the caller, whose reply is the answer. A slow answer, such as a person's, is a
//!   stream of events that holds only comments until the answer is there, so that no client or proxy takes the silence
//!   for an end. That is the transport "Streamable HTTP" of MCP, as far as a server needs it that speaks only when
//!   asked.
//! - Guarantees: a message is bounded; if the caller no longer listens, the client is told so.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::shared::{Body, full, pieces, sentence};

/// The path segment after the nonce.
pub(crate) const NAME: &str = "mcp";
/// Bytes of a message.
const MESSAGE_MAX: usize = 4 << 20;
/// The deadline for receiving a message.
const COMES: Duration = Duration::from_secs(60);
/// How long an answer may take before its stream begins, and how often the stream sends a comment.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message from a program, and the channel for its answer: `None` for a notification. Dropping it refuses the
/// message.
#[derive(Debug)]
pub struct Asked {
    /// The message.
    pub message: Bytes,
    /// The channel for the answer.
    pub answer: oneshot::Sender<Option<Bytes>>,
}

/// Sends the request to the listener and returns its answer.
pub(crate) async fn answer(listener: &mpsc::Sender<Asked>, request: Request<Incoming>) -> Response<Body> {
    if request.method() != Method::POST {
        // No stream that was not asked for, and no session to end.
        return sentence(StatusCode::METHOD_NOT_ALLOWED, "Messages come by POST.");
    }
    let Ok(Ok(body)) = timeout(COMES, Limited::new(request.into_body(), MESSAGE_MAX).collect()).await else {
        return sentence(StatusCode::BAD_REQUEST, "The message did not come whole, or is too long.");
    };
    let (sender, mut answer) = oneshot::channel();
    if listener.send(Asked { message: body.to_bytes(), answer: sender }).await.is_err() {
        return over();
    }
    match timeout(PATIENCE, &mut answer).await {
        Ok(Ok(Some(answer))) => of_kind("application/json", full(answer)),
        Ok(Ok(None)) => {
            let mut accepted = Response::new(full(Bytes::new()));
            *accepted.status_mut() = StatusCode::ACCEPTED;
            accepted
        }
        Ok(Err(_)) => over(),
        Err(_) => of_kind("text/event-stream", events(answer)),
    }
}

fn over() -> Response<Body> {
    sentence(StatusCode::SERVICE_UNAVAILABLE, "The run is over.")
}

fn of_kind(kind: &'static str, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Comments until the answer is there, and then the answer as one event. A message contains no line break.
fn events(answer: oneshot::Receiver<Option<Bytes>>) -> Body {
    pieces(stream::unfold(Some(answer), |waiting| async move {
        let mut waiting = waiting?;
        match timeout(PATIENCE, &mut waiting).await {
            Err(_) => Some((Ok(Bytes::from_static(b": a moment\n\n")), Some(waiting))),
            Ok(Ok(Some(answer))) => {
                let event = [b"event: message\ndata: ", answer.as_ref(), b"\n\n"].concat();
                Some((Ok(event.into()), None))
            }
            Ok(Ok(None) | Err(_)) => Some((Err(io::ErrorKind::ConnectionAborted.into()), None)),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement P6: a person may take longer than a client waits for an answer.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_takes_long_keeps_its_stream_alive() {
        let (sender, answer) = oneshot::channel();
        let mut body = events(answer);
        let mut piece = async || body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(piece().await.unwrap(), ": a moment\n\n");
        assert_eq!(piece().await.unwrap(), ": a moment\n\n");
        sender.send(Some(Bytes::from_static(b"{}"))).unwrap();
        assert_eq!(piece().await.unwrap(), "event: message\ndata: {}\n\n");
        assert_eq!(piece().await, None);
    }
}
