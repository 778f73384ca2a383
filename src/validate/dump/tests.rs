use super::*;
use crate::model::Arch;
use crate::reference::dot_raw;
use crate::validate::sample::{Cases, Generator, Sampler, Sampling, Shape};

/// A folder of its own for each test.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mfma-dump-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn model(arch: Arch, format: Format, output: Format) -> Model {
    Model::new(arch, format, format, output).unwrap()
}

/// Writes 300 cases of a unit and reads them again.
fn round_trip(path: &Path, form: Form, model: &Model, results: bool) {
    let mut cases = Cases::new(5);
    // What a folder can hold: no NaNs, whose payloads its words do not keep.
    let sampling = Sampling {
        sampler: Sampler::ExponentMantissa,
        ..Sampling::default()
    };
    Generator::new(sampling, Shape::of(model, 5)).fill(0, 300, &mut cases);
    let plan = Plan {
        form,
        formats: Formats::of(model),
        k: 5,
        unit: "GPU".to_string(),
        instruction: None,
        results,
    };
    let result = |i| results.then(|| dot_raw(model.unit(), cases.a(i), cases.b(i), cases.c(i)));
    let mut writer = Writer::create(path, &plan).unwrap();
    for i in 0..cases.len() {
        writer
            .write(cases.a(i), cases.b(i), cases.c(i), result(i))
            .unwrap();
    }
    writer.finish().unwrap();
    let mut reader = Reader::open(path, Formats::of(model)).unwrap();
    for i in 0..cases.len() {
        let record = reader.read().unwrap().unwrap();
        assert_eq!(record.case, cases.case(i), "{form:?} {model:?}");
        assert_eq!(record.d, result(i).map(Recorded::Bits), "{form:?} {i}");
    }
    assert_eq!(reader.read().unwrap(), None);
    assert_eq!(reader.done(), 1.0);
    assert!(Label::of(path).unwrap().formats(Arch::Hopper).is_ok());
}

#[test]
fn what_is_written_comes_back() {
    let folder = scratch("round_trip");
    for unit in crate::model::capabilities() {
        let model = Model::from_params(unit.row.params, unit.a, unit.b, unit.row.output).unwrap();
        for results in [true, false] {
            round_trip(&folder.join("x.txt"), Form::Vectors, &model, results);
            round_trip(&folder.join("x.bin"), Form::Binary, &model, results);
            let inner = folder.join("inner");
            let _ = std::fs::remove_dir_all(&inner);
            round_trip(&inner, Form::Folder, &model, results);
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Lines and words as MATLAB Tensor Core's own files have them.
#[test]
fn toolbox_folder() {
    let folder = scratch("toolbox");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "a_H100_fp16.txt",
        "3f7aa000 3f87c000 \nbea68000 3fbf0000 \n",
    );
    write(
        "b_H100_fp16.txt",
        "3f194000 bf26a000 \n3f800000 c0000000 \n",
    );
    // 0.9 and 1 + 2^-12 in binary32.
    write(
        "c_H100_fp32.txt",
        "00111111011001100110011001100110\n00111111100000000000100000000000\n",
    );
    write(
        "d_H100_fp16.txt",
        "00111111011011010000000000000000\n01000000001110000010000000000000\n",
    );
    let label = Label::of(&folder).unwrap();
    assert_eq!(label.unit.as_deref(), Some("H100"));
    let formats = label.formats(Arch::Hopper).unwrap();
    assert_eq!(formats.output, Format::Fp16);
    let mut reader = Reader::open(&folder, formats).unwrap();
    let first = reader.read().unwrap().unwrap();
    assert_eq!(first.case.a, [0x3bd5, 0x3c3e]);
    // c is rounded to nearest even, as the measuring program does.
    assert_eq!(first.case.c, 0x3b33);
    assert_eq!(first.d, Some(Recorded::Bits(0x3b68)));
    assert_eq!(reader.read().unwrap().unwrap().case.c, 0x3c00);
    assert_eq!(reader.read().unwrap(), None);

    // A value that binary16 does not have, a result that is none, and a file that is too short.
    let failure = |name: &str, text: &str| {
        let before = std::fs::read_to_string(folder.join(name)).unwrap();
        write(name, text);
        let mut reader = Reader::open(&folder, formats).unwrap();
        let error = std::iter::repeat_with(|| reader.read())
            .find_map(Result::err)
            .unwrap();
        write(name, &before);
        assert_eq!(error.code(), ErrorCode::Malformed);
        error.message().to_string()
    };
    let message = failure("a_H100_fp16.txt", "3f7aa000 3f87c001\n");
    assert!(
        message.contains("a_H100_fp16.txt:1: 3f87c001 is no value of fp16"),
        "{message}"
    );
    let message = failure("a_H100_fp16.txt", "3f7aa000 3f87c000\n3f7aa000 3f87c0\n");
    assert!(message.contains("a_H100_fp16.txt:2: '3f87c0'"), "{message}");
    let message = failure("b_H100_fp16.txt", "3f194000\n");
    assert!(
        message.contains("b_H100_fp16.txt:1: 1 values, but a has 2"),
        "{message}"
    );
    let message = failure("c_H100_fp32.txt", "00111111011001100110011001100110\n");
    assert!(
        message.contains("c_H100_fp32.txt:2: the file ends"),
        "{message}"
    );
    let message = failure("d_H100_fp16.txt", "0011111101100110011001100110011x\n");
    assert!(message.contains("d_H100_fp16.txt:1:"), "{message}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn malformed_vectors_name_file_line_and_word() {
    let folder = scratch("malformed");
    let path = folder.join("bad.txt");
    let formats = Formats {
        a: Format::Fp16,
        b: Format::E4m3,
        output: Format::Fp32,
    };
    let good = "# a comment\n\n2 a=3c00,4000 b=38,b8 c=3f800000 d=nan why=x\n2 a=0000,0001 b=00,01 c=00000000\n";
    std::fs::write(&path, good).unwrap();
    let mut reader = Reader::open(&path, formats).unwrap();
    assert_eq!(reader.read().unwrap().unwrap().d, Some(Recorded::Nan));
    assert_eq!(reader.read().unwrap().unwrap().d, None);
    for (line, says) in [
        ("a=3c00", "begins with K"),
        ("1 a=3c00 b=38", "no c="),
        ("1 a=3c00 b=38 c=00000000 c=1", "c= is there twice"),
        (
            "2 a=3c00 b=38,38 c=00000000",
            "a has 1 elements, but K is 2",
        ),
        ("1 a=3c000 b=38 c=00000000", "a[0] is '3c000'"),
        ("1 a=3c00 b=038 c=00000000", "b[0] is '038'"),
        ("1 a=3c0 b=38 c=00000000", "a[0] is '3c0'"),
        ("1 a=3c00 b=38 c=3f8", "c is '3f8'"),
        ("1 a=+c00 b=38 c=00000000", "a[0] is '+c00'"),
        ("1 a=3c00 b=38 c=00000000 d=x", "d is 'x'"),
        ("1 a=3c00 b=38 c=00000000 word", "'word' is no key=value"),
    ] {
        std::fs::write(&path, format!("{good}{line}\n")).unwrap();
        let mut reader = Reader::open(&path, formats).unwrap();
        reader.read().unwrap();
        reader.read().unwrap();
        let error = reader.read().unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed);
        let message = error.message();
        assert!(
            message.contains("bad.txt:5: ") && message.contains(says),
            "{message}"
        );
    }
    let missing = Reader::open(&folder.join("missing.txt"), formats)
        .err()
        .unwrap();
    assert_eq!(missing.code(), ErrorCode::Io);
    assert!(missing.message().contains("missing.txt"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn cut_and_strange_binary_files() {
    let folder = scratch("binary");
    let path = folder.join("x.bin");
    let model = model(Arch::Hopper, Format::Fp16, Format::Fp32);
    let plan = Plan {
        form: Form::Binary,
        formats: Formats::of(&model),
        k: 2,
        unit: String::new(),
        instruction: None,
        results: true,
    };
    let mut writer = Writer::create(&path, &plan).unwrap();
    writer.write(&[1, 2], &[3, 4], 5, Some(6)).unwrap();
    assert!(writer.write(&[1], &[3], 5, Some(6)).is_err());
    assert!(writer.write(&[1, 2], &[3, 4], 5, None).is_err());
    writer.finish().unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(whole.len(), 48 + 16);
    assert_eq!(
        whole[48..],
        [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 0, 6, 0, 0, 0]
    );

    let fails = |bytes: &[u8], says: &str| {
        std::fs::write(&path, bytes).unwrap();
        let error = match Reader::open(&path, Formats::of(&model)) {
            Err(error) => error,
            Ok(mut reader) => std::iter::repeat_with(|| reader.read())
                .find_map(Result::err)
                .unwrap(),
        };
        assert_eq!(error.code(), ErrorCode::Malformed, "{error}");
        assert!(error.message().contains(says), "{error}");
    };
    fails(
        &whole[..60],
        "x.bin:record 0: the file ends after 12 of the record's 16 bytes",
    );
    fails(&whole[..20], "shorter than its header");
    let changed = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    fails(&changed(8, 2), "version is 2");
    fails(&changed(16, 99), "format 99");
    fails(&changed(20, 4), "formats are fp16 x bf16 -> fp32");
    fails(&changed(39, 1), "k is");
    // Unknown number of records: as many as there are.
    let mut open = whole.clone();
    open[40..48].fill(0xff);
    open.extend_from_slice(&whole[48..]);
    std::fs::write(&path, &open).unwrap();
    let mut reader = Reader::open(&path, Formats::of(&model)).unwrap();
    assert!(reader.read().unwrap().is_some() && reader.read().unwrap().is_some());
    assert!(reader.read().unwrap().is_none());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_dump_is_checked_case_by_case() {
    let folder = scratch("check");
    let path = folder.join("MI300X_fp16_fp32.txt");
    let unit = model(Arch::Cdna3, Format::Fp16, Format::Fp32);
    let plan = Plan {
        form: Form::Vectors,
        formats: Formats::of(&unit),
        k: 0,
        unit: "MI300X".to_string(),
        instruction: None,
        results: true,
    };
    let mut writer = Writer::create(&path, &plan).unwrap();
    // Lengths vary, and one result is wrong.
    let mut written = 0;
    for k in [8, 16, 3] {
        let mut cases = Cases::new(k);
        let sampling = Sampling {
            sampler: Sampler::AllDirected,
            ..Sampling::default()
        };
        Generator::new(sampling, Shape::of(&unit, k)).fill(0, 5000, &mut cases);
        for i in 0..cases.len() {
            let d = dot_raw(unit.unit(), cases.a(i), cases.b(i), cases.c(i));
            let d = if written == 7777 { d ^ 1 } else { d };
            writer
                .write(cases.a(i), cases.b(i), cases.c(i), Some(d))
                .unwrap();
            written += 1;
        }
    }
    writer.finish().unwrap();
    let label = Label::of(&path).unwrap();
    assert_eq!(label.unit.as_deref(), Some("MI300X"));
    let groups = candidates(&label).unwrap();
    assert_eq!(groups.len(), 1);
    let (_, found) = &groups[0];
    let models: Vec<Model> = found.iter().map(|candidate| candidate.model).collect();
    let mut calls = 0;
    let mut progress = |done: f64| {
        calls += 1;
        (0.0..=1.0).contains(&done)
    };
    let reports = check_dump(&path, &models, DumpCheck::default(), Some(&mut progress)).unwrap();
    assert!(calls >= 5);
    for (candidate, report) in found.iter().zip(&reports) {
        assert_eq!(report.cases, 15_000);
        if candidate.has(Arch::Cdna3) {
            assert_eq!(report.mismatches, 1);
            assert_eq!(report.first[0].index, 7777);
            assert_eq!(report.first[0].got, report.first[0].expected ^ 1);
        } else if !candidate.has(Arch::Cdna3Toolbox) {
            // (That variant differs in one case of some ten thousand.)
            assert!(report.mismatches > 10, "{:?}", candidate.names());
        }
    }
    let mut stop = |_: f64| false;
    let reports = check_dump(&path, &models, DumpCheck::default(), Some(&mut stop)).unwrap();
    assert!(reports[0].cancelled && reports[0].cases < 15_000);
    std::fs::remove_dir_all(folder).unwrap();
}
