#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mfma_fuzz::simple::run(data));
