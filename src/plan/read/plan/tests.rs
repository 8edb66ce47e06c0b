use super::*;

fn parse(text: &str) -> Plan {
    Plan::parse(text, Path::new("phases/03-parser/03-01-PLAN.md")).value
}

fn names(text: &str) -> Vec<String> {
    let tasks = parse(text).tasks.into_iter();
    tasks.map(|task| task.name.unwrap_or_default()).collect()
}

#[test]
fn front_matter_is_read_as_stated() {
    let plan = parse(
        "---\nphase: 03-parser\nplan: 01\nwave: 2\ndepends_on: [03-00, \"02-01\"]\nfiles_modified:\n  - src/a.rs\neffort_override: thorough\nmust_haves:\n  truths:\n    - it parses\n  artifacts:\n    - path: src/a.rs\n      provides: Parser\n---\n# Phase 3 Plan 1: Parser\n",
    );
    assert_eq!((plan.phase.as_deref(), plan.plan.as_deref()), (Some("3"), Some("1")));
    assert_eq!(plan.title.as_deref(), Some("Phase 3 Plan 1: Parser"));
    assert_eq!(plan.wave, Some(2));
    assert_eq!(plan.depends_on.unwrap(), ["03-00", "02-01"]);
    assert_eq!(plan.files_modified.unwrap(), ["src/a.rs"]);
    assert_eq!(plan.effort_override.as_deref(), Some("thorough"));
    assert_eq!(plan.must_haves.unwrap(), ["it parses"]);
    assert_eq!(parse("---\nmust_haves: [a, b]\n---\n").must_haves.unwrap(), ["a", "b"]);
    assert_eq!(parse("# T\n").depends_on, None);
}

#[test]
fn must_haves_may_stand_in_a_section_of_the_body() {
    let plan = parse(
        "---\nphase: 3\n---\n# T\n\n## must_haves\n\n- it parses\n- it `writes`\n\n## Tasks\n\n- other\n",
    );
    assert_eq!(plan.must_haves.unwrap(), ["it parses", "it `writes`"]);
    assert_eq!(parse("# T\n\n## Tasks\n\n- other\n").must_haves, None);
}

#[test]
fn xml_headings_and_lists_are_tasks() {
    for (text, expected) in [
        (
            "<tasks>\n<task type=\"auto\">\n  <name>Task 1: Parser</name>\n  <action>\n```\n<task type=\"auto\">\n```\n</action>\n</task>\n\n<task id=\"2\">\n<name>Tests</name>\n</task>\n</tasks>\n## Notes\n### Task 9: no\n",
            &["Task 1: Parser", "Tests"][..],
        ),
        (
            "## Tasks\n\n### Task 1: Parser\n#### Task 1a\n### Task 2 \u{2014} Tests\n## Verification\n### Other\n",
            &["Task 1: Parser", "Task 2 \u{2014} Tests"],
        ),
        ("## Task 1: Parser\n\n## Task 2: Tests\n", &["Task 1: Parser", "Task 2: Tests"]),
        ("## Tasks\n### T1: Parser\n### T2 \u{2014} Tests\n", &["T1: Parser", "T2 \u{2014} Tests"]),
        ("## Plan\n### 1) Parser\n### 2) Tests\n", &["1) Parser", "2) Tests"]),
        (
            "## Tasks\n\n1. Parser\n   - detail\n2. Tests\n\n## Verify\n1. not this\n",
            &["Parser", "Tests"],
        ),
        ("## Tasks\n- [ ] Parser\n- [x] Tests\n", &["Parser", "Tests"]),
        ("<feature>\n  <name>Parser</name>\n  <behavior>x</behavior>\n</feature>\n", &["Parser"]),
        ("## \u{417}\u{430}\u{434}\u{430}\u{447}\u{438}\n\n1. **Parser**\n", &["**Parser**"]),
        ("## Context\n1. not a task\n", &[]),
    ] {
        assert_eq!(names(text), expected, "{text}");
    }
    let rows = "{\"p\":\"03\",\"n\":\"01\",\"t\":\"Parser\",\"w\":1,\"d\":[\"01-01\"],\"mh\":{\"tr\":[\"x\"]}}\n{\"id\":\"T1\",\"tp\":\"auto\",\"a\":\"Write it. Then more.\",\"f\":[\"a\"],\"v\":\"run\",\"done\":\"ok\"}\n";
    let plan = parse(rows);
    assert_eq!(plan.tasks[0].name.as_deref(), Some("Write it. Then more."));
    assert_eq!((plan.wave, plan.depends_on), (Some(1), Some(vec!["01-01".to_owned()])));
    assert_eq!(plan.must_haves.unwrap(), ["x"]);
}

#[test]
fn a_fence_left_open_in_the_context_does_not_swallow_the_tasks() {
    let text = "<context>\n<interfaces>\n```rust\nstruct A;\n```\n<!-- B\n```\n</interfaces>\n</context>\n<tasks>\n<task type=\"auto\">\n<name>Parser</name>\n</task>\n</tasks>\n";
    let names: Vec<_> = parse(text).tasks.into_iter().map(|task| task.name).collect();
    assert_eq!(names, [Some("Parser".to_owned())]);
}

#[test]
fn a_plan_says_what_it_lacks() {
    let complete = "---\nphase: 3\nplan: 1\nwave: 1\ndepends_on: []\nmust_haves: [a]\n---\n<task type=\"auto\">\n<name>Parser</name>\n<action>x</action>\n<verify>y</verify>\n</task>\n";
    assert_eq!(parse(complete).problems(), []);
    let messages: Vec<_> = parse("# T\n").problems().into_iter().map(|one| one.message).collect();
    assert_eq!(
        messages,
        ["the plan does not state wave, depends_on, must_haves", "the plan has no tasks"]
    );
}

#[test]
fn dependencies_must_be_in_an_earlier_wave() {
    let plan = |number: &str, wave: u32, depends_on: &str| {
        let text = format!(
            "---\nphase: 3\nplan: {number}\nwave: {wave}\ndepends_on: [{depends_on}]\n---\n"
        );
        Plan::parse(&text, Path::new("plan.md")).value
    };
    let messages = |plans: &[Plan]| -> Vec<String> {
        let number = |plan: &Plan| PlanNumber::parse(plan.plan.as_deref().unwrap()).unwrap();
        let numbers: Vec<PlanNumber> = plans.iter().map(number).collect();
        let warnings = check_waves(&3.into(), &numbers.iter().zip(plans).collect::<Vec<_>>());
        assert!(warnings.iter().all(|one| one.place.line == Some(5)));
        warnings.into_iter().map(|one| one.message).collect()
    };
    let fine = [plan("01", 1, "02-04"), plan("02", 2, "01"), plan("03", 3, "03-02, 03-01-PLAN")];
    assert_eq!(messages(&fine), Vec::<String>::new());
    assert_eq!(
        messages(&[plan("01", 1, "03-02"), plan("02", 2, "01")]),
        ["in wave 1, depends on 03-02, which is in wave 2"]
    );
    assert_eq!(
        messages(&[plan("01", 1, "03-02-parser"), plan("02", 1, "")]),
        ["in wave 1, depends on 03-02-parser, which is in wave 1"]
    );
    assert_eq!(messages(&[plan("01", 1, "1")]), ["in wave 1, depends on 1, which is in wave 1"]);
    assert_eq!(
        messages(&[plan("01", 1, "07")]),
        ["depends on 07, which is not a plan of this phase"]
    );
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(text in "(---\n)?((<task [a-z=\" ]{0,12}>|</task>|### Task [0-9]|```|[\\PC\n<>]{0,20})\n){0,12}\\PC*") {
        let plan = parse(&text);
        plan.problems();
        check_waves(&3.into(), &[(&1.into(), &plan)]);
    }
}
