//! JUnit's XML, which most runners can write: Maven's and Gradle's reports, `pytest --junitxml`, and others.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

/// The test whose element is open.
struct Open {
    name: String,
    end: TestEnd,
    /// Whether a failure has no message, so that what it says is between its marks.
    awaits_words: bool,
}

/// The tests of a report. `None` if it is none, or is cut off.
pub fn junit(text: &str) -> Option<TestResults> {
    let mut reader = Reader::from_str(text);
    let (mut results, mut open, mut is_report) = (TestResults::default(), None::<Open>, false);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => match element.local_name().as_ref() {
                b"testsuite" | b"testsuites" => is_report = true,
                b"testcase" => open = Some(Open { name: name(&element)?, end: TestEnd::Passed, awaits_words: false }),
                inner => note(open.as_mut(), inner, &element),
            },
            Event::Empty(element) => match element.local_name().as_ref() {
                b"testsuite" | b"testsuites" => is_report = true,
                b"testcase" => results.add(name(&element)?, TestEnd::Passed),
                inner => note(open.as_mut(), inner, &element),
            },
            Event::End(element) if element.local_name().as_ref() == b"testcase" => {
                if let Some(Open { name, end, .. }) = open.take() {
                    results.add(name, end);
                }
            }
            Event::Text(text) => {
                if let Some(open) = open.as_mut().filter(|open| open.awaits_words) {
                    open.end = failed(&String::from_utf8_lossy(&text));
                    open.awaits_words = false;
                }
            }
            Event::Eof => return (is_report && open.is_none()).then_some(results),
            _text => {}
        }
    }
}

/// Takes in an element within a test.
fn note(open: Option<&mut Open>, element: &[u8], start: &BytesStart<'_>) {
    let Some(open) = open else { return };
    open.end = match element {
        b"skipped" => TestEnd::Skipped,
        // Many runners write errors for all that no assertion said.
        b"failure" | b"error" => {
            let message = attribute(start, "message").unwrap_or_default();
            open.awaits_words = message.is_empty();
            failed(&message)
        }
        _other => return,
    };
}

/// The class and the name; of pytest, as it prints them.
fn name(element: &BytesStart<'_>) -> Option<String> {
    let name = attribute(element, "name")?;
    let class = attribute(element, "classname").unwrap_or_default();
    let file = attribute(element, "file").filter(|file| file.ends_with(".py"));
    if let Some(file) = file
        && let Some(inner) = class.strip_prefix(&file.trim_end_matches(".py").replace('/', "."))
    {
        let classes = inner.split('.').filter(|class| !class.is_empty());
        return Some([file.as_str()].into_iter().chain(classes).chain([name.as_str()]).collect::<Vec<_>>().join("::"));
    }
    Some(if class.is_empty() { name } else { format!("{class}.{name}") })
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok()??;
    Some(quick_xml::escape::unescape(&String::from_utf8_lossy(&found.value)).ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_maven_and_pytest_are_read() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
            <testsuites><testsuite name="pytest" tests="5">
            <testcase classname="tests.test_a" name="test_x[&lt;1&gt;]" time="0.001"/>
            <testcase classname="tests.test_a" name="test_y"><failure message="assert 1 == 2">def test_y(): …</failure></testcase>
            <testcase classname="tests.test_a" name="test_z"><error message="ImportError: no module"/></testcase>
            <testcase classname="" name="test_s"><skipped type="pytest.skip" message="slow"/></testcase>
            <testcase classname="tests.test_a.TestB" name="test_c" file="tests/test_a.py" line="3"/>
            <testcase classname="a.B" name="c"><system-out>ok</system-out></testcase>
            </testsuite></testsuites>"#;
        let results = junit(text).unwrap();
        let tests: Vec<_> = results.tests.into_iter().collect();
        assert_eq!(
            tests,
            [
                ("a.B.c".to_owned(), TestEnd::Passed),
                ("test_s".to_owned(), TestEnd::Skipped),
                ("tests.test_a.test_x[<1>]".to_owned(), TestEnd::Passed),
                ("tests.test_a.test_y".to_owned(), TestEnd::Failed),
                ("tests.test_a.test_z".to_owned(), TestEnd::Broken),
                ("tests/test_a.py::TestB::test_c".to_owned(), TestEnd::Passed),
            ]
        );
    }

    #[test]
    fn what_is_no_report_or_is_cut_off_is_none() {
        for text in ["", "<html></html>", "<testsuite><testcase name='a'>", "<testsuite><testcase", "&"] {
            assert_eq!(junit(text), None, "{text}");
        }
    }
}
