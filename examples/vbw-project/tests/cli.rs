use std::process::Command;

#[test]
fn an_unknown_command_is_a_usage_error() {
    let larderbook = env!("CARGO_BIN_EXE_larderbook");
    let status = Command::new(larderbook).arg("fly").status().unwrap();
    assert_eq!(status.code(), Some(2));
}
