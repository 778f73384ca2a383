//! The program `mfma`, run as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A folder of its own for each test.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn mfma(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mfma"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Standard output of a run with this exit status; nothing on standard error unless it failed.
fn text(arguments: &[&str], status: i32) -> String {
    let output = mfma(arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {errors}"
    );
    assert_eq!(errors.is_empty(), status != 2, "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap() + &errors
}

fn json(arguments: &[&str], status: i32) -> Value {
    let mut all = vec!["--json"];
    all.extend(arguments);
    serde_json::from_str(&text(&all, status)).unwrap()
}

#[test]
fn every_command_has_help() {
    let help = text(&["--help"], 0);
    for command in ["info", "gemm", "sample", "validate", "compare", "bound"] {
        assert!(help.contains(command), "{help}");
        assert!(text(&[command, "--help"], 0).contains("Usage: mfma"));
    }
    assert!(help.contains("Exit status"));
    assert!(text(&["--version"], 0).starts_with("mfma 1."));
}

#[test]
fn info() {
    let table = text(&["info", "MI300X"], 0);
    assert!(table.contains("N_FMA") && table.contains("v_mfma_f32_32x32x8_f16"));
    assert!(!table.contains("Hopper"));
    let all = json(&["info"], 0);
    let units = all["units"].as_array().unwrap();
    assert_eq!(units.len(), mfma::model::capabilities().count());
    let fp16 = units
        .iter()
        .find(|unit| unit["arch"] == "CDNA3" && unit["a"] == "fp16")
        .unwrap();
    assert_eq!(fp16["params"]["late_sum_bits"], 32);
    assert_eq!(fp16["params"]["min_exponent"], Value::Null);
    assert!(text(&["info", "MI9"], 2).contains("unknown architecture or GPU 'MI9'"));
}

#[test]
fn gemm_on_files() {
    let folder = scratch("gemm");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (a, b, c, d) = (file("a.csv"), file("b.txt"), file("c.npy"), file("d.npy"));
    std::fs::write(&a, "# one row\n4096, 1, 1\n").unwrap();
    std::fs::write(&b, "4096\n1\n1\n").unwrap();
    // 2^24 + 1 + 1.
    assert_eq!(text(&["gemm", &a, &b, "--arch", "MI300X"], 0), "16777218\n");
    assert_eq!(text(&["gemm", &a, &b, "--arch", "V100"], 0), "16777216\n");
    assert!(text(&["gemm", &a, &b, "--arch", "MI300X", "-o", &d], 0).contains("1 x 1"));
    assert!(text(&["gemm", &a, &b, &d, "--arch", "MI300X", "--beta", "-1"], 0).starts_with('0'));
    let value = json(&["gemm", &a, &b, "--arch", "H100", "--alpha", "2"], 0);
    assert_eq!(value["d"], serde_json::json!([[33554436.0]]));
    std::fs::write(&c, "not NumPy").unwrap();
    assert!(text(&["gemm", &a, &b, &c, "--arch", "V100"], 2).contains("c.npy: not a NumPy file"));
    assert!(text(&["gemm", &b, &b, "--arch", "V100"], 2).contains("as many columns"));
    std::fs::write(&a, "1 2\n3\n").unwrap();
    assert!(text(&["gemm", &a, &b, "--arch", "V100"], 2).contains("a.csv: line 2: 1 numbers"));
    assert!(text(&["gemm", &file("no.csv"), &b, "--arch", "V100"], 2).contains("no.csv"));
}

#[test]
fn samples_are_written_compared_and_found() {
    let folder = scratch("sample");
    let (unit, drawing) = (
        ["--arch", "MI300X", "--format", "tf32"],
        ["-n", "20000", "--sampler", "directed"],
    );
    for name in ["cases.txt", "cases.bin", "cases"] {
        let path = folder.join(name).to_str().unwrap().to_string();
        let mut arguments = vec!["sample", &path];
        arguments.extend(unit);
        arguments.extend(if name == "cases" {
            // The words of a folder keep no NaN's payload.
            ["-n", "20000", "--sampler", "near-ties"]
        } else {
            drawing
        });
        assert!(text(&arguments, 0).starts_with("20000 cases for CDNA3 tf32 x tf32 -> fp32"));
        let found = json(&["compare", &path], 0);
        assert_eq!(found["cases"], 20000);
        let consistent = found["consistent"].as_array().unwrap();
        assert_eq!(consistent.len(), 1, "{name}");
        assert_eq!(consistent[0]["units"], serde_json::json!(["CDNA3"]));
        assert!(found["others"].as_array().unwrap().len() >= 5);
        let one = json(&["compare", &path, "--arch", "MI300X"], 0);
        assert_eq!(
            (&one["cases"], &one["mismatches"]),
            (&20000.into(), &0.into())
        );
        let other = json(&["compare", &path, "--arch", "H100"], 1);
        assert!(other["mismatches"].as_u64().unwrap() > 100);
        assert_eq!(other["mismatching"].as_array().unwrap().len(), 5);
        let set = ["--set", "late_total_bits=none", "--set", "late_sum_bits=31"];
        let mut arguments = vec!["compare", &path, "--arch", "MI300X"];
        arguments.extend(set);
        text(&arguments, 1);
    }
    // Inputs only: nothing to compare with.
    let path = folder.join("inputs.bin").to_str().unwrap().to_string();
    text(
        &[
            "sample",
            &path,
            "--arch",
            "MI100",
            "-n",
            "5",
            "--inputs-only",
        ],
        0,
    );
    assert!(text(&["compare", &path], 2).contains("no result d"));
    // Standard output.
    let lines = text(
        &[
            "sample", "--arch", "MI100", "-n", "3", "--first", "2", "-k", "2",
        ],
        0,
    );
    assert_eq!(lines.lines().count(), 3);
    let next = text(
        &[
            "sample", "--arch", "MI100", "-n", "1", "--first", "4", "-k", "2",
        ],
        0,
    );
    assert!(lines.ends_with(&next) && next.starts_with("2 a="));
    let value = json(
        &[
            "sample", "--arch", "MI100", "-n", "1", "--first", "4", "-k", "2",
        ],
        0,
    );
    assert!(next.contains(value["cases"][0]["c"].as_str().unwrap()));
}

#[test]
fn validate() {
    let table = text(&["validate", "--arch", "MI300X", "-n", "2e4"], 0);
    assert!(
        table.contains("CDNA3 fp16 x fp16 -> fp32  16  20000  0"),
        "{table}"
    );
    let all = json(
        &["validate", "--arch", "CDNA1,MI300X", "--all", "-n", "5000"],
        0,
    );
    assert_eq!(all.as_array().unwrap().len(), 3 + 9);
    let fault = [
        "--against-set",
        "late_sum_bits=31",
        "--sampler",
        "directed",
        "--stop-after",
        "1",
    ];
    let mut arguments = vec!["validate", "--arch", "MI300X", "-n", "1e6"];
    arguments.extend(fault);
    let found = json(&arguments, 1);
    assert_eq!(found["mismatches"], 1);
    assert_eq!(found["bound"], Value::Null);
    let case = &found["mismatching"][0];
    assert_ne!(case["expected"], case["got"]);
    assert_eq!(found["next"], case["case"].as_u64().unwrap() + 1);
    let other = [
        "validate",
        "--arch",
        "MI300X",
        "--against",
        "MI100",
        "-n",
        "1e4",
    ];
    assert!(text(&other, 1).contains("expected="));
    for (wrong, says) in [
        (["--sampler", "nice"], "unknown sampler 'nice'"),
        (["--set", "frame=1"], "no field 'frame'"),
        (["--against", "MI9"], "MI9"),
        (["--epsilon", "2"], "epsilon is 2"),
        (["--count", "1.5"], "a whole number"),
    ] {
        let mut arguments = vec!["validate", "--arch", "MI300X"];
        arguments.extend(wrong);
        assert!(text(&arguments, 2).contains(says), "{wrong:?}");
    }
}

#[test]
fn bound() {
    assert_eq!(text(&["bound", "1e7"], 0), "1.3815e-6\n");
    let half = json(&["bound", "2", "1", "--epsilon", "0.5"], 0);
    assert!((half["bound"].as_f64().unwrap() - 0.5).abs() < 1e-12);
    assert!(text(&["bound", "1", "2"], 2).contains("at most as many"));
}

/// A file that another program cut off is an error that names its line.
#[test]
fn malformed_dumps() {
    let folder = scratch("malformed");
    let path = folder.join("H100_fp16_fp32.txt");
    std::fs::write(
        &path,
        "1 a=3c00 b=3c00 c=00000000 d=3f800000\n1 a=3c00 b=3c00\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    for arch in ["auto", "H100"] {
        let message = text(&["compare", path, "--arch", arch], 2);
        assert!(message.contains("H100_fp16_fp32.txt:2: no c="), "{message}");
    }
    assert!(text(&["compare", "no such file"], 2).contains("no such file"));
    std::fs::write(path, "").unwrap();
    assert!(text(&["compare", path], 2).contains("no cases"));
}

#[test]
fn cases_on_standard_output() {
    let run = |arguments: &[&str]| {
        let mut all = vec!["sample", "--arch", "MI300X", "--sampler", "ties"];
        all.extend(arguments);
        text(&all, 0)
    };
    let ten = run(&[]);
    assert_eq!(ten.lines().count(), 10);
    assert!(ten.lines().all(|line| line.starts_with("16 a=")));
    assert_eq!(run(&["-"]), ten);
    if cfg!(target_os = "linux") {
        assert_eq!(run(&["/dev/stdout"]), ten);
    }
    // More than are made at a time, and no other line among them.
    let many = run(&["-n", "5e3", "-k", "1e0"]);
    assert_eq!(many.lines().count(), 5000);
    assert!(many.lines().all(|line| line.starts_with("1 a=")));
    let refused = |arguments: &[&str], says: &str| {
        let mut all = vec!["sample", "--arch", "MI300X"];
        all.extend(arguments);
        let message = text(&all, 2);
        assert!(message.contains(says), "{message}");
    };
    refused(
        &["-k", "1e15"],
        "k is 1000000000000000; allowed: 0 to 65536",
    );
    refused(&["-k", "1.5"], "'1.5'; allowed: a whole number");
    refused(
        &["--form", "binary"],
        "required arguments were not provided",
    );
    refused(
        &["-", "--form", "binary"],
        "--form binary does not go to standard output",
    );
}

/// Messages about names of dumps name the dump.
#[test]
fn dumps_with_odd_names() {
    let folder = scratch("odd");
    let refused = |name: &str, content: &str, arch: &str, says: &str| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        let message = text(&["compare", path.to_str().unwrap(), "--arch", arch], 2);
        let start = format!("{}: {says}", path.display());
        assert!(message.contains(&start), "{message}");
    };
    let case = "1 a=3c00 b=3c00 c=00000000 d=3f800000\n";
    let unsaid = "which formats the inputs have is said neither by the name";
    for arch in ["MI300X", "auto"] {
        refused("mine.txt", case, arch, unsaid);
        refused("MI300X_fp7_fp32.txt", case, arch, "unknown format 'fp7'");
    }
    let files = folder.join("empty");
    std::fs::create_dir(&files).unwrap();
    let message = text(&["compare", files.to_str().unwrap()], 2);
    let start = format!(
        "{}: 0 files are named a_<GPU>_<format>.txt",
        files.display()
    );
    assert!(message.contains(&start), "{message}");
}

/// A dump that says its formats or its instruction is read so by every command that takes one.
#[test]
fn dumps_are_what_they_say() {
    let folder = scratch("said");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let bf16 = path("bf16.txt");
    text(
        &[
            "sample", &bf16, "--arch", "MI300X", "--format", "bf16", "-n", "200",
        ],
        0,
    );
    let attribute = |more: &[&str]| {
        let mut arguments = vec!["attribute", &bf16, "--arch", "MI300X", "--other", "H100"];
        arguments.extend(more);
        json(&arguments, 1)["differing"].as_u64().unwrap()
    };
    assert_eq!(attribute(&[]), attribute(&["--format", "bf16"]));
    assert_ne!(attribute(&[]), attribute(&["--format", "fp16"]));
    let binary = path("bf16.bin");
    text(
        &[
            "sample", &binary, "--arch", "MI300X", "--format", "bf16", "-n", "200",
        ],
        0,
    );
    let same = json(
        &["attribute", &binary, "--arch", "MI300X", "--other", "H100"],
        1,
    );
    assert_eq!(same["differing"].as_u64().unwrap(), attribute(&[]));

    let instruction = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
    let by_instruction = path("fp8.txt");
    let unit = ["--arch", "H100", "--instruction", instruction];
    let mut arguments = vec!["sample", &by_instruction, "-n", "500"];
    arguments.extend(unit);
    text(&arguments, 0);
    let lines = std::fs::read_to_string(&by_instruction).unwrap();
    assert!(lines.contains(&format!("# instruction: {instruction}\n")));
    text(&["compare", &by_instruction, "--arch", "H100"], 0);
    text(
        &[
            "compare",
            &by_instruction,
            "--arch",
            "H100",
            "--format",
            "e4m3",
        ],
        1,
    );
}

#[test]
fn malformed_cases_are_refused() {
    let explain = |case: &str, status| text(&["explain", "--arch", "V100", case], status);
    let whole = explain("2 a=3c00,3c00 b=3c00,3c00 c=00000000 d=40000000", 0);
    assert_eq!(whole, explain("a=3c00,3c00 b=3c00,3c00", 0));
    for (case, says) in [
        (
            "a=3c00,13c00 b=3c00,3c00",
            "a[1] is '13c00'; allowed: 4 hexadecimal digits",
        ),
        ("a=3c00 b=3c00 c=1ffffffff", "c is '1ffffffff'"),
        ("5 a=3c00,3c00 b=3c00,3c00", "a has 2 elements, but K is 5"),
        ("a=3c00,3c00 b=3c00", "b has 1 elements, but K is 2"),
        ("b=3c00", "a case is a=<hex,...>"),
    ] {
        let said = explain(case, 2);
        assert!(said.contains(says), "{case}: {said}");
    }
    let folder = scratch("malformed-cases");
    let path = folder.join("k.txt").to_str().unwrap().to_string();
    std::fs::write(&path, "3 a=3c00,3c00 b=3c00,3c00 c=00000000\n").unwrap();
    let arguments = ["attribute", &path, "--arch", "V100", "--other", "H100"];
    assert!(text(&arguments, 2).contains("k.txt:1: a has 2 elements, but K is 3"));
}

#[test]
fn options_are_called_by_their_names() {
    let arguments = [
        "validate",
        "--arch",
        "V100",
        "--against-set",
        "late_sum_bit=31",
    ];
    let said = text(&arguments, 2);
    assert!(
        said.contains("--against-set late_sum_bit=31: no field 'late_sum_bit'"),
        "{said}"
    );
    let folder = scratch("beta");
    let path = folder.join("a.txt").to_str().unwrap().to_string();
    std::fs::write(&path, "1 2\n3 4\n").unwrap();
    text(&["gemm", &path, &path, "--arch", "V100"], 0);
    let said = text(&["gemm", &path, &path, "--arch", "V100", "--beta", "2"], 2);
    assert!(
        said.contains("required arguments") && said.contains("<C>"),
        "{said}"
    );
}
