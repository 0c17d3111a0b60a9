# Two commands do everything on a fresh Debian 12: `make demo` and `make test`. Both call `make setup`, which says what it
# installs; `make` alone builds build/parley and installs nothing.
BUILD ?= build
JOBS  ?= $(shell nproc)
TESTS ?= $(shell expr 2 '*' $(JOBS) + 1)  # at a time; most count twice (tests/CMakeLists.txt)
CMAKE_FLAGS ?=

.PHONY: all setup browser postgres clang tools pylibs configure demo test install python slow sanitize lint tidy-changed soak bench docs reproduce results format tidy tidy-tree clean

all: configure
	@cmake --build $(BUILD) --target parley -j $(JOBS)

# Packages: what building and testing needs; Chromium, for the test of reports; clang-19; clang-format and clang-tidy.
setup:
	@scripts/setup.sh
browser postgres clang tools pylibs:
	@scripts/setup.sh $@

# $(call configured,TREE,FLAGS): quiet unless it fails.
configured = cmake -S . -B $(1) -G Ninja $(2) $(CMAKE_FLAGS) > $(1).configure.log 2>&1 \
	  || { cat $(1).configure.log; echo "parley: configuring failed (see above); 'make setup' installs what a build needs"; exit 1; }; \
	  mv -f $(1).configure.log $(1)/configure.log
clang_19 = -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Debug

configure:
	@$(call configured,$(BUILD),-DCMAKE_BUILD_TYPE=Release)

demo: setup
	@$(MAKE) --no-print-directory all
	@$(BUILD)/parley compare --data census --nodes 20 --algorithms mr-admm,auto --epsilon 0.25,1 --delta 1e-5 --repeat 5 \
	  --out runs/demo-$$(date +%Y%m%d-%H%M%S)

# $(call tested,TREE,OPTIONS): CI (PARLEY_TEST_AGAIN) runs what failed once more, alone, and names it: tests of real processes
# can fail by chance where the machine stands still, and what fails twice fails.
tested = ctest --test-dir $(1) --output-on-failure -j $(TESTS) $(2) || { test -n "$$PARLEY_TEST_AGAIN" \
	  && cp $(1)/Testing/Temporary/LastTestsFailed.log $(1)/failed-once.log \
	  && ctest --test-dir $(1) --output-on-failure --rerun-failed \
	  && echo "parley: these failed once and passed alone; look at each before the next change:" && cat $(1)/failed-once.log; }

# The release build and its tests. Which test begins first is in tests/CMakeLists.txt (COST).
test: setup browser postgres pylibs
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) -j $(JOBS)
	@$(call tested,$(BUILD),-LE slow)

# `make install DESTDIR=... PREFIX=...`: the program, its manual pages and completions, the library with one header.
PREFIX ?= /usr/local
install: setup
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target parley parley_shared -j $(JOBS)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) > /dev/null

# Debian packages in $(BUILD)/deb: parley, libparley-dev, python3-parley. An image of the first, where podman or buildah is.
.PHONY: deb image
deb: setup pylibs
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target parley parley_shared parley_python -j $(JOBS)
	@scripts/deb.sh $(BUILD) $(BUILD)/deb
image: deb
	@scripts/image.sh $(BUILD)/deb/parley_*.deb $(BUILD)/image

# The Python package in $(BUILD)/venv, with its tests and the types of what it says.
python: setup pylibs
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target parley parley_python -j $(JOBS)
	@[ -d $(BUILD)/venv ] || /usr/bin/python3 -m venv --system-site-packages $(BUILD)/venv
	@PARLEY_BUILD=$(abspath $(BUILD)) $(BUILD)/venv/bin/python -m pip install --quiet --no-build-isolation --no-deps --no-index --disable-pip-version-check .
	@PARLEY=$(abspath $(BUILD)/parley) $(BUILD)/venv/bin/python python/tests/run.py
	@$(BUILD)/venv/bin/python python/tests/run.py types

# The tests that take longest: results on Adult and the papers' figures. CI runs them too.
slow: setup
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) -j $(JOBS)
	@$(call tested,$(BUILD),-L slow)

# Every test again under AddressSanitizer and UndefinedBehaviorSanitizer (the statistical ones in their shortest form).
# Fuzz targets can share its objects: clang-19.
sanitize: setup clang
	@$(call configured,$(BUILD)-sanitize,$(clang_19) -DPARLEY_SANITIZE=address)
	@cmake --build $(BUILD)-sanitize -j $(JOBS)
	@export PARLEY_TEST_SHORT=1 ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19; $(call tested,$(BUILD)-sanitize)

# Format, warnings (errors in both builds with the compilers of CI: CMakeLists.txt), the rules of the house. clang-tidy is
# `make tidy-changed`: after a stop that changed hundreds of files it takes longer than CI has.
lint: setup tools
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 --dry-run -Werror
	@python3 tests/house/include_test.py
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) -j $(JOBS)

# clang-tidy on what has changed since the whole tree was last clean (scripts/tidy.py).
tidy-changed: setup tools
	@$(MAKE) --no-print-directory tidy-tree
	@scripts/tidy.py $(BUILD)-tidy -j $(JOBS)

# clang-tidy on the whole tree: 45 minutes of two cores.
tidy: setup tools
	@$(MAKE) --no-print-directory tidy-tree
	@scripts/tidy.py $(BUILD)-tidy -j $(JOBS) --all

# How clang-tidy is to compile each file, and the generated headers that it reads.
tidy-tree: clang
	@$(call configured,$(BUILD)-tidy,$(clang_19) -DPARLEY_TOGETHER=OFF)
	@cmake --build $(BUILD)-tidy --target parley_generated -j $(JOBS)

# The full forms of the statistical, fuzz and long runs.
soak: setup browser
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) -j $(JOBS)
	@PARLEY_TEST_FULL=1 ctest --test-dir $(BUILD) --output-on-failure
	@$(MAKE) --no-print-directory planted-race PARLEY_EXITS=200

# ThreadSanitizer over what has threads: parallel_for, and parties that work and end (tests/mesh/exits_test.py). gRPC is not
# instrumented: its modules are ignored as a whole, for suppressing its reports hides ours. soak shows that a planted race is found.
# The release build makes keys, studies and rows; only what a party runs is built again (tests/mesh/join.cpp).
.PHONY: tsan planted-race
tsan: setup clang
	@$(MAKE) --no-print-directory all
	@$(call configured,$(BUILD)-tsan,$(clang_19) -DPARLEY_SANITIZE=thread -DPARLEY_MPI=OFF)
	@cmake --build $(BUILD)-tsan --target mesh_join base_test -j $(JOBS)
	@TSAN_OPTIONS=halt_on_error=1 $(BUILD)-tsan/base_test --gtest_brief=1 --gtest_filter='Parallel.*'
	@PARLEY=$(abspath $(BUILD)/parley) PARLEY_JOIN=$(abspath $(BUILD)-tsan/mesh_join) PARLEY_EXITS=$(or $(PARLEY_EXITS),40) python3 tests/mesh/exits_test.py
planted-race: tsan
	@tests/mesh/planted_race.py $(BUILD)/parley $(BUILD)-tsan

# Everything in bench/README.md; what is not installed (scikit-learn, valgrind, Adult) is said to be skipped.
bench: setup
	@scripts/setup.sh bench || true
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target bench -j $(JOBS)
	@$(BUILD)/bench_solve bench/results
	@$(BUILD)/bench_run bench/results
	@$(BUILD)/bench_newton bench/results
	@$(BUILD)/bench_many_nodes bench/results
	@$(BUILD)/bench_pairs bench/results
	@$(BUILD)/bench_load bench/results
	@bench/instructions.sh $(BUILD)/bench_evaluate bench/results
	@$(BUILD)/bench_growth bench/results
	@python3 bench/growth_chart.py bench/results/growth.json bench/growth.svg
	@python3 bench/mpi.py $(BUILD)/bench_mpi_round bench/results
	@python3 bench/mesh.py $(BUILD)/parley bench/results

# The papers' figures again, on Adult ('build/parley data fetch adult'); what is finished is kept. results: into docs/results/results.md.
reproduce: all
	@$(BUILD)/parley reproduce all --out runs/reproduce

results: reproduce
	@scripts/results.py runs/reproduce

docs: all
	@$(BUILD)/parley options --markdown > docs/use/options.md

format: tools
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-tidy $(BUILD)-tsan
