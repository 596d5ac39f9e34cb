use subtitles::{clashes, merge, Timestamp, Track};

fn millis(text: &str) -> u64 {
    text.parse::<Timestamp>().unwrap().as_millis()
}

fn track(text: &str) -> Track {
    text.parse().unwrap()
}

fn texts(track: &Track) -> Vec<&str> {
    track.cues.iter().map(|c| c.text.as_str()).collect()
}

#[test]
fn example_of_the_issue() {
    let a = track("1\n00:00:02,5 --> 00:00:04\nSecond line\n");
    let b = track("1\n00:00:02,040 --> 00:00:02,400\nFirst line\n");
    for merged in [merge(&a, &b), merge(&b, &a)] {
        assert_eq!(texts(&merged), ["First line", "Second line"]);
        assert_eq!(clashes(&merged), []);
    }
}

#[test]
fn microseconds_stay_in_place() {
    let mut t = track("1\n00:01:10.250000 --> 00:01:12.750000\nx\n");
    assert_eq!(t.to_string(), "1\n00:01:10,250 --> 00:01:12,750\nx\n");
    t.shift(-10_500);
    assert_eq!(t.to_string(), "1\n00:00:59,750 --> 00:01:02,250\nx\n");
}

#[test]
fn short_fractions() {
    assert_eq!(millis("00:00:00,1"), 100);
    assert_eq!(millis("00:00:00,0"), 0);
    assert_eq!(millis("00:00:00,12"), 120);
    assert_eq!(millis("00:00:00.05"), 50);
    assert_eq!(millis("00:00:00.50"), 500);
    assert_eq!(millis("00:00:07,9"), 7_900);
}

#[test]
fn long_fractions_are_cut_off() {
    assert_eq!(millis("00:00:00,0005"), 0);
    assert_eq!(millis("00:00:00,0019"), 1);
    assert_eq!(millis("00:00:00,9999"), 999);
    assert_eq!(millis("00:00:00,123456"), 123);
    assert_eq!(millis("00:00:00,000999"), 0);
    assert_eq!(millis("00:00:00.100000000"), 100);
    assert_eq!(millis("00:00:00.0123456789012345678901234567890123456789"), 12);
    assert_eq!(millis("00:00:00.9999999999999999999999999999999999999999"), 999);
}

#[test]
fn three_digits_and_none() {
    assert_eq!(millis("00:00:00,000"), 0);
    assert_eq!(millis("01:02:03,004"), 3_723_004);
    assert_eq!(millis("01:02:03.040"), 3_723_040);
    assert_eq!(millis("01:02:03,999"), 3_723_999);
    assert_eq!(millis("1:02:03"), 3_723_000);
    assert_eq!(millis("123:00:00,001"), 442_800_001);
}

#[test]
fn what_is_not_a_time() {
    for bad in [
        "", "00:00", "00:00:00,", "00:00:00.", "00:00:00,+5", "00:00:00,-5", "00:00:00,5s",
        "00:00:00,5 5", "00:00:00,1234x", "00:00:00,123,4", "00:00:00,123.4", "00:00:00,\u{e9}",
        "00:00:00,12\u{e9}", "00:00:00,1\u{20ac}2", "00:60:00,5", "00:00:60,5", "00:00:00:00,5",
        "+1:00:00,5", ",5", "00:00:00,123456 ",
    ] {
        assert!(bad.parse::<Timestamp>().is_err(), "{bad:?}");
    }
}

#[test]
fn hours_out_of_range_are_an_error() {
    assert!("99999999999999999999:00:00,5".parse::<Timestamp>().is_err());
    assert!("9999999999999999:00:00,5".parse::<Timestamp>().is_err());
}

#[test]
fn order_of_cues_that_start_together() {
    let a = track("1\n00:00:02,5 --> 00:00:03\na\n\n2\n00:00:02,50 --> 00:00:03\nb\n");
    let b = track("1\n00:00:02,5000 --> 00:00:03\nc\n");
    assert_eq!(texts(&merge(&a, &b)), ["a", "b", "c"]);
    assert_eq!(texts(&merge(&b, &a)), ["c", "a", "b"]);
}

#[test]
fn a_cue_must_not_end_before_it_starts() {
    // 2.40 s to 2.5 s is fine although 40 is more than 5.
    assert_eq!(track("1\n00:00:02,40 --> 00:00:02,5\nx\n").cues.len(), 1);
    let err = "1\n00:00:02,5 --> 00:00:02,40\nx\n".parse::<Track>().unwrap_err();
    assert_eq!(err.cue, 1);
    assert_eq!(err.message, "it ends before it starts");
}

#[test]
fn clashes_are_still_found() {
    let t = track("1\n00:00:01,0 --> 00:00:02,75\na\n\n2\n00:00:02,5 --> 00:00:03\nb\n");
    assert_eq!(clashes(&t), [(0, 1)]);
    let t = track("1\n00:00:01,0 --> 00:00:02,50\na\n\n2\n00:00:02,5 --> 00:00:03\nb\n");
    assert_eq!(clashes(&t), []);
}

#[test]
fn writing_and_shifting() {
    let mut t = track("7\r\n00:00:01,5 --> 00:00:02\r\ntwo\r\nlines\r\n\r\n\r\n9\r\n00:00:03 --> 100:00:04.25\r\nx\r\n");
    let text = "1\n00:00:01,500 --> 00:00:02,000\ntwo\nlines\n\n2\n00:00:03,000 --> 100:00:04,250\nx\n";
    assert_eq!(t.to_string(), text);
    assert_eq!(track(text), t);
    t.shift(-1_750);
    assert_eq!(t.cues[0].start, Timestamp::from_millis(0));
    assert_eq!(t.cues[0].end, Timestamp::from_millis(250));
}
