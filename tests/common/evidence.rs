//! The evidence as sets of vectors, each with the unit that must reproduce it.

use std::io::Read;
use std::path::{Path, PathBuf};

use mfma::format::recode;
use mfma::{Arch, Format, Model, Overflow, Rounding};

use super::{
    Case, Expected, parse_case, parse_file_name, parse_hex, parse_hex_list, read_cases, text_files,
};

/// Where vectors come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// Measured on GPUs.
    Measured,
    /// The paper's section 4.
    Paper,
    /// Cases drawn from problems met with other libraries.
    Directed,
    /// The toolbox's answers, where they are the hardware's, and the answers that replace them.
    Golden,
}

/// Vectors that one unit must reproduce.
pub struct Set {
    /// File, and line group where a file has vectors for several units.
    pub name: String,
    pub source: Source,
    pub arch: Arch,
    /// The instruction that leads to the unit, where the formats alone do not.
    pub instruction: Option<String>,
    pub model: Model,
    pub cases: Vec<Case>,
}

impl Set {
    /// What differs from the expected results, a line each.
    pub fn mismatches(&self, results: &[u64]) -> Vec<String> {
        assert_eq!(results.len(), self.cases.len(), "{}", self.name);
        let wrong = self
            .cases
            .iter()
            .zip(results)
            .filter(|(case, d)| !case.d.accepts(&self.model, **d));
        wrong
            .map(|(case, d)| format!("{}:{}: got {d:x}: {}", self.name, case.line, case.text))
            .collect()
    }
}

/// The vectors that are committed with the source.
pub fn committed_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Visits all sets of a folder: the committed one's, or the full evidence's.
pub fn visit(folder: &Path, visitor: &mut dyn FnMut(Set)) {
    golden(folder, visitor);
    paper(folder, visitor);
    directed(folder, visitor);
    measured(folder, visitor);
    h200(visitor);
}

/// tests/data/h200: vectors measured by this project (docs/measured.md), committed and nowhere else.
pub fn h200(visitor: &mut dyn FnMut(Set)) {
    for path in text_files(&committed_folder().join("h200")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("# instruction: "))
            .unwrap_or_else(|| panic!("{}: no instruction", path.display()));
        let (arch, instruction, model) = by_instruction(name, Arch::Hopper);
        visitor(Set {
            name: format!("h200/{}", path.file_name().unwrap().to_str().unwrap()),
            source: Source::Measured,
            arch,
            instruction,
            model,
            cases: read_cases(&path),
        });
    }
}

/// golden/*.txt
pub fn golden(folder: &Path, visitor: &mut dyn FnMut(Set)) {
    for path in text_files(&folder.join("golden")) {
        let (arch, input, output) = parse_file_name(&path);
        let name = format!("golden/{}", path.file_name().unwrap().to_str().unwrap());
        let cases = read_cases(&path);
        if arch == Arch::Cdna3 {
            visitor(as_toolbox(&name, input, &cases));
        }
        // The toolbox's RTXPRO6000TC calls its B200TC, so these answers, which no hardware gives, are also its.
        if arch == Arch::Blackwell
            && output == Format::Fp16
            && input != Format::Fp16
            && input.bytes() > 1
        {
            let arch = Arch::RtxBlackwell;
            visitor(Set {
                name: format!("{name} as {arch}"),
                source: Source::Golden,
                arch,
                instruction: None,
                model: Model::new(arch, input, input, output).unwrap(),
                cases: cases.clone(),
            });
        }
        visitor(Set {
            name,
            source: Source::Golden,
            arch,
            instruction: None,
            model: Model::new(arch, input, input, output).unwrap(),
            cases,
        });
    }
}

/// The same vectors for the variant `CDNA3-toolbox`: where the toolbox rounds otherwise, its answer is the one to reach.
/// What else it does otherwise (infinities lost, blocks of zeros refused) the variant does not follow.
fn as_toolbox(name: &str, input: Format, cases: &[Case]) -> Set {
    let arch = Arch::Cdna3Toolbox;
    let cases = cases.iter().filter_map(|case| match case.field("why=") {
        None => Some(case.clone()),
        Some("rounding-steps") => Some(Case {
            d: Expected::parse(case.field("toolbox=").unwrap()),
            ..case.clone()
        }),
        Some(_) => None,
    });
    Set {
        name: format!("{name} as {arch}"),
        source: Source::Golden,
        arch,
        instruction: None,
        model: Model::new(arch, input, input, Format::Fp32).unwrap(),
        cases: cases.collect(),
    }
}

/// directed_cases.txt: `<arch> <informat> <outformat> | <case> | <id>`.
pub fn directed(folder: &Path, visitor: &mut dyn FnMut(Set)) {
    let path = folder.join("directed_cases.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for (i, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
    {
        let [unit, case, id] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("directed_cases.txt:{}: {line}", i + 1);
        };
        let [arch, input, output] = unit.split(' ').collect::<Vec<_>>()[..] else {
            panic!("directed_cases.txt:{}: {unit}", i + 1);
        };
        let arch = Arch::from_name(arch).unwrap();
        let [input, output] = [input, output].map(|name| arch.format_from_name(name).unwrap());
        visitor(Set {
            name: format!("directed_cases.txt {id}"),
            source: Source::Directed,
            arch,
            instruction: None,
            model: Model::new(arch, input, input, output).unwrap(),
            cases: vec![parse_case(case, i + 1)],
        });
    }
}

/// A row of paper_vectors.tsv.
pub struct PaperRow {
    pub id: String,
    pub arch: Arch,
    pub instruction: Option<String>,
    pub model: Model,
    /// The row's wording allows more than one reading.
    pub ambiguous: bool,
    pub tag: String,
    pub note: String,
    pub case: Case,
}

/// paper_vectors.tsv, row by row.
pub fn paper_rows(folder: &Path) -> Vec<PaperRow> {
    let path = folder.join("paper_vectors.tsv");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().1.split('\t').collect();
    lines
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |name: &str| cells[columns.iter().position(|c| *c == name).unwrap()];
            let (arch, instruction, model) = paper_unit(cell("arch"), cell("informat"));
            let case = Case {
                a: parse_hex_list(cell("a")),
                b: parse_hex_list(cell("b")),
                c: parse_hex(cell("c")),
                d: match cell("expected") {
                    "nan-negative" => Expected::Nan,
                    hex => Expected::Bits(parse_hex(hex)),
                },
                line: i + 1,
                text: line.to_string(),
            };
            assert_eq!(case.a.len().to_string(), cell("k"), "{line}");
            PaperRow {
                id: cell("id").to_string(),
                arch,
                instruction,
                model,
                ambiguous: cell("flag") == "ambiguous",
                tag: cell("tag").to_string(),
                note: cell("note").to_string(),
                case,
            }
        })
        .collect()
}

/// "CDNA2-group2" is CDNA 2's older bfloat16 instruction, which adds two products at once.
fn paper_unit(arch: &str, input: &str) -> (Arch, Option<String>, Model) {
    if arch == "CDNA2-group2" {
        return by_instruction("v_mfma_f32_32x32x4bf16", Arch::Cdna2);
    }
    let arch = Arch::from_name(arch).unwrap();
    let input = arch.format_from_name(input).unwrap();
    let model = Model::new(arch, input, input, Format::Fp32).unwrap();
    (arch, None, model)
}

fn by_instruction(name: &str, arch: Arch) -> (Arch, Option<String>, Model) {
    let model = Model::from_instruction(name, arch).unwrap();
    (arch, Some(name.to_string()), model)
}

/// paper_vectors.tsv, a set for each unit; without the rows that can be read in several ways.
pub fn paper(folder: &Path, visitor: &mut dyn FnMut(Set)) {
    let mut sets: Vec<Set> = Vec::new();
    for row in paper_rows(folder).into_iter().filter(|row| !row.ambiguous) {
        match sets
            .iter_mut()
            .find(|set| set.arch == row.arch && set.model == row.model)
        {
            Some(set) => set.cases.push(row.case),
            None => sets.push(Set {
                name: "paper_vectors.tsv".to_string(),
                source: Source::Paper,
                arch: row.arch,
                instruction: row.instruction,
                model: row.model,
                cases: vec![row.case],
            }),
        }
    }
    sets.into_iter().for_each(visitor);
}

/// hardware.tar.xz: `<GPU>_<informat>_<outformat>.txt`, measured by the toolbox's authors. Nothing if it is absent.
pub fn measured(folder: &Path, visitor: &mut dyn FnMut(Set)) {
    let Ok(file) = std::fs::File::open(folder.join("hardware.tar.xz")) else {
        return;
    };
    let mut tarball = Vec::new();
    lzma_rs::xz_decompress(&mut std::io::BufReader::new(file), &mut tarball)
        .expect("hardware.tar.xz is not readable");
    for entry in tar::Archive::new(tarball.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        let (arch, input, output) = parse_file_name(&path);
        let name = path.file_name().unwrap().to_str().unwrap();
        let (arch, instruction, model) = measured_unit(arch, input, output);
        visitor(Set {
            name: format!("hardware.tar.xz/{name}"),
            source: Source::Measured,
            arch,
            instruction,
            model,
            cases: measured_cases(&text, arch, input, output),
        });
    }
}

/// The unit that a measurement ran on. 8-bit inputs were run through mma.sync on Blackwell, and on Hopper for binary16
/// output; for binary32 output Hopper's were run through wgmma.
fn measured_unit(arch: Arch, input: Format, output: Format) -> (Arch, Option<String>, Model) {
    let fp8 = input.bytes() == 1;
    if fp8 && (arch == Arch::Blackwell || arch == Arch::Hopper && output == Format::Fp16) {
        let d = if output == Format::Fp16 { "f16" } else { "f32" };
        let name = format!("mma.sync.aligned.m16n8k32.row.col.{d}.{input}.{input}.{d}");
        return by_instruction(&name, arch);
    }
    let model = Model::new(arch, input, input, output).unwrap();
    (arch, None, model)
}

/// The published c is a binary32 word: the measuring program rounded it to binary16 for binary16 output, and the wgmma
/// runs of 8-bit inputs on Hopper did not use it.
fn measured_cases(text: &str, arch: Arch, input: Format, output: Format) -> Vec<Case> {
    let unused = arch == Arch::Hopper && input.bytes() == 1 && output == Format::Fp32;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(i, line)| {
            let mut case = parse_case(line, i + 1);
            if unused {
                case.c = 0;
            } else if output == Format::Fp16 {
                case.c = recode(
                    Format::Fp32,
                    output,
                    case.c,
                    Rounding::NearestEven,
                    Overflow::Ieee,
                );
            }
            case
        })
        .collect()
}
