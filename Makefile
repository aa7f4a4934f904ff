# Entrain. `make demo` and `make test` need nothing but a Debian 12 with make; everything else they install.
PRESET ?= $(if $(filter true,$(CI)),ci,release)
JOBS ?= $(shell nproc)
SOURCES = include src models fmukit apps tests bench cmake python/src
BUILD = $(if $(filter release ci,$(PRESET)),build,build/$(PRESET))
TARGETS ?= entrain_program entrain_studio_program entrain_shared fmus
# TIER=fast: these tiers whole, in a few processes, without the tests that calculate or wait for seconds.
FAST = unit contract
# Tiers of many short tests: a few processes share them (tools/run_tiers); ctest starts one for every test, which takes longer.
SHARED = unit contract failure
SLOW = SpectralRadius.*:Faults.*:VerifySteps.*:Advice.*:AdvisedStep.*
TIERS = $(if $(filter fast,$(TIER)),$(FAST),$(TIER))
regex = $(subst $(eval ) ,|,$(strip $(1)))
CTEST = ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error

.PHONY: help setup build demo demo-bench python wheel deb docs test sanitize asan tsan check format tidy words layers links walk bench fuzz torture ranks same-bits install clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

setup: ## install what is missing for everything below (apt); a target alone installs only what it needs
	@tools/setup

build: ## the program at build/entrain, the library, the FMUs (PRESET=ci, dev, asan-ubsan or tsan; TARGETS=...)
	@tools/setup demo $(if $(filter asan-ubsan,$(PRESET)),clang)
	@tools/configure $(PRESET) $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target $(TARGETS)

demo: ## a coupled simulation, and where its result is
	@$(MAKE) --no-print-directory build TARGETS=demo
	@tools/demo

demo-bench: ## a rig over UDP, 12 paced runs that learn, and where the page is
	@$(MAKE) --no-print-directory build TARGETS=demo
	@tools/demo_bench

python: ## the Python package in the virtual environment build/python/environment: build/python/environment/bin/python
	@tools/setup demo python3-venv python3-dev
	@$(MAKE) --no-print-directory build TARGETS=python_package
	@tools/link_package $(BUILD)

wheel: ## a wheel that needs nothing of this machine, in build/python/wheels
	@tools/setup demo python3-venv python3-dev advancecomp
	@$(MAKE) --no-print-directory build TARGETS=python_package
	@tools/wheel $(BUILD)

deb: ## a package for Debian 12 in build/packages, and what it depends on; TRY=1 installs and tries it in a Debian of its own (root)
	@tools/setup demo dpkg-dev $(if $(TRY),debootstrap)
	@$(MAKE) --no-print-directory build
	@tools/deb $(BUILD)
	@$(if $(TRY),tools/try_deb $(BUILD))

docs: python ## all documents as pages (build/site), and the references: those that the program writes, and that of the Python API
	@$(MAKE) --no-print-directory build TARGETS='entrain_program fmus'
	@tools/references $(BUILD)
	@tools/python_environment python3 $(BUILD)/python/docs_environment python/docs_requirements.txt
	@tools/docs $(BUILD)

test: ## all tests (TESTS=regex for some; TIER=fast for what ends within a minute, or a tier: unit, contract, failure, ...)
	@tools/setup demo $(if $(TIER),,test)
	@$(MAKE) --no-print-directory build TARGETS='$(if $(TIER),$(TIERS:=_tests),tests)'
ifeq ($(TIER)$(TESTS),fast)
	@tools/run_tiers $(BUILD) $(FAST) --filter='-$(SLOW)' --jobs=$(JOBS)
else ifeq ($(TIER)$(TESTS),)
	@tools/run_tiers $(BUILD) $(SHARED) --jobs=$(JOBS)
	@$(CTEST) -LE '^($(call regex,$(SHARED)))$$'
else
	@$(CTEST) $(if $(TIER),-L '^($(call regex,$(TIERS)))$$') $(if $(TESTS),-R '$(TESTS)')
endif

sanitize: asan tsan ## the tests under sanitizers: asan, tsan

asan: ## unit, contract and failure tests, the fuzz corpora among them, under ASan and UBSan (built by Clang)
	@$(MAKE) --no-print-directory build TARGETS='entrain_program fmus test_fmus'
	@$(MAKE) --no-print-directory build PRESET=asan-ubsan TARGETS='unit_tests contract_tests failure_tests'
	@tools/run_sanitized build/asan-ubsan unit contract failure --jobs=$(JOBS)

tsan: ## thread tests under TSan
	@$(MAKE) --no-print-directory build PRESET=tsan TARGETS='contract_tests'
	@tools/run_sanitized build/tsan contract --filter='*Thread*' --jobs=$(JOBS)

check: words layers links ## words, format, dependencies of the rooms, clang-tidy on what changed
	@tools/setup demo check
	@find $(SOURCES) -name '*.[ch]' -o -name '*.[ch]pp' | xargs clang-format-14 --dry-run -Werror
	@tools/tidy $(if $(filter true,$(CI)),--units)

words: ## plain technical English in names, comments, messages and documents
	@tools/check_words

layers: ## rooms use only what lies beneath them: the includes, and the names of types and methods
	@tools/check_layers

links: ## the same for the symbols of the built libraries
	@$(MAKE) --no-print-directory build TARGETS=rooms
	@tools/check_links $(BUILD)

walk: ## the source files that a run passes on its way to the first step (needs valgrind, builds into build/walk)
	@tools/setup demo test
	@tools/walk

format: ## format all sources
	@tools/setup check
	@find $(SOURCES) -name '*.[ch]' -o -name '*.[ch]pp' | xargs clang-format-14 -i

tidy: ## clang-tidy on every file
	@tools/setup demo check
	@tools/tidy --all

bench: ## measured against the printed budgets; fails when one is exceeded
	@$(MAKE) --no-print-directory build TARGETS='benches python_package'
	@tools/bench

fuzz: ## long fuzzing of all readers of files (SECONDS_EACH=600; needs clang, installed on demand)
	@tools/fuzz

torture: ## random kills, crashes, hangs, NaN, exits, corrupted heaps, by seed: each has a clear verdict (N=1000 SEED=1)
	@tools/setup demo locales bubblewrap
	@$(MAKE) --no-print-directory build TARGETS=torture
	@tools/torture $(BUILD) --trials $(or $(N),1000) --seed $(or $(SEED),1)

ranks: ## runs and sweeps over MPI ranks, disturbed by seed: each has a clear verdict, no row is lost (N=100 SEED=1)
	@$(MAKE) --no-print-directory build TARGETS='torture entrain_mpi entrain_worker_program'
	@tools/ranks $(BUILD) --trials $(or $(N),100) --seed $(or $(SEED),1)

same-bits: ## every example with every method on 1, 2, 3 and 4 ranks with 1 and 2 threads, also by MPI alone (the tests make a part)
	@$(MAKE) --no-print-directory build TARGETS=same_bits
	@for memory in on off; do for ranks in 1 2 3 4; do for threads in 1 2; do \
	  echo "shared memory $$memory:"; ENTRAIN_RANKS_MEMORY=$$memory OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	  mpirun --oversubscribe --bind-to none -n $$ranks $(BUILD)/tests/same_bits examples $$threads $(BUILD)/tests/same-bits || exit 1; \
	done; done; done

install: build ## program, library, headers and examples (PREFIX=/usr/local)
	@cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

clean: ## remove everything built
	@rm -rf build build-pip-*
