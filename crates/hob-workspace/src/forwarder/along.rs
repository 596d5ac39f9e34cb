//! A second update that a push takes along, which git knows nothing of: a line at the end of the list, an object at the end of the
//! pack.
//!
//! A pack is `PACK`, a version and the number of its objects in four bytes each, the objects, and the SHA-1 of all that.
//! <https://git-scm.com/docs/gitformat-pack>

use std::mem;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, future, stream};
use hob_domain::Sha;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::forwarder::Failure;

const HEAD: usize = 12;
const SUM: usize = 20;
const END: &[u8] = b"0000";

/// The move of another ref to a commit that git has not: the server makes both moves or neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Along {
    /// The ref's full name.
    pub name: String,
    /// The commit that it is at.
    pub old: Sha,
    /// The commit that it moves to.
    pub new: Sha,
    /// That commit as an object of a pack.
    pub packed: Vec<u8>,
}

impl Along {
    fn line(&self) -> String {
        let line = format!("{} {} {}", self.old, self.new, self.name);
        format!("{:04x}{line}", line.len() + 4)
    }

    /// How many bytes it adds to a push.
    pub(super) fn size(&self) -> u64 {
        (self.line().len() + self.packed.len()) as u64
    }

    /// The body of a push with it. Of the body before, `begun` has the list, up to `end`, and what came of the pack with it;
    /// `rest` is what follows.
    pub(super) fn joined<S: Stream<Item = Result<Bytes, Failure>>>(
        &self,
        mut begun: Vec<u8>,
        end: usize,
        rest: S,
    ) -> impl Stream<Item = Result<Bytes, Failure>> + use<S> {
        let begun_pack = begun.split_off(end);
        begun.truncate(end - END.len());
        begun.extend_from_slice(self.line().as_bytes());
        begun.extend_from_slice(END);
        let mut pack = Longer::with(self.packed.clone());
        let parts = stream::iter([Ok(begun_pack.into())]).chain(rest).map(Some).chain(stream::iter([None]));
        let parts = parts.map(move |part| match part {
            Some(part) => part.map(|part| pack.take(&part)),
            None => pack.end(),
        });
        stream::iter([Ok(begun.into())]).chain(parts.filter(|part| {
            // An empty part would end a body of chunks.
            future::ready(!part.as_ref().is_ok_and(Bytes::is_empty))
        }))
    }
}

/// A pack that passes by and gets one object more.
struct Longer {
    object: Vec<u8>,
    /// What may be the sum of the pack as it was, or not yet its whole head.
    held: Vec<u8>,
    sums: Option<Sums>,
}

/// Of the pack as it was, and as it is sent on.
struct Sums {
    before: Context,
    after: Context,
}

impl Longer {
    fn with(object: Vec<u8>) -> Self {
        Self { object, held: Vec::new(), sums: None }
    }

    /// What of it can be sent on.
    fn take(&mut self, part: &[u8]) -> Bytes {
        self.held.extend_from_slice(part);
        let mut sent = Vec::new();
        let sums = match &mut self.sums {
            Some(sums) => sums,
            none => {
                let Some((head, rest)) = self.held.split_first_chunk::<HEAD>() else { return Bytes::new() };
                let [kind @ .., a, b, c, d] = head;
                let count = u32::from_be_bytes([*a, *b, *c, *d]).saturating_add(1);
                sent = [kind.as_slice(), &count.to_be_bytes()].concat();
                let [mut before, mut after] = [(); 2].map(|()| Context::new(&SHA1_FOR_LEGACY_USE_ONLY));
                before.update(head);
                after.update(&sent);
                self.held = rest.to_vec();
                none.insert(Sums { before, after })
            }
        };
        let kept = self.held.split_off(self.held.len().saturating_sub(SUM));
        let whole = mem::replace(&mut self.held, kept);
        sums.before.update(&whole);
        sums.after.update(&whole);
        sent.extend(whole);
        sent.into()
    }

    /// Its end: the object and the new sum.
    fn end(&mut self) -> Result<Bytes, Failure> {
        let sums = self.sums.take().map(|Sums { before, after }| (before.finish(), after));
        let Some((_, mut after)) = sums.filter(|(before, _)| before.as_ref() == self.held) else {
            return Err("a pack that breaks off".into());
        };
        let mut end = mem::take(&mut self.object);
        after.update(&end);
        end.extend_from_slice(after.finish().as_ref());
        Ok(end.into())
    }
}

#[cfg(test)]
mod tests {
    use ring::digest::digest;

    use super::*;

    fn pack(objects: &[&[u8]]) -> Vec<u8> {
        let head = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &(objects.len() as u32).to_be_bytes()].concat();
        let pack = [head, objects.concat()].concat();
        let sum = digest(&SHA1_FOR_LEGACY_USE_ONLY, &pack);
        [pack, sum.as_ref().to_vec()].concat()
    }

    fn along() -> Along {
        Along {
            name: "refs/hob/issues/7".to_owned(),
            old: "1".repeat(40).as_str().into(),
            new: "2".repeat(40).as_str().into(),
            packed: b"ledger".to_vec(),
        }
    }

    async fn joined(list: &str, pack: &[u8], size: usize) -> Result<Vec<u8>, String> {
        // The first part of the pack comes with the list.
        let (first, rest) = pack.split_at(size.min(pack.len()));
        let begun = [list.as_bytes(), first].concat();
        let parts: Vec<_> = rest.chunks(size.max(1)).map(|part| Ok(Bytes::copy_from_slice(part))).collect();
        let parts: Vec<_> = along().joined(begun, list.len(), stream::iter(parts)).collect().await;
        assert!(parts.iter().all(|part| part.as_ref().map_or(true, |part| !part.is_empty())));
        parts
            .into_iter()
            .map(|part| part.map_err(|error| error.to_string()))
            .collect::<Result<Vec<_>, _>>()
            .map(|parts| parts.concat())
    }

    #[tokio::test]
    async fn the_push_has_one_update_and_one_object_more_wherever_it_is_cut() {
        let own = "000ethe branch0000";
        let both = format!("000ethe branch0067{} {} refs/hob/issues/70000", "1".repeat(40), "2".repeat(40));
        for objects in [&[][..], &[b"one object".as_slice()], &[b"one".as_slice(), &[7; 300]]] {
            let before = pack(objects);
            let wanted = [both.as_bytes(), &pack(&[objects, &[b"ledger"]].concat())].concat();
            for size in 0..=before.len() {
                let after = joined(own, &before, size).await.unwrap();
                assert_eq!(after, wanted, "{size}");
                assert_eq!((after.len() - own.len() - before.len()) as u64, along().size());
            }
        }
    }

    #[tokio::test]
    async fn a_pack_that_breaks_off_is_sent_without_an_end() {
        let whole = pack(&[]);
        for length in 0..whole.len() {
            assert_eq!(joined("0000", &whole[..length], 5).await, Err("a pack that breaks off".to_owned()), "{length}");
        }
    }
}
