# Two commands do everything on a fresh Debian 12: `make demo` and `make test`. Each installs what it needs.
BUILD ?= build
JOBS  ?= $(shell nproc)
CMAKE_FLAGS ?=

.PHONY: all setup configure demo browser test sanitize soak bench docs reproduce results format tidy clean

all: configure
	@cmake --build $(BUILD) --target parley -j $(JOBS)

setup:
	@scripts/setup.sh

configure: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@mkdir -p $(BUILD) && mv -f $(BUILD).configure.log $(BUILD)/configure.log

demo: all
	@$(BUILD)/parley train --data census --nodes 5 --epsilon 1 --delta 1e-5 \
	  --out runs/demo-$$(date +%Y%m%d-%H%M%S)

# Chromium, for the tests of reports.
browser:
	@scripts/setup.sh browser

test: browser configure
	@cmake --build $(BUILD) -j $(JOBS)
	@cd $(BUILD) && ctest --output-on-failure -j $(JOBS)
	@$(MAKE) --no-print-directory sanitize

# Every test again under AddressSanitizer and UndefinedBehaviorSanitizer (the statistical ones in their shortest form).
sanitize: setup
	@cmake -S . -B $(BUILD)-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPARLEY_SANITIZE=ON $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD)-sanitize -j $(JOBS)
	@cd $(BUILD)-sanitize && PARLEY_TEST_SHORT=1 ctest --output-on-failure -j $(JOBS)

# The full forms of the statistical, fuzz and long runs.
soak: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@cd $(BUILD) && PARLEY_TEST_FULL=1 ctest --output-on-failure
	@$(MAKE) --no-print-directory planted-race PARLEY_EXITS=200

# ThreadSanitizer over what has threads: parallel_for, and parties that work and end (tests/mesh/exits_test.py). gRPC is not
# instrumented: its modules are ignored as a whole, for suppressing its reports hides ours. soak shows that a planted race is found.
# The release build makes keys, studies and rows; only what a party runs is built again (tests/mesh/join.cpp).
.PHONY: tsan planted-race
tsan: setup
	@$(MAKE) --no-print-directory all
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Debug -DPARLEY_SANITIZE=thread -DPARLEY_MPI=OFF $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD)-tsan --target mesh_join base_test -j $(JOBS)
	@TSAN_OPTIONS=halt_on_error=1 $(BUILD)-tsan/base_test --gtest_brief=1 --gtest_filter='Parallel.*'
	@PARLEY=$(abspath $(BUILD)/parley) PARLEY_JOIN=$(abspath $(BUILD)-tsan/mesh_join) PARLEY_EXITS=$(or $(PARLEY_EXITS),40) python3 tests/mesh/exits_test.py
planted-race: tsan
	@tests/mesh/planted_race.py $(BUILD)/parley $(BUILD)-tsan

# Everything in bench/README.md; what is not installed (scikit-learn, valgrind, Adult) is said to be skipped.
bench: configure
	@scripts/setup.sh bench || true
	@cmake --build $(BUILD) --target bench -j $(JOBS)
	@$(BUILD)/bench_solve bench/results
	@$(BUILD)/bench_run bench/results
	@$(BUILD)/bench_many_nodes bench/results
	@bench/instructions.sh $(BUILD)/bench_evaluate bench/results
	@$(BUILD)/bench_growth bench/results
	@python3 bench/growth_chart.py bench/results/growth.json bench/growth.svg
	@python3 bench/mpi.py $(BUILD)/bench_mpi_round bench/results
	@python3 bench/mesh.py $(BUILD)/parley bench/results

# The papers' figures again, on Adult ('build/parley data fetch adult'); what is finished is kept. results: into docs/results.md.
reproduce: all
	@$(BUILD)/parley reproduce all --out runs/reproduce

results: reproduce
	@scripts/results.py runs/reproduce

docs: all
	@$(BUILD)/parley options --markdown > docs/options.md

format:
	@scripts/setup.sh tools
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

tidy: configure
	@scripts/setup.sh tools
	@git ls-files 'src/*.cpp' 'cli/*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy-19 -p $(BUILD) --quiet

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-tsan
