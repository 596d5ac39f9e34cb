//! Version 1 of the record, read as version 2. No release wrote it.
//!
//! The conversion works on the JSON, so that fields that this Hob does not know stay as they are.

use crate::issue::record_message::Fields;

/// The fields of a record of version 1, as version 2 has them.
pub(crate) fn upgraded(fields: Fields) -> Fields {
    fields
}
