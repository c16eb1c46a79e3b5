#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A guest offers what the live tests rely on: were it not so, they would fail for the wrong reason. And one test of each option
# whose programs hang on what differs from kernel to kernel; all of theirs take too long here.

load ../helpers

@test "guest: the kernel has BTF, tracefs and bpffs" {
	[ -s /sys/kernel/btf/vmlinux ]
	grep -q name: /sys/kernel/tracing/events/kmem/rss_stat/format
	[ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ]
}

@test "guest: cgroup v2 with the memory controller, and we are in a group" {
	grep -qw memory /sys/fs/cgroup/cgroup.subtree_control
	[ "$(cat /proc/self/cgroup)" = 0::/session ]
	[ "$(cat /sys/fs/cgroup/session/memory.current)" -gt 0 ]
}

@test "guest: a mapped file on its disk counts as file pages, not shmem" {
	head -c 8M /dev/urandom >"$BATS_TEST_TMPDIR/f"
	run python3 - "$BATS_TEST_TMPDIR/f" <<'EOF'
import mmap, sys
def status(key):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key))
with open(sys.argv[1], "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    file, shmem = status("RssFile"), status("RssShmem")
    sum(m[i] for i in range(0, len(m), 4096))
    print(status("RssFile") - file, status("RssShmem") - shmem)
EOF
	echo "$output"
	[ "$status" -eq 0 ]
	# KiB; the counters that /proc reads may be off by a batch of 64 pages and more on each processor.
	read -r file shmem <<<"$output"
	[ "$file" -ge 7168 ] && [ "$file" -le 9216 ] && [ "$shmem" -lt 1024 ]
}

@test "guest: swap can be turned on" {
	swapon "$PEAKPHASE_SWAP"
	grep -q zram /proc/swaps
	swapoff "$PEAKPHASE_SWAP"
}

@test "guest: memory that a limit forbids is taken back by the OOM killer" {
	local g=/sys/fs/cgroup/oom-$$
	mkdir $g
	echo 32M >$g/memory.max
	run bash -c "echo \$\$ >$g/cgroup.procs; exec python3 -c 'bytearray(64 << 20)'"
	echo "$status $output"
	[ "$status" -eq 137 ]
	grep -qx 'oom_kill 1' $g/memory.events
	rmdir $g
}

# Each option adds to the programs, and their stacks and states are added up by each kernel in its own way.
@test "guest: every program loads with every option at once" {
	local b=$PEAKPHASE_BUILD
	"$b/peakphase" run -q -o "$BATS_TEST_TMPDIR/r.peak" --where --output both --mark-output 'hello (\w+)' --ceiling 1M --headroom 1M \
		--span "$b/workloads/threads:chains" -- sh -c "echo hello there; exec $b/workloads/threads chains 2 4" >/dev/null
	"$b/peakphase" report "$BATS_TEST_TMPDIR/r.peak" | grep -q ' t1 step 3 '
	"$b/peakphase" report "$BATS_TEST_TMPDIR/r.peak" | grep -q ' there '
}

@test "guest: --where: which mappings a phase's faults fell in" {
	truncate -s 64M "$T/input"
	peak_run --where -- "$W/script" begin:own hog4k:100 end begin:file "map:$T/input" end
	q 'ph("own")["where"][0]["mapping"].startswith("anon")' 'ph("own")["where"][0]["share"] > 0.9' \
		'near(ph("own")["where"][0]["bytes_est"], 100 * MIB, 20 * MIB)' '"input" in ph("file")["where"][0]["mapping"]'
}

@test "guest: --span: calls that are left by a return, a jump, a longjmp, an exception: ended then, results as untraced" {
	peak_run --span "$W/spans:etl::*" -- "$W/spans" spike:64 jump:3 throw:3
	"$W/spans" spike:64 jump:3 throw:3 >"$T/untraced"
	diff "$T/untraced" "$OUT"
	q 'near(delta(ph("etl::spike")), 64 * MIB, 262144)' 'len(phs("etl::jump")) == 3' 'len(phs("etl::thrown")) == 3' \
		'all(p["ended_by"] == "end" for p in phs("etl::spike") + phs("etl::jump") + phs("etl::thrown"))'
}

@test "guest: --output: every byte kept, in order, with pieces of a cold buffer among them" {
	"$PYTHON" -c 'print("\n".join("row %d" % i for i in range(20000)))' >"$T/rows"
	peak_run --output stdout -- "$PYTHON" -c 'import mmap, os, sys
with open(sys.argv[1], "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    at = 0
    while at < len(m):
        at += os.write(1, memoryview(m)[at:at + 8192])' "$T/rows"
	cmp "$T/rows" "$OUT"
	"$PP" report "$R" --output >"$T/kept"
	[ "$(grep -c 'row [0-9]*$' "$T/kept")" -eq 20000 ]
}

@test "guest: doctor finds all that is needed, and loads each program by itself" {
	"$PP" doctor
}
