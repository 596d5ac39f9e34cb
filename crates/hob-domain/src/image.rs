//! Images of an issue: which may go to a model, and where they are in the text that the forge renders.

use std::sync::Arc;

use imagesize::{ImageType, image_type};

/// Images that go to a model with one task.
pub const IMAGES_MAX: usize = 8;
/// Bytes of an image: in base64 they are the 5 MB that Anthropic's interface takes ("Vision", read 2026-11).
pub const IMAGE_BYTES_MAX: usize = 3_750_000;
/// Pixels of a side, from the same page.
const SIDE_MAX: usize = 8_000;
/// Characters of an image's name.
const NAME_MAX: usize = 100;

/// An image that a model can be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Its name for people.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Arc<[u8]>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {}, {} bytes)", self.name, self.media_type, self.bytes.len())
    }
}

/// A file that models are not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidImage {
    /// It is another kind of file.
    #[error("it is not a PNG, JPEG, GIF or WebP image")]
    Kind,
    /// It is several images, of which services take one or none.
    #[error("it moves")]
    Moving,
    /// It is too large a file.
    #[error("it has {0} bytes, more than {IMAGE_BYTES_MAX}")]
    Bytes(usize),
    /// It is too large an image.
    #[error("it has {0} by {1} pixels, and a side may have {SIDE_MAX}")]
    Pixels(usize, usize),
}

impl Image {
    /// Whether a file that begins so is an image of a kind that models are shown.
    pub fn is_one(start: &[u8]) -> bool {
        matches!(image_type(start), Ok(ImageType::Png | ImageType::Jpeg | ImageType::Gif | ImageType::Webp))
    }

    /// Reads an image by its content, regardless of its name.
    ///
    /// # Errors
    /// [`InvalidImage`] if models cannot be shown it.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, InvalidImage> {
        if bytes.len() > IMAGE_BYTES_MAX {
            return Err(InvalidImage::Bytes(bytes.len()));
        }
        let media_type = match image_type(&bytes) {
            Ok(ImageType::Png) => "image/png",
            Ok(ImageType::Jpeg) => "image/jpeg",
            Ok(ImageType::Gif) if moves(&bytes) => return Err(InvalidImage::Moving),
            Ok(ImageType::Gif) => "image/gif",
            Ok(ImageType::Webp) => "image/webp",
            Ok(_) | Err(_) => return Err(InvalidImage::Kind),
        };
        let size = imagesize::blob_size(&bytes).map_err(|_unreadable| InvalidImage::Kind)?;
        if size.width == 0 || size.height == 0 || size.width > SIDE_MAX || size.height > SIDE_MAX {
            return Err(InvalidImage::Pixels(size.width, size.height));
        }
        let (name, _) = hob_text::visible(name);
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME_MAX).collect();
        Ok(Self { name, media_type, bytes: bytes.into() })
    }
}

/// Whether a GIF says of several images how long each is shown.
fn moves(gif: &[u8]) -> bool {
    gif.windows(3).filter(|bytes| *bytes == [0x21, 0xf9, 0x04]).count() > 1
}

/// Whether Markdown may contain an image, so that it is worth requesting its rendering.
pub fn may_show_images(markdown: &str) -> bool {
    markdown.contains("![") || markdown.contains("<img")
}

/// The images in HTML that the forge rendered and cleaned: each address with its text, in order, without duplicates.
pub fn images_in(html: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for tag in html.split("<img").skip(1).filter_map(|rest| Some(&rest[..rest.find('>')?])) {
        let Some(address) = attribute(tag, "src") else { continue };
        if !address.is_empty() && found.iter().all(|(known, _)| *known != address) {
            found.push((address, attribute(tag, "alt").unwrap_or_default()));
        }
    }
    found
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0;
    Some(
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&#39;", "'")
            .replace("&amp;", "&"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest file that says how large the image is.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn only_images_of_a_sane_size_are_taken_whatever_they_are_called() {
        let image = Image::new("a\u{202e}\n shot", png(10, 20)).unwrap();
        assert_eq!((image.name.as_str(), image.media_type), ("a shot", "image/png"));
        let gif = b"GIF89a\x01\0\x01\0\0\0\0".to_vec();
        assert_eq!(Image::new("x.png", gif.clone()).unwrap().media_type, "image/gif");
        let frame = b"\x21\xf9\x04\0\0\0\0\0";
        assert_eq!(Image::new("x.gif", [&gif[..], frame, frame].concat()), Err(InvalidImage::Moving));
        assert_eq!(Image::new("x.png", b"BM\0\0\0\0".to_vec()), Err(InvalidImage::Kind));
        assert_eq!(Image::new("x.png", b"<svg/>".to_vec()), Err(InvalidImage::Kind));
        assert_eq!(Image::new("x.png", b"\x89PNG\r\n\x1a\n".to_vec()), Err(InvalidImage::Kind));
        assert_eq!(Image::new("x.png", Vec::new()), Err(InvalidImage::Kind));
        assert_eq!(Image::new("x", png(8_001, 1)), Err(InvalidImage::Pixels(8_001, 1)));
        assert_eq!(Image::new("x", png(0, 1)), Err(InvalidImage::Pixels(0, 1)));
        assert_eq!(Image::new("x", vec![0; IMAGE_BYTES_MAX + 1]), Err(InvalidImage::Bytes(IMAGE_BYTES_MAX + 1)));
    }

    #[test]
    fn images_are_found_in_rendered_text() {
        let html = r#"<p><a href="https://a.test/1?jwt=x&amp;y=z"><img src="https://a.test/1?jwt=x&amp;y=z" alt="The &quot;menu&quot;"></a>
            <img alt="" src="https://b.test/2"><img src="https://b.test/2"><img width="1"><img src="https://c.test/3""#;
        let found = images_in(html);
        let expected = [("https://a.test/1?jwt=x&y=z", "The \"menu\""), ("https://b.test/2", "")];
        assert_eq!(found, expected.map(|(address, text)| (address.to_owned(), text.to_owned())));
        assert!(may_show_images("![x](y)") && may_show_images("<img src=x>") && !may_show_images("plain [x](y)"));
    }
}
