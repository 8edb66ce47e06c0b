//! The next action against what projects did next: in small made-up histories (`histories/`) each moment must be
//! answered rightly. The shares in real ones have floors in `src/plan/rules/tests.rs`.

mod accepted;
mod answer;
mod forms;
mod small;

#[test]
fn every_moment_of_the_small_histories_is_answered_rightly() {
    let missed: Vec<String> = small::moments()
        .iter()
        .filter(|moment| !moment.next.contains(&moment.answer.said()))
        .map(|moment| {
            let (story, next, said) = (&moment.story, &moment.next, moment.answer.said());
            format!("{story}: {next:?} came next, and status said {said:?}")
        })
        .collect();
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
}
