use patchwork::{ApplyError, Hunk, Line, Patch, Range};

fn patch(text: &str) -> Patch {
    text.parse().unwrap()
}

fn lines(words: &str) -> String {
    words.split_whitespace().map(|w| format!("{w}\n")).collect()
}

/// Checks both directions, and that both patches survive being written.
fn check(old: &str, diff: &str, new: &str) {
    let (old, new) = (lines(old), lines(new));
    let forward = patch(diff);
    let backward = forward.reverse();
    assert_eq!(forward.apply(&old).unwrap(), new, "{diff}");
    assert_eq!(backward.apply(&new).unwrap(), old, "reverse of {diff}");
    assert_eq!(forward.to_string(), diff);
    assert_eq!(patch(&backward.to_string()), backward);
    assert_eq!(backward.reverse(), forward);
}

#[test]
fn example_of_the_issue() {
    check("one two three four", "@@ -3 +2,0 @@\n-three\n", "one two four");
    let reversed = patch("@@ -3 +2,0 @@\n-three\n").reverse();
    assert_eq!(reversed.to_string(), "@@ -2,0 +3 @@\n+three\n");
}

#[test]
fn insertion_without_context() {
    check("a b c d", "@@ -3,0 +4,2 @@\n+x\n+y\n", "a b c x y d");
    check("a b c d", "@@ -1,0 +2 @@\n+x\n", "a x b c d");
}

#[test]
fn at_the_beginning() {
    check("a b", "@@ -0,0 +1 @@\n+x\n", "x a b");
    check("x y a b", "@@ -1,2 +0,0 @@\n-x\n-y\n", "a b");
}

#[test]
fn at_the_end() {
    check("a b", "@@ -2,0 +3,2 @@\n+x\n+y\n", "a b x y");
    check("a b x", "@@ -3 +2,0 @@\n-x\n", "a b");
}

#[test]
fn from_and_to_nothing() {
    check("", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x y");
    check("x y", "@@ -1,2 +0,0 @@\n-x\n-y\n", "");
}

#[test]
fn several_hunks_without_context() {
    let diff = "@@ -0,0 +1 @@\n+start\n@@ -2 +2,0 @@\n-b\n@@ -4 +4,2 @@\n-d\n+D\n+DD\n\
                @@ -5,0 +7 @@\n+e2\n@@ -7 +8,0 @@\n-g\n";
    check("a b c d e f g", diff, "start a c D DD e e2 f");
}

#[test]
fn a_hunk_right_after_another() {
    // Not what diff prints, but ranges that touch are in order.
    check("a b c", "@@ -2 +1,0 @@\n-b\n@@ -2,0 +2 @@\n+x\n", "a x c");
    check("a b c", "@@ -1,0 +2 @@\n+x\n@@ -2 +2,0 @@\n-b\n", "a x c");
}

#[test]
fn with_context() {
    check(
        "a b c d e",
        "@@ -1,4 +1,4 @@\n a\n-b\n c\n+x\n d\n",
        "a c x d e",
    );
    check("a b c", "@@ -1 +1,2 @@\n+x\n a\n", "x a b c");
    check("a b c", "@@ -3 +3 @@\n-c\n+C\n", "a b C");
}

#[test]
fn missing_line_feed_at_the_end() {
    let diff = "@@ -2 +2,2 @@\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n";
    let p = patch(diff);
    assert_eq!(p.apply("a\nb").unwrap(), "a\nb\nc");
    assert_eq!(p.reverse().apply("a\nb\nc").unwrap(), "a\nb");
    assert_eq!(p.to_string(), diff);
}

#[test]
fn file_names_and_sections_are_dropped() {
    let p = patch("--- old\n+++ new\n@@ -2,0 +3 @@ fn main() {\n+x\n");
    assert_eq!(p.to_string(), "@@ -2,0 +3 @@\n+x\n");
    assert_eq!(
        p.hunks,
        [Hunk {
            old: Range { start: 2, len: 0 },
            new: Range { start: 3, len: 1 },
            lines: vec![Line::Add("x\n".to_string())],
        }]
    );
}

#[test]
fn beyond_the_end() {
    let text = lines("a b c");
    for diff in ["@@ -4,0 +5 @@\n+x\n", "@@ -4 +3,0 @@\n-d\n", "@@ -3,2 +3 @@\n c\n-d\n"] {
        assert_eq!(patch(diff).apply(&text), Err(ApplyError::OutOfRange { hunk: 1 }), "{diff}");
    }
    let diff = "@@ -1,0 +2 @@\n+x\n@@ -9,0 +11 @@\n+x\n";
    assert_eq!(patch(diff).apply(&text), Err(ApplyError::OutOfRange { hunk: 2 }));
    assert_eq!(
        patch("@@ -1,0 +2 @@\n+x\n").apply(""),
        Err(ApplyError::OutOfRange { hunk: 1 })
    );
}

#[test]
fn out_of_order() {
    let text = lines("a b c d");
    for diff in [
        "@@ -3 +2,0 @@\n-c\n@@ -2,0 +2 @@\n+x\n",
        "@@ -3 +2,0 @@\n-c\n@@ -1 +0,0 @@\n-a\n",
        "@@ -2,2 +1,0 @@\n-b\n-c\n@@ -2,0 +2 @@\n+x\n",
        "@@ -1 +0,0 @@\n-a\n@@ -0,0 +1 @@\n+x\n",
    ] {
        assert_eq!(patch(diff).apply(&text), Err(ApplyError::OutOfOrder { hunk: 2 }), "{diff}");
    }
}

#[test]
fn mismatch() {
    let text = lines("a b c");
    assert_eq!(
        patch("@@ -1,0 +2 @@\n+x\n@@ -3 +3,0 @@\n-d\n").apply(&text),
        Err(ApplyError::Mismatch { hunk: 2, line: 3 })
    );
    assert_eq!(
        patch("@@ -2 +2,2 @@\n a\n+x\n").apply(&text),
        Err(ApplyError::Mismatch { hunk: 1, line: 2 })
    );
}

/// Writes the difference of two texts without context. `kept` pairs the lines
/// (from 0) that stay.
fn diff_without_context(old: &[String], new: &[String], kept: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let (mut i, mut j) = (0, 0);
    let end = [(old.len(), new.len())];
    for &(k, l) in kept.iter().chain(&end) {
        if k > i || l > j {
            let range = |from: usize, to: usize| match to - from {
                0 => format!("{from},0"),
                1 => format!("{to}"),
                n => format!("{},{n}", from + 1),
            };
            out += &format!("@@ -{} +{} @@\n", range(i, k), range(j, l));
            out.extend(old[i..k].iter().map(|line| format!("-{line}")));
            out.extend(new[j..l].iter().map(|line| format!("+{line}")));
        }
        (i, j) = (k + 1, l + 1);
    }
    out
}

#[test]
fn many_diffs_without_context() {
    let mut state = 12345u32;
    let mut random = |n: u32| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 16) % n
    };
    for _ in 0..500 {
        let (mut old, mut new, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..random(12) {
            let line = format!("line {i}\n");
            match random(4) {
                0 => old.push(line),
                1 => new.push(line),
                _ => {
                    kept.push((old.len(), new.len()));
                    old.push(line.clone());
                    new.push(line);
                }
            }
        }
        let p = patch(&diff_without_context(&old, &new, &kept));
        assert_eq!(p.apply(&old.concat()).unwrap(), new.concat());
        assert_eq!(p.reverse().apply(&new.concat()).unwrap(), old.concat());
    }
}
