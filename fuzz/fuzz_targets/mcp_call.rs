#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| annals_fuzz::mcp_call(bytes));
