# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bench: what peakphase costs, each measure beside its limit, and what other tools cost in the same run (docs/bench.md).
# BENCH= gives options of tests/bench/bench.py.
BENCH_PROGRAMS := empty sites storm trees marks lines moment bpfstats
BENCH_BIN := $(BENCH_PROGRAMS:%=$(OUTPUT)/bench/%)
BENCH_SKEL := $(OUTPUT)/bench/empty.skel.h
BENCH ?=

.PHONY: bench bench-build bench-sites bench-deps
$(BENCH_SKEL): $(OUTPUT)/tests/bench/empty.bpf.o
	$(call say,SKEL,$@)
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name empty > $@

$(OUTPUT)/bench/%: tests/bench/%.c tests/bench/attach.h tests/bench/cpu.h tests/workloads/work.h include/peakphase/log_rss.h \
		$(BENCH_SKEL) $(OUTPUT)/libpeakphase.a | $(DEPS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I$(OUTPUT)/bench $(ALL_CFLAGS) $< $(OUTPUT)/libpeakphase.a $(ALL_LDFLAGS) $(LDLIBS) -o $@

bench-build: all $(BENCH_BIN)

bench-deps:
	$(Q)tools/deps.sh bench

bench: bench-build bench-deps ## what it costs, beside the limits and other tools, as root: BENCH='--only storm'
	$(Q)python3 tests/bench/bench.py --build $(OUTPUT) $(BENCH)

bench-sites: bench-build vm-deps ## which marker site is cheapest, and which one is probed, on each kernel of VM_KERNELS, in QEMU
	$(Q)for k in $(VM_KERNELS); do tools/vm/run --kernel $$k --build $(OUTPUT) --name "sites $$k" \
		--cmd '$$PEAKPHASE_BUILD/bench/sites $$PEAKPHASE_BUILD/peakphase 500' || failed=1; done; [ -z "$$failed" ]
