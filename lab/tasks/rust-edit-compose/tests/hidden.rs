use edits::{Edit, EditError, History, Step};

/// Builds an edit from "=3", "+text" and "-2".
fn edit(steps: &[&str]) -> Edit {
    let mut e = Edit::new();
    for step in steps {
        let rest = &step[1..];
        match &step[..1] {
            "=" => e.retain(rest.parse().unwrap()),
            "+" => e.insert(rest),
            "-" => e.delete(rest.parse().unwrap()),
            _ => panic!("{step}"),
        };
    }
    e
}

fn assert_normal(e: &Edit) {
    for step in e.steps() {
        match step {
            Step::Retain(n) | Step::Delete(n) => assert!(*n > 0, "{e:?}"),
            Step::Insert(text) => assert!(!text.is_empty(), "{e:?}"),
        }
    }
    for pair in e.steps().windows(2) {
        let good = !matches!(
            pair,
            [Step::Retain(_), Step::Retain(_)]
                | [Step::Insert(_), Step::Insert(_)]
                | [Step::Delete(_), Step::Delete(_)]
                | [Step::Delete(_), Step::Insert(_)]
        );
        assert!(good, "{e:?}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn text(&mut self, len: usize) -> String {
        const LETTERS: [char; 8] = ['a', 'b', 'c', 'd', '\u{e4}', '\u{3b1}', '\u{20ac}', '\u{1f600}'];
        (0..len).map(|_| LETTERS[self.below(8)]).collect()
    }

    fn edit(&mut self, len: usize) -> Edit {
        let mut e = Edit::new();
        let mut left = len;
        while left > 0 {
            let n = 1 + self.below(left.min(4));
            match self.below(5) {
                0 | 1 => {
                    e.retain(n);
                    left -= n;
                }
                2 | 3 => {
                    e.delete(n);
                    left -= n;
                }
                _ => {
                    let len = 1 + self.below(3);
                    e.insert(&self.text(len));
                }
            }
        }
        if self.below(3) == 0 {
            e.insert(&self.text(2));
        }
        e
    }
}

/// For each gap between the characters the text put in, for each character
/// whether it is retained.
fn model(e: &Edit) -> (Vec<String>, Vec<bool>) {
    let (mut gaps, mut kept) = (vec![String::new()], Vec::new());
    for step in e.steps() {
        match step {
            Step::Insert(text) => gaps.last_mut().unwrap().push_str(text),
            Step::Retain(n) | Step::Delete(n) => {
                for _ in 0..*n {
                    kept.push(matches!(step, Step::Retain(_)));
                    gaps.push(String::new());
                }
            }
        }
    }
    (gaps, kept)
}

/// What both edits together should make of a text.
fn merged(a: &Edit, b: &Edit) -> Edit {
    let ((a_gaps, a_kept), (b_gaps, b_kept)) = (model(a), model(b));
    let mut e = Edit::new();
    for i in 0..a_gaps.len() {
        e.insert(&a_gaps[i]).insert(&b_gaps[i]);
        if i < a_kept.len() {
            match a_kept[i] && b_kept[i] {
                true => e.retain(1),
                false => e.delete(1),
            };
        }
    }
    e
}

#[test]
fn compose_by_hand() {
    let cases: &[(&[&str], &[&str], &[&str])] = &[
        (&["=3"], &["=3"], &["=3"]),
        (&[], &[], &[]),
        (&["+ab"], &["-2"], &[]),
        (&["+abcd"], &["=1", "-2", "=1"], &["+ad"]),
        (&["+abcd"], &["=2", "+X", "=2"], &["+abXcd"]),
        (&["=2", "+ab", "=2"], &["-3", "+X", "=3"], &["+Xb", "-2", "=2"]),
        (&["=1", "-2", "=1"], &["=1", "+X", "=1"], &["=1", "+X", "-2", "=1"]),
        (&["-2", "=2"], &["-1", "+X", "=1"], &["+X", "-3", "=1"]),
        (&["=4"], &["=1", "-2", "=1"], &["=1", "-2", "=1"]),
        (&["-4"], &["+new"], &["+new", "-4"]),
        (&["=1", "+a", "=1"], &["=3", "+z"], &["=1", "+a", "=1", "+z"]),
        (&["=1", "+a", "=1"], &["=1", "-1", "=1"], &["=2"]),
        (&["+\u{20ac}\u{e4}", "=1"], &["=1", "-1", "=1"], &["+\u{20ac}", "=1"]),
    ];
    for (a, b, expected) in cases {
        assert_eq!(edit(a).compose(&edit(b)), Ok(edit(expected)), "{a:?} {b:?}");
    }
}

#[test]
fn compose_checks_lengths() {
    assert_eq!(
        edit(&["=2", "+\u{20ac}"]).compose(&edit(&["=5"])),
        Err(EditError::LengthMismatch { expected: 3, found: 5 })
    );
    assert_eq!(
        edit(&["-2"]).compose(&edit(&["-2"])),
        Err(EditError::LengthMismatch { expected: 0, found: 2 })
    );
    assert_eq!(
        edit(&["=2"]).compose(&edit(&["+x"])),
        Err(EditError::LengthMismatch { expected: 2, found: 0 })
    );
}

#[test]
fn compose_at_random() {
    let mut random = Random(1);
    for _ in 0..3000 {
        let len = random.below(10);
        let text = random.text(len);
        let a = random.edit(len);
        let b = random.edit(a.target_len());
        let c = random.edit(b.target_len());
        let ab = a.compose(&b).unwrap();
        assert_normal(&ab);
        assert_eq!(ab.base_len(), a.base_len());
        assert_eq!(ab.target_len(), b.target_len());
        let expected = b.apply(&a.apply(&text).unwrap()).unwrap();
        assert_eq!(ab.apply(&text).unwrap(), expected, "{a:?} {b:?}");
        assert_eq!(
            ab.compose(&c).unwrap(),
            a.compose(&b.compose(&c).unwrap()).unwrap(),
            "{a:?} {b:?} {c:?}"
        );
    }
}

#[test]
fn compose_with_nothing() {
    let mut random = Random(2);
    for _ in 0..200 {
        let len = random.below(10);
        let a = random.edit(len);
        let (mut before, mut after) = (Edit::new(), Edit::new());
        before.retain(a.base_len());
        after.retain(a.target_len());
        assert_eq!(before.compose(&a), Ok(a.clone()));
        assert_eq!(a.compose(&after), Ok(a.clone()));
    }
}

#[test]
fn transform_by_hand() {
    // a, b, a after b, b after a
    let cases: &[[&[&str]; 4]] = &[
        [&["+a", "=2"], &["=2", "+b"], &["+a", "=3"], &["=3", "+b"]],
        [&["=1", "+a", "=1"], &["=1", "+b", "=1"], &["=1", "+a", "=2"], &["=2", "+b", "=1"]],
        [&["-2", "=1"], &["-2", "=1"], &["=1"], &["=1"]],
        [&["-2", "=2"], &["=1", "-2", "=1"], &["-1", "=1"], &["-1", "=1"]],
        [&["-4"], &["=2", "+b", "=2"], &["-2", "=1", "-2"], &["+b"]],
        [&["=2", "+a", "=2"], &["-4"], &["+a"], &["-2", "=1", "-2"]],
        [&["+A", "-1"], &["+B", "-1"], &["+A", "=1"], &["=1", "+B"]],
        [&["=3"], &["=1", "-1", "=1"], &["=2"], &["=1", "-1", "=1"]],
        [&["+\u{20ac}"], &["+\u{e4}\u{e4}"], &["+\u{20ac}", "=2"], &["=1", "+\u{e4}\u{e4}"]],
        [&[], &[], &[], &[]],
    ];
    for [a, b, a2, b2] in cases {
        assert_eq!(edit(a).transform(&edit(b)), Ok((edit(a2), edit(b2))), "{a:?} {b:?}");
    }
}

#[test]
fn transform_checks_lengths() {
    assert_eq!(
        edit(&["=2", "+x"]).transform(&edit(&["=3"])),
        Err(EditError::LengthMismatch { expected: 2, found: 3 })
    );
    assert_eq!(
        edit(&["=3"]).transform(&edit(&["+x"])),
        Err(EditError::LengthMismatch { expected: 3, found: 0 })
    );
    assert_eq!(
        edit(&["+x"]).transform(&edit(&["-1"])),
        Err(EditError::LengthMismatch { expected: 0, found: 1 })
    );
}

#[test]
fn transform_at_random() {
    let mut random = Random(3);
    for _ in 0..3000 {
        let len = random.below(10);
        let text = random.text(len);
        let (a, b) = (random.edit(len), random.edit(len));
        let (a2, b2) = a.transform(&b).unwrap();
        assert_normal(&a2);
        assert_normal(&b2);
        let one = b2.apply(&a.apply(&text).unwrap()).unwrap();
        let other = a2.apply(&b.apply(&text).unwrap()).unwrap();
        assert_eq!(one, other, "{a:?} {b:?}");
        assert_eq!(one, merged(&a, &b).apply(&text).unwrap(), "{a:?} {b:?}");
        let composed = a.compose(&b2).unwrap();
        assert_eq!(composed, b.compose(&a2).unwrap(), "{a:?} {b:?}");
        assert_eq!(composed, merged(&a, &b));
    }
}

#[test]
fn perform_all_is_one_undo() {
    let mut history = History::new("Gr\u{fc}n");
    history.perform(&edit(&["=4", "+!"])).unwrap();
    history
        .perform_all(&[edit(&["+* ", "=5"]), edit(&["-1", "=6"]), edit(&["=2", "-3", "=1", "+?"])])
        .unwrap();
    assert_eq!(history.text(), " G!?");
    assert_eq!(history.undo(), Ok(true));
    assert_eq!(history.text(), "Gr\u{fc}n!");
    assert_eq!(history.undo(), Ok(true));
    assert_eq!(history.text(), "Gr\u{fc}n");
    assert_eq!(history.undo(), Ok(false));
}

#[test]
fn perform_all_or_nothing() {
    let mut history = History::new("abc");
    history.perform(&edit(&["=3", "+d"])).unwrap();
    for bad in [
        vec![edit(&["=4", "+e"]), edit(&["=4"])],
        vec![edit(&["=3"]), edit(&["=3"])],
        vec![edit(&["-4"]), edit(&["+x"]), edit(&["-2"])],
    ] {
        assert!(history.perform_all(&bad).is_err());
        assert_eq!(history.text(), "abcd");
    }
    assert_eq!(history.undo(), Ok(true));
    assert_eq!(history.text(), "abc");
    assert_eq!(history.undo(), Ok(false));
}

#[test]
fn perform_all_of_nothing() {
    let mut history = History::new("abc");
    assert_eq!(history.perform_all(&[]), Ok(()));
    assert_eq!(history.undo(), Ok(false));
    assert_eq!(history.perform_all(&[edit(&["-3"])]), Ok(()));
    assert_eq!(history.text(), "");
    assert_eq!(history.undo(), Ok(true));
    assert_eq!(history.text(), "abc");
    // A group that comes to nothing is a group all the same.
    assert_eq!(history.perform_all(&[edit(&["+x", "=3"]), edit(&["-1", "=3"])]), Ok(()));
    assert_eq!(history.undo(), Ok(true));
    assert_eq!(history.undo(), Ok(false));
}

#[test]
fn what_was_there_before() {
    let mut random = Random(4);
    for _ in 0..500 {
        let len = random.below(10);
        let text = random.text(len);
        let a = random.edit(len);
        let inverse = a.invert(&text).unwrap();
        assert_eq!(inverse.apply(&a.apply(&text).unwrap()).unwrap(), text);
        assert!(a.apply(&format!("{text}x")).is_err());
    }
}
