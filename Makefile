# Entrain. `make demo` and `make test` need nothing but a Debian 12 with make; everything else they install.
PRESET ?= release
JOBS ?= $(shell nproc)
SOURCES = include src models fmukit apps tests bench cmake
# Tests that load FMUs, by name.
WITH_FMUS = Fmu|fmu[23]|Exchange|Ball|IntermediateUpdate
BUILD = $(if $(filter release,$(PRESET)),build,build/$(PRESET))

.PHONY: help setup build demo test sanitize check format tidy layers bench fuzz install clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

setup: ## install what is missing (apt)
	@tools/setup

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | setup
	@cmake --preset $(PRESET) > build/configure-$(PRESET).log 2>&1 || { cat build/configure-$(PRESET).log; exit 1; }

build: setup $(BUILD)/build.ninja ## the program at build/entrain (PRESET=dev, asan-ubsan or tsan: in build/PRESET)
	@cmake --build $(BUILD) -j $(JOBS) $(if $(TARGETS),--target $(TARGETS)) -- --quiet

demo: build ## a coupled simulation, and where its result is
	@tools/demo

test: build ## all tests (TESTS=regex for some)
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error $(if $(TESTS),-R '$(TESTS)')

sanitize: build ## unit, contract and failure tests under ASan and UBSan, thread tests under TSan
	@$(MAKE) --no-print-directory build PRESET=asan-ubsan TARGETS='unit_tests contract_tests failure_tests'
	@ctest --test-dir build/asan-ubsan -j $(JOBS) --output-on-failure --no-tests=error -L '^(unit|contract|failure)$$' -E '$(WITH_FMUS)'
	@# The C++ library inside an FMU of ours keeps one block for emergencies when the FMU is unloaded: no leak of the engine.
	@ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan-ubsan -j $(JOBS) --output-on-failure --no-tests=error -R '$(WITH_FMUS)'
	@$(MAKE) --no-print-directory build PRESET=tsan TARGETS=contract_tests
	@ctest --test-dir build/tsan -j $(JOBS) --output-on-failure --no-tests=error -R 'Thread'

check: setup $(BUILD)/build.ninja layers ## format, folder dependencies, clang-tidy on what changed
	@find $(SOURCES) -name '*.[ch]' -o -name '*.[ch]pp' | xargs clang-format-14 --dry-run -Werror
	@tools/tidy

layers: ## folders use only what lies beneath them
	@tools/check_layers

format: setup ## format all sources
	@find $(SOURCES) -name '*.[ch]' -o -name '*.[ch]pp' | xargs clang-format-14 -i

tidy: setup $(BUILD)/build.ninja ## clang-tidy on every file
	@tools/tidy --all

bench: build ## measured against the printed budgets; fails when one is exceeded
	@tools/bench

fuzz: setup ## long fuzzing of all readers of files (SECONDS_EACH=60; needs clang, installed on demand)
	@tools/fuzz

install: build ## program, library, headers and examples (PREFIX=/usr/local)
	@cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

clean: ## remove everything built
	@rm -rf build
