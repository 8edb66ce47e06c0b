use larderbook::item::Pantry;
use larderbook::recipe::Recipe;
use larderbook::shopping::list;

#[test]
fn an_empty_pantry_misses_everything() {
    let soup = Recipe::parse("Lentil soup\n300g lentils\n1l stock");
    assert_eq!(list(&Pantry::default(), &[soup]).len(), 2);
}
