//! The formats in which runners name tests. Each reader takes the lines that it knows and leaves the others alone, because a
//! check's output is that of several programs.

mod go;
mod junit;
mod libtest;
mod marks;
mod nextest;
mod pytest;
mod rspec;
mod tap;
mod unittest;
mod vstest;

use hob_domain::TestResults;

pub use junit::junit;
pub use rspec::rspec;

/// A reader of a whole output.
type Reader = fn(&str) -> TestResults;

/// All readers of what programs print, each for lines that no other one takes.
const READERS: [Reader; 9] = [
    go::go,
    libtest::libtest,
    marks::marks,
    nextest::nextest,
    pytest::pytest,
    rspec::listed,
    tap::tap,
    unittest::unittest,
    vstest::vstest,
];

/// The tests that a check's output names.
pub fn printed(output: &str) -> TestResults {
    let plain = without_colours(output);
    READERS.iter().map(|read| read(&plain)).fold(TestResults::default(), TestResults::and)
}

/// A text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use hob_domain::TestEnd::{self, Broken, Failed, Passed, Skipped};

    fn named(output: &str) -> Vec<(String, TestEnd)> {
        printed(output).tests.into_iter().collect()
    }

    fn expect(output: &str, wanted: &[(&str, TestEnd)]) {
        let wanted: Vec<_> = wanted.iter().map(|(name, end)| ((*name).to_owned(), *end)).collect();
        assert_eq!(named(output), wanted, "{output}");
    }

    #[test]
    fn the_outputs_of_each_runner_are_read() {
        // cargo 1.91, libtest.
        expect(
            "running 3 tests\ntest money::rounds ... ok\ntest money::loses - should panic ... FAILED\ntest slow ... ignored, takes an hour\n\
             test src/lib.rs - slug (line 3) ... ok\n\ntest result: FAILED. 2 passed; 1 failed\n",
            &[
                ("money::loses", Failed),
                ("money::rounds", Passed),
                ("slow", Skipped),
                ("src/lib.rs - slug (line 3)", Passed),
            ],
        );
        // cargo-nextest 0.9.
        expect(
            "        PASS [   0.004s] (1/3) site money::rounds\n        FAIL [   0.005s] (2/3) site money::loses\n\
             \u{1b}[32;1m        PASS\u{1b}[0m [   0.006s] site::it \u{1b}[36mhttp::get\u{1b}[0m\n     SIGABRT [   0.1s] site money::aborts\n        SKIP [         ] site slow\n",
            &[
                ("site money::aborts", Failed),
                ("site money::loses", Failed),
                ("site money::rounds", Passed),
                ("site slow", Skipped),
                ("site::it http::get", Passed),
            ],
        );
        // go test -v, and -json.
        expect(
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- FAIL: TestB/empty (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC (0.00s)\n\
             FAIL\nFAIL\texample.org/a\t0.003s\n",
            &[
                ("example.org/a TestA", Passed),
                ("example.org/a TestB", Failed),
                ("example.org/a TestB/empty", Failed),
                ("example.org/a TestC", Skipped),
            ],
        );
        expect("FAIL\texample.org/b [build failed]\n", &[("example.org/b", Broken)]);
        expect(
            "{\"Time\":\"t\",\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\",\"Elapsed\":0}\n{\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"TestB\"}\n{\"Action\":\"pass\",\"Package\":\"a\"}\n",
            &[("a TestA", Passed), ("a TestB", Failed)],
        );
        // pytest 8 -v.
        expect(
            "tests/test_a.py::test_x PASSED                    [ 33%]\ntests/test_a.py::TestY::test_z[1-a b] FAILED [ 66%]\ntests/test_a.py::test_s SKIPPED (slow)  [100%]\n\
             FAILED tests/test_a.py::TestY::test_z[1-a b] - assert 1 == 2\nERROR tests/test_b.py - ModuleNotFoundError: No module named 'b'\n",
            &[
                ("tests/test_a.py::TestY::test_z[1-a b]", Failed),
                ("tests/test_a.py::test_s", Skipped),
                ("tests/test_a.py::test_x", Passed),
                ("tests/test_b.py", Broken),
            ],
        );
        // unittest -v, and its failures alone.
        expect(
            "test_a (tests.test_x.T.test_a) ... ok\ntest_b (tests.test_x.T.test_b)\nSays what it does. ... FAIL\ntest_c (tests.test_x.T.test_c) ... skipped 'slow'\n\
             test_d (tests.test_x.T.test_d) ... /a/test_x.py:9: ResourceWarning: unclosed file\n  open('d').read()\nok\n",
            &[
                ("tests.test_x.T.test_a", Passed),
                ("tests.test_x.T.test_b", Failed),
                ("tests.test_x.T.test_c", Skipped),
                ("tests.test_x.T.test_d", Passed),
            ],
        );
        expect(
            "..F\n======\nFAIL: test_b (tests.test_x.T.test_b)\n------\nTraceback (most recent call last):\nAssertionError: 1 != 2\n\n======\nERROR: test_c (tests.test_x.T.test_c)\n\
             ------\nNameError: name 'slug' is not defined\n\n------\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n",
            &[("tests.test_x.T.test_b", Failed), ("tests.test_x.T.test_c", Broken)],
        );
        // TAP of node 20, bats, prove -v.
        expect(
            "TAP version 13\n# Subtest: slug\n    # Subtest: cuts\n    ok 1 - cuts\n      ---\n      duration_ms: 0.5\n      ...\n    1..1\nok 1 - slug\nnot ok 2 - words\nok 3 - slow # SKIP not here\n\
             not ok 4 - later # TODO\n1..4\n",
            &[("slug › cuts", Passed), ("slow", Skipped), ("later", Skipped), ("words", Failed)]
                .iter()
                .copied()
                .collect::<std::collections::BTreeMap<_, _>>()
                .into_iter()
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn the_marks_of_runners_in_javascript_and_php_are_read() {
        // jest --verbose.
        expect(
            "PASS src/a.test.js\n  slug\n    ✓ cuts words (3 ms)\n    ✕ keeps accents (1 ms)\n    ○ skipped later\n\n  ● slug › keeps accents\n\n    expect(received).toBe(expected)\n",
            &[
                ("src/a.test.js › slug › cuts words", Passed),
                ("src/a.test.js › slug › keeps accents", Failed),
                ("src/a.test.js › slug › later", Skipped),
            ],
        );
        // mocha.
        expect(
            "\n  slug\n    ✔ cuts words\n    1) keeps accents\n    - later\n\n  1 passing (5ms)\n  1 pending\n  1 failing\n\n  1) slug\n       keeps accents:\n     AssertionError\n",
            &[("slug › cuts words", Passed), ("slug › keeps accents", Failed), ("slug › later", Skipped)],
        );
        // node 24, the reporter `spec`.
        expect(
            "▶ slug\n  ✔ cuts words (0.4ms)\n  ✖ keeps accents (0.2ms)\n▶ slug (1.2ms)\n﹣ later (0.1ms) # SKIP\nℹ tests 3\nℹ pass 1\n",
            &[("later", Skipped), ("slug › cuts words", Passed), ("slug › keeps accents", Failed)],
        );
        // vitest.
        expect(
            " ✓ src/a.test.ts > slug > cuts words 2ms\n × src/a.test.ts > slug > keeps accents 3ms\n",
            &[("src/a.test.ts > slug > cuts words", Passed), ("src/a.test.ts > slug > keeps accents", Failed)],
        );
        // phpunit --testdox.
        expect(
            "Slug (Tests\\Slug)\n ✔ Cuts words\n ✘ Keeps accents\n",
            &[("Slug (Tests\\Slug) › Cuts words", Passed), ("Slug (Tests\\Slug) › Keeps accents", Failed)],
        );
        // dotnet test.
        expect(
            "  Passed Site.Tests.Slug.Cuts [3 ms]\n  Failed Site.Tests.Slug.Keeps [1 ms]\n  Skipped Site.Tests.Slug.Later [1 ms]\n",
            &[("Site.Tests.Slug.Cuts", Passed), ("Site.Tests.Slug.Keeps", Failed), ("Site.Tests.Slug.Later", Skipped)],
        );
    }

    #[test]
    fn other_output_names_no_test() {
        expect("building\nok\nerror: x\n- a list\n1) first\nPASS\nFAIL\n✓ done\n2 tests passed\n", &[("done", Passed)]);
        expect("the test of it ... ok, it says\n--- a/x\n+++ b/x\n", &[]);
    }

    /// What runners really print of the same tests: one that passes, one that fails, one that names what is absent, one that
    /// is skipped; and of files that cannot be read.
    #[test]
    fn the_recordings_of_runners_are_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/formats/recordings");
        let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let mut told = String::new();
        for name in names {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            let name = name.into_string().unwrap();
            let results = match name.rsplit_once('.').unwrap() {
                (_, "xml") => junit(&text).unwrap(),
                ("rspec", "json") => rspec(&text).unwrap(),
                _output => printed(&text),
            };
            let more = if results.names_failures_alone { " (failures alone)" } else { "" };
            told.push_str(&format!("{name}{more}\n"));
            for (test, end) in results.tests {
                told.push_str(&format!("  {end:?} {test}\n"));
            }
        }
        insta::assert_snapshot!(told);
    }
}
