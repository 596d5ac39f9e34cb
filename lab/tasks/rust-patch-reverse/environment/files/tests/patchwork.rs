use patchwork::Patch;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
const NEW: &str = "one\n2\nthree\nfour\nfour and a half\nfive\n";

const DIFF: &str = "\
@@ -1,5 +1,6 @@
 one
-two
+2
 three
 four
+four and a half
 five
";

#[test]
fn applies_and_reverses() {
    let patch: Patch = DIFF.parse().unwrap();
    assert_eq!(patch.apply(OLD).unwrap(), NEW);
    assert_eq!(patch.reverse().apply(NEW).unwrap(), OLD);
}

#[test]
fn creates_a_file() {
    let patch: Patch = "@@ -0,0 +1,2 @@\n+one\n+two\n".parse().unwrap();
    assert_eq!(patch.apply("").unwrap(), "one\ntwo\n");
}

#[test]
fn writes_what_it_read() {
    let patch: Patch = DIFF.parse().unwrap();
    assert_eq!(patch.to_string(), DIFF);
}
