use super::*;

#[test]
fn tables_are_in_the_order_of_their_enums() {
    for (i, row) in ARCHS.iter().enumerate() {
        assert_eq!(row.arch as usize, i, "{}", row.name);
    }
    for (i, row) in crate::format::FORMATS.iter().enumerate() {
        assert_eq!(row.format as usize, i, "{}", row.name);
    }
}

#[test]
fn every_row_is_a_valid_custom_unit_and_none_is_there_twice() {
    let rows: Vec<&Row> = catalogue().collect();
    for (i, row) in rows.iter().enumerate() {
        for &[a, b] in row.inputs {
            row.params.check([a, b], row.output).unwrap();
            let twin = rows[..i].iter().any(|other| {
                other.arch == row.arch
                    && other.output == row.output
                    && other.reach == Reach::Formats
                    && row.reach == Reach::Formats
                    && other.inputs.contains(&[a, b])
            });
            assert!(
                !twin,
                "{} {a} x {b} -> {} is there twice",
                row.arch, row.output
            );
        }
    }
}

mod names_of_instructions {
    use super::*;

    fn found(name: &str, arch: Arch) -> Instruction {
        Instruction::find(name, arch).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_row_with_an_instruction_is_that_instructions_row() {
        for row in catalogue().filter(|row| row.evidence != Evidence::NoHardware) {
            let instruction = found(row.instruction, row.arch);
            assert!(
                std::ptr::eq(instruction.row, row),
                "{} {} names another row: {:?}",
                row.arch,
                row.instruction,
                instruction.row
            );
            assert_eq!(instruction.name, row.instruction);
            assert!(instruction.k >= row.params.fma || row.arch == Arch::Volta);
        }
    }

    #[test]
    fn every_instruction_is_found_by_its_name_in_any_case() {
        for arch in ARCHS {
            for wanted in instructions(arch.arch) {
                for name in [wanted.name.clone(), wanted.name.to_uppercase()] {
                    let got = found(&name, arch.arch);
                    assert_eq!(
                        (got.m, got.n, got.k, got.blocks, got.a, got.b),
                        (
                            wanted.m,
                            wanted.n,
                            wanted.k,
                            wanted.blocks,
                            wanted.a,
                            wanted.b
                        ),
                        "{name}"
                    );
                    assert!(std::ptr::eq(got.row, wanted.row), "{name}");
                    assert_eq!(got.model().output(), wanted.row.output);
                }
            }
        }
    }

    #[test]
    fn amd_names_in_both_styles() {
        use Format::*;
        type Case = (Arch, &'static str, [u32; 4], [Format; 2], u32);
        let cases: &[Case] = &[
            (
                Arch::Cdna1,
                "v_mfma_f32_32x32x1f32",
                [32, 32, 1, 2],
                [Fp32; 2],
                1,
            ),
            (
                Arch::Cdna1,
                "v_mfma_f32_32x32x1_2b_f32",
                [32, 32, 1, 2],
                [Fp32; 2],
                1,
            ),
            (
                Arch::Cdna1,
                "mfma_f32_4x4x4f16",
                [4, 4, 4, 16],
                [Fp16; 2],
                4,
            ),
            (
                Arch::Cdna1,
                "V_MFMA_F32_16X16X8BF16",
                [16, 16, 8, 1],
                [Bf16; 2],
                2,
            ),
            (
                Arch::Cdna2,
                "v_mfma_f32_32x32x2bf16",
                [32, 32, 2, 2],
                [Bf16; 2],
                2,
            ),
            (
                Arch::Cdna2,
                "v_mfma_f32_32x32x4bf16",
                [32, 32, 4, 1],
                [Bf16; 2],
                2,
            ),
            (
                Arch::Cdna2,
                "v_mfma_f32_32x32x4bf16_1k",
                [32, 32, 4, 2],
                [Bf16; 2],
                4,
            ),
            (
                Arch::Cdna2,
                "v_mfma_f64_4x4x4f64",
                [4, 4, 4, 4],
                [Fp64; 2],
                1,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f64_4x4x4_4b_f64",
                [4, 4, 4, 4],
                [Fp64; 2],
                1,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f32_32x32x8_f16",
                [32, 32, 8, 1],
                [Fp16; 2],
                8,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f32_32x32x4_2b_f16",
                [32, 32, 4, 2],
                [Fp16; 2],
                4,
            ),
            (
                Arch::Cdna3,
                "__builtin_amdgcn_mfma_f32_32x32x4f16",
                [32, 32, 4, 2],
                [Fp16; 2],
                4,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f32_32x32x8bf16_1k",
                [32, 32, 8, 1],
                [Bf16; 2],
                8,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f32_16x16x8_xf32",
                [16, 16, 8, 1],
                [Tf32; 2],
                4,
            ),
            (
                Arch::Cdna3,
                "v_mfma_f32_16x16x32_bf8_fp8",
                [16, 16, 32, 1],
                [E5m2Fnuz, E4m3Fnuz],
                16,
            ),
        ];
        for &(arch, name, shape, formats, fma) in cases {
            let got = found(name, arch);
            assert_eq!([got.m, got.n, got.k, got.blocks], shape, "{name}");
            assert_eq!([got.a, got.b], formats, "{name}");
            assert_eq!(got.model().params().fma, fma, "{name}");
        }
    }

    #[test]
    fn nvidia_names() {
        use Format::*;
        type Case = (Arch, &'static str, [u32; 3], [Format; 3], u32);
        let cases: &[Case] = &[
            (
                Arch::Volta,
                "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16",
                [8, 8, 4],
                [Fp16; 3],
                4,
            ),
            (
                Arch::Turing,
                "wmma.mma.sync.aligned.col.col.m32n8k16.f32.f32",
                [32, 8, 16],
                [Fp16, Fp16, Fp32],
                8,
            ),
            (
                Arch::Ampere,
                "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
                [16, 8, 4],
                [Tf32, Tf32, Fp32],
                4,
            ),
            (
                Arch::Ada,
                "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16",
                [16, 8, 32],
                [E5m2, E4m3, Fp16],
                16,
            ),
            // Eight products an instruction, though the unit takes sixteen at once.
            (
                Arch::Hopper,
                "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
                [16, 8, 8],
                [Bf16, Bf16, Fp32],
                8,
            ),
            (
                Arch::Hopper,
                "wgmma.mma_async.sync.aligned.m64n248k32.f16.e4m3.e5m2",
                [64, 248, 32],
                [E4m3, E5m2, Fp16],
                32,
            ),
            (
                Arch::Hopper,
                "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
                [16, 8, 16],
                [Fp64; 3],
                1,
            ),
            (
                Arch::Blackwell,
                "tcgen05.mma.cta_group::2.kind::f16",
                [0, 0, 16],
                [Fp16, Fp16, Fp32],
                16,
            ),
            (
                Arch::Blackwell,
                "tcgen05.mma.ws.cta_group::1.kind::f8f6f4.f16.e5m2.e5m2",
                [0, 0, 32],
                [E5m2, E5m2, Fp16],
                32,
            ),
            (
                Arch::RtxBlackwell,
                "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32",
                [16, 8, 32],
                [E4m3, E5m2, Fp32],
                32,
            ),
        ];
        for &(arch, name, shape, [a, b, d], fma) in cases {
            let got = found(name, arch);
            assert_eq!([got.m, got.n, got.k], shape, "{name}");
            assert_eq!([got.a, got.b, got.row.output], [a, b, d], "{name}");
            assert_eq!(got.model().params().fma, fma, "{name}");
        }
        let fp8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
        for (arch, interleave) in [
            (Arch::Ada, Interleave::None),
            (Arch::Hopper, Interleave::Mod4),
            (Arch::Blackwell, Interleave::Mod4),
            (Arch::RtxBlackwell, Interleave::None),
        ] {
            assert_eq!(found(fp8, arch).model().params().interleave, interleave);
        }
    }

    #[test]
    fn unknown_names_are_refused_with_what_there_is() {
        let refused = |name: &str, arch: Arch, known: &str| {
            let error = Instruction::find(name, arch).unwrap_err();
            assert_eq!(error.code(), ErrorCode::UnknownInstruction);
            let message = error.message();
            assert!(
                message.contains(name) && message.contains(known),
                "{message}"
            );
        };
        refused(
            "",
            Arch::Cdna1,
            "v_mfma_f32_{32x32x2,16x16x2,4x4x2,32x32x4,16x16x8}bf16",
        );
        refused("v_mfma_f32_32x32x8bf16_1k", Arch::Cdna1, "CDNA1");
        refused(
            "v_mfma_f32_32x32x4_1b_f16",
            Arch::Cdna3,
            "v_mfma_f32_{32x32x16,16x16x32}_{fp8,bf8}_{fp8,bf8}",
        );
        refused("v_mfma_f32_32x32x4_xf32", Arch::Cdna2, "f64");
        refused(
            "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
            Arch::Hopper,
            "m64n{8,16,...,256}k16",
        );
        refused(
            "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
            Arch::Turing,
            "m16n8k8",
        );
        refused(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
            Arch::Ampere,
            "mma.sync",
        );
        refused(
            "v_mfma_f32_32x32x8_f16",
            Arch::Cdna3Toolbox,
            "no such hardware",
        );
        refused("v_mfma_f32_32x32x4bf16", Arch::Cdna3, "_bf16");
    }
}
