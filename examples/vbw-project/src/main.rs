fn main() -> std::process::ExitCode {
    larderbook::cli::run(std::env::args().skip(1))
}
