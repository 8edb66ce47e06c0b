use larderbook::quantity::Quantity;

#[test]
fn mass_is_kept_in_grams() {
    assert_eq!(Quantity::parse("2kg").unwrap().amount, 2000);
}

#[test]
fn mass_and_volume_do_not_add() {
    let (rice, milk) = (
        Quantity::parse("2kg").unwrap(),
        Quantity::parse("1l").unwrap(),
    );
    assert_eq!(rice.plus(milk), None);
}
