use larderbook::import::rows;

#[test]
fn a_row_without_a_quantity_is_reported() {
    let (events, skipped) = rows(include_str!("data/pantry-0.1.csv"), "import");
    assert_eq!((events.len(), skipped), (3, vec![4]));
}
