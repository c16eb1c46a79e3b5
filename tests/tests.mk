# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/unit/X_test.c → a cmocka program linked with the library; run plain and under ASan + UBSan.
# tests/fuzz/X_fuzz.c → a libFuzzer program; seeds in tests/fuzz/X.seeds/.
# tests/workloads/X.c → build/workloads/X; programs that print their own truth.
# tests/*.bats        → live tests, as root.

UNIT := $(sort $(wildcard tests/unit/*_test.c))
UNIT_BIN := $(UNIT:tests/unit/%.c=$(OUTPUT)/unit/%)
FUZZ := $(sort $(wildcard tests/fuzz/*_fuzz.c))
FUZZ_BIN := $(FUZZ:tests/fuzz/%.c=$(OUTPUT)/fuzz/%)
FUZZ_SECONDS ?= 60
FUZZ_JOBS ?= 1
WORKLOAD_SRC := $(sort $(wildcard tests/workloads/*.c))
WORKLOADS := $(WORKLOAD_SRC:tests/workloads/%.c=$(OUTPUT)/workloads/%)
BATS ?= $(sort $(wildcard tests/*.bats))
CMOCKA = $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

all: $(OUTPUT)/screens/scenes

.PHONY: check check-screens check-unit check-unit-san check-unit-run check-live check-fuzz check-style format workloads
check: all check-style check-unit check-unit-san check-screens check-live ## every test of this machine (root; fuzzing and guests are apart)

all: workloads
workloads: $(WORKLOADS) $(OUTPUT)/workloads/late-static $(OUTPUT)/workloads/spans
# Without symbols, without a loader.
$(OUTPUT)/workloads/late-static: tests/workloads/late.c include/peakphase/log_rss.h | $(DEPS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -Iinclude -D_GNU_SOURCE -std=gnu17 -O2 -Wall -Wextra -Werror -MMD -MP -DNO_DLOPEN -static -s $< -o $@
$(OUTPUT)/workloads/%: tests/workloads/%.c | $(DEPS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -Iinclude -D_GNU_SOURCE -std=gnu17 -O2 -g -Wall -Wextra -Werror -pthread -MMD -MP $< -o $@
# In C++: exceptions go through what it calls.
$(OUTPUT)/workloads/spans: tests/workloads/spans.cc | $(DEPS)
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -D_GNU_SOURCE -std=gnu++17 -O2 -g -Wall -Wextra -Werror -pthread -MMD -MP $< -o $@
-include $(WORKLOADS:%=%.d) $(OUTPUT)/workloads/late-static.d $(OUTPUT)/workloads/spans.d

$(OUTPUT)/unit/%: tests/unit/%.c $(OUTPUT)/libpeakphase.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Ibpf -Itests/unit $(ALL_CFLAGS) -MMD -MP $< $(OUTPUT)/libpeakphase.a $(ALL_LDFLAGS) $(LDLIBS) $(CMOCKA) -o $@
-include $(UNIT_BIN:%=%.d)

check-unit: $(UNIT_BIN) ## unit tests, as any user, in seconds
	$(Q)tests/run-unit.sh $(UNIT_BIN)

# Recordings that the screens of top are tested with.
$(OUTPUT)/screens/scenes: tests/screens/scenes.c tests/unit/events.h $(OUTPUT)/libpeakphase.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) $< $(OUTPUT)/libpeakphase.a $(ALL_LDFLAGS) $(LDLIBS) $(CMOCKA) -o $@

check-screens: $(OUTPUT)/peakphase $(OUTPUT)/screens/scenes ## golden screens of top, in tmux, as any user
	$(Q)tests/screens/run.py $(OUTPUT)

# A tree of its own, of some minutes; as many jobs as processors, unless make was told.
SAN_JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
check-unit-san: ## the same under ASan and UBSan
	$(Q)$(MAKE) --no-print-directory $(SAN_JOBS) OUTPUT=$(OUTPUT)/san CFLAGS='-O1 -g' SAN_FLAGS='$(SAN)' check-unit

check-live: all ## live tests (bats), as root
	$(Q)PEAKPHASE_BUILD=$(abspath $(OUTPUT)) tests/run-live.sh $(BATS)

# Fuzzers have a library of their own: coverage has to be in it.
FUZZ_CC = $(CLANG) $(CPPFLAGS) -std=gnu17 -O1 -g -pthread -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJ := $(patsubst %.c,$(OUTPUT)/fuzz/%.o,$(filter-out user/source/%,$(LIB_SRC)))
$(OUTPUT)/fuzz/user/%.o: user/%.c | $(SKEL)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
$(OUTPUT)/fuzz/libpeakphase.a: $(FUZZ_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar crs $@ $^
$(OUTPUT)/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $(OUTPUT)/fuzz/libpeakphase.a
	$(call say,FUZZ,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer -MMD -MP $< $(OUTPUT)/fuzz/libpeakphase.a $(LDLIBS) -o $@
-include $(FUZZ_OBJ:.o=.d) $(FUZZ_BIN:%=%.d)

check-fuzz: $(FUZZ_BIN) ## each fuzzer for FUZZ_SECONDS, FUZZ_JOBS at once
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(FUZZ_JOBS) tests/run-fuzz.sh $(FUZZ_BIN)

STYLE_SRC = $(shell git ls-files '*.c' '*.h')
check-style: | $(DEPS) ## clang-format, shellcheck
	$(Q)clang-format --dry-run -Werror $(STYLE_SRC)
	$(Q)git ls-files '*.sh' '*.bash' .ci/run | xargs -r shellcheck -x
format: ## rewrite C files with clang-format
	$(Q)clang-format -i $(STYLE_SRC)
