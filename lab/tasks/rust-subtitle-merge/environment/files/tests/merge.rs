use subtitles::{clashes, merge, Track};

const DIALOGUE: &str = "\
1
00:00:01,000 --> 00:00:02,500
Who goes there?

2
00:00:04,250 --> 00:00:06,000
Nobody.
";

const SIGNS: &str = "\
1
00:00:03,000 --> 00:00:05,000
[NO ENTRY]
";

#[test]
fn merges_by_start_time() {
    let merged = merge(&DIALOGUE.parse().unwrap(), &SIGNS.parse().unwrap());
    let texts: Vec<&str> = merged.cues.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["Who goes there?", "[NO ENTRY]", "Nobody."]);
    assert_eq!(clashes(&merged), [(1, 2)]);
}

#[test]
fn writes_what_it_read() {
    let track: Track = DIALOGUE.parse().unwrap();
    assert_eq!(track.to_string(), DIALOGUE);
}
