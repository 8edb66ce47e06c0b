use larderbook::alerts::{low, Thresholds};
use larderbook::event::Event;
use larderbook::item::Pantry;

#[test]
fn an_item_under_its_threshold_is_low() {
    let pantry: Pantry = Event::parse("1770112800\ttablet\t+\t200g\trice")
        .into_iter()
        .collect();
    let thresholds = Thresholds::from([("rice".to_owned(), 500)]);
    assert_eq!(low(&pantry, &thresholds), ["rice"]);
}
