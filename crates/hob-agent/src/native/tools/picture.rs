//! Pictures that `read` shows to models that see: files of the folder, by their content, as many as one request can have.

use std::{
    io::Read as _,
    sync::{Mutex, PoisonError},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hob_domain::{IMAGE_BYTES_MAX, Image};

use crate::{
    folder::Folder,
    model::Picture,
    native::tools::{Answer, ToolError},
};

/// Pictures of one run. With those of the task they are the 20 beside which Anthropic's interface takes large ones ("Vision", read
/// 2026-11).
const MAX: usize = 12;
/// Bytes of their files: in base64 with the rest less than the 32 MB of that interface's requests.
const BYTES_MAX: usize = 12 << 20;
/// Bytes of a file that say what it is.
const HEAD: u64 = 32;

/// The pictures of a run.
#[derive(Debug)]
pub(in crate::native) struct Pictures {
    sees: bool,
    shown: Mutex<(usize, usize)>,
}

impl Pictures {
    /// None so far, for a model that `sees` them or not.
    pub(in crate::native) fn new(sees: bool) -> Self {
        Self { sees, shown: Mutex::default() }
    }

    /// The answer to who reads the whole file at `path`, if it is a picture.
    pub(super) fn answer(&self, path: &str, folder: &Folder) -> Result<Option<Answer>, ToolError> {
        // What is wrong with the file is told by reading it.
        let Ok(mut file) = folder.inside(path).and_then(|path| folder.open_file(&path, u64::MAX)) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        if file.by_ref().take(HEAD).read_to_end(&mut bytes).is_err() || !Image::is_one(&bytes) {
            return Ok(None);
        }
        if !self.sees {
            return Ok(Some(Answer::Text(format!("`{path}` is a picture, and this model does not see pictures"))));
        }
        let refused = |why: String| ToolError::Refused(format!("`{path}` is a picture that cannot be shown: {why}"));
        let most = u64::try_from(IMAGE_BYTES_MAX).unwrap_or(u64::MAX);
        file.take(most).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
        let image = Image::new(path, bytes).map_err(|error| refused(error.to_string()))?;
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, size) = (shown.0 + 1, shown.1 + image.bytes.len());
        if count > MAX || size > BYTES_MAX {
            return Err(refused(format!("a run shows {MAX} pictures, and {} MiB of them", BYTES_MAX >> 20)));
        }
        *shown = (count, size);
        let text = format!("[a picture: {}, {} bytes]", image.media_type, image.bytes.len());
        Ok(Some(Answer::Shown(text, picture(&image))))
    }
}

/// An image as models take it.
pub(in crate::native) fn picture(image: &Image) -> Picture {
    Picture { media_type: image.media_type.to_owned(), data: BASE64_STANDARD.encode(&image.bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest files that say how large the image is.
    fn files() -> [(&'static str, Vec<u8>); 4] {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0\0\0\0\0".to_vec();
        png.extend([0; 20]);
        let jpeg = b"\xff\xd8\xff\xc0\0\x11\x08\0\x03\0\x02\x03\x01\x22\0\x02\x11\x01\x03\x11\x01".to_vec();
        let gif = b"GIF89a\x02\0\x03\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x02\0\x03\0\0\x02\x02\x44\x01\0;".to_vec();
        let webp = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\x01\x80\0\0\0\0\0\0\0\0\0\0".to_vec();
        [("image/png", png), ("image/jpeg", jpeg), ("image/gif", gif), ("image/webp", webp)]
    }

    #[test]
    fn a_picture_is_known_by_its_content_and_shown_to_a_model_that_sees() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let (sees, blind) = (Pictures::new(true), Pictures::new(false));
        for (media_type, bytes) in files() {
            std::fs::write(dir.path().join("a.txt"), &bytes).unwrap();
            let Ok(Some(Answer::Shown(text, picture))) = sees.answer("a.txt", &folder) else { panic!("{media_type}") };
            assert_eq!(text, format!("[a picture: {media_type}, {} bytes]", bytes.len()));
            assert_eq!(picture, Picture { media_type: media_type.to_owned(), data: BASE64_STANDARD.encode(&bytes) });
            let Ok(Some(Answer::Text(text))) = blind.answer("a.txt", &folder) else { panic!("{media_type}") };
            assert_eq!(text, "`a.txt` is a picture, and this model does not see pictures");
        }
        std::fs::write(dir.path().join("b.png"), "words").unwrap();
        for other in ["b.png", "none.png", "../a.png", "."] {
            assert!(matches!(sees.answer(other, &folder), Ok(None)), "{other}");
        }
    }

    #[test]
    fn what_no_service_takes_is_refused_and_a_run_has_so_many() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let pictures = Pictures::new(true);
        let refusal = |bytes: &[u8]| {
            std::fs::write(dir.path().join("a"), bytes).unwrap();
            pictures.answer("a", &folder).unwrap_err().to_string()
        };
        let [(_, png), _, (_, gif), _] = files();
        let large = [&png[..], &vec![0; IMAGE_BYTES_MAX]].concat();
        assert!(refusal(&large).ends_with("bytes, more than 3750000"), "{}", refusal(&large));
        let moving = [&gif[..19], b"\x21\xf9\x04\0\0\0\0\0", b"\x21\xf9\x04\0\0\0\0\0", &gif[19..]].concat();
        assert!(refusal(&moving).contains("moves"), "{}", refusal(&moving));
        std::fs::write(dir.path().join("a"), &png).unwrap();
        (0..MAX).for_each(|_| assert!(pictures.answer("a", &folder).is_ok()));
        assert!(refusal(&png).ends_with("a run shows 12 pictures, and 12 MiB of them"));
    }
}
