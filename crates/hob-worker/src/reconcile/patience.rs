//! Operators' commands on an issue whose holder has written its end and not let it go yet: a person may answer before that.

use std::time::Duration;

use hob_forge::ForgeError;
use tokio::time::sleep;

use crate::{OperatorError, WorkError};

/// How long to wait before each further try, in milliseconds: a holder has a few writes left, which are a second apart.
const WAITS: [u64; 7] = [250, 500, 1_000, 1_000, 2_000, 3_000, 4_000];

/// The tries that are left.
#[derive(Default)]
pub(super) struct Patience {
    waited: usize,
}

impl Patience {
    /// Waits for the holder, if that is why the try failed; `false` if there is nothing to wait for any more.
    pub(super) async fn waits(&mut self, error: &OperatorError) -> bool {
        let is_held = matches!(error, OperatorError::Work(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))));
        let Some(wait) = WAITS.get(self.waited).filter(|_| is_held) else { return false };
        self.waited += 1;
        sleep(Duration::from_millis(*wait)).await;
        true
    }
}
