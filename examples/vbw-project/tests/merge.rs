use larderbook::event::Event;
use larderbook::merge::merge;

#[test]
fn a_line_in_both_files_counts_once() {
    let event = Event::parse("1770112800\ttablet\t+\t2kg\trice").unwrap();
    assert_eq!(merge(vec![event.clone()], vec![event.clone()]), [event]);
}
