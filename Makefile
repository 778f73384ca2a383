# mfma: build, demonstrate, test. `make help` lists the targets.

CARGO       ?= cargo
OCTAVE      ?= octave-cli
PREFIX      ?= /usr/local
DESTDIR     ?=

# One setting for every Octave started here: no user files, no windows.
OCTAVE_RUN   = $(OCTAVE) --no-gui --no-init-file --no-history --quiet

.PHONY: all help demo test check bench install uninstall octave-package clean \
        library cli mex header evidence test-rust test-octave test-slow

all: library                    ## build the library, and the Octave gateway where Octave is installed
	@if command -v mkoctfile >/dev/null 2>&1; then $(MAKE) --no-print-directory mex; fi

help:                           ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

library:
	@packaging/ensure.sh build
	$(CARGO) build --release

cli:                            ## build the program mfma
	@packaging/ensure.sh build
	$(CARGO) build --release --features cli --bin mfma

mex: library
	@packaging/ensure.sh octave
	$(OCTAVE_RUN) --eval "addpath matlab; mfma_build('quiet')"

demo: mex                       ## install what is missing, build, and run an MI300X product in Octave
	$(OCTAVE_RUN) octave/mi300x_demo.m

test: test-rust test-octave     ## run every test of every language

test-rust: library
	@packaging/ensure.sh test
	MFMA_TEST_CASES=$${MFMA_TEST_CASES:-1400000} $(CARGO) test --release --features cli

test-slow: library              ## 10^8 dot products a row of every kernel against the reference: some two hours
	MFMA_TEST_CASES=$${MFMA_TEST_CASES:-1e8} $(CARGO) test --release --test kernels -- --nocapture

test-octave: mex
	$(OCTAVE_RUN) octave/run_tests.m

check:                          ## formatting, lints, header drift, documentation
	@packaging/ensure.sh build
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --features cli -- -D warnings
	$(CARGO) run --release --quiet --example gen_header -- --check
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps

header:                         ## regenerate include/mfma.h
	$(CARGO) run --release --quiet --example gen_header

evidence:                       ## regenerate docs/evidence.md from test runs
	$(CARGO) run --release --example evidence

bench: library                  ## speed next to OpenBLAS sgemm in one process
	@packaging/ensure.sh bench
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(CARGO) bench --bench table

install: library                ## install library, headers and package files under PREFIX
	packaging/install.sh install "$(PREFIX)" "$(DESTDIR)"

uninstall:                      ## remove what install put there
	packaging/install.sh uninstall "$(PREFIX)" "$(DESTDIR)"

octave-package: library         ## a tarball that Octave's `pkg install` takes
	@packaging/ensure.sh octave
	octave/make_package.sh

clean:                          ## remove everything that was built
	$(CARGO) clean
	rm -f matlab/private/*.mex matlab/private/*.mexa64 mfma-*.tar.gz
