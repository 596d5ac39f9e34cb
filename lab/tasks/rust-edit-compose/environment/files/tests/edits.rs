use edits::{Edit, History, Step};

fn greeting() -> Edit {
    let mut edit = Edit::new();
    edit.retain(6).delete(5).insert("there").retain(1);
    edit
}

#[test]
fn applies() {
    assert_eq!(greeting().apply("Hello world!").unwrap(), "Hello there!");
    assert!(greeting().apply("Hello!").is_err());
}

#[test]
fn keeps_the_normal_form() {
    let steps = [
        Step::Retain(6),
        Step::Insert("there".to_string()),
        Step::Delete(5),
        Step::Retain(1),
    ];
    assert_eq!(greeting().steps(), steps);
}

#[test]
fn undoes() {
    let mut history = History::new("Hello world!");
    history.perform(&greeting()).unwrap();
    assert!(history.undo().unwrap());
    assert_eq!(history.text(), "Hello world!");
    assert!(!history.undo().unwrap());
}
