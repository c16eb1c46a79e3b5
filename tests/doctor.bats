#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the kernel and the user can do: the answer agrees with what tracing then does.

load helpers

# As docs/doctor.md has it, for this kernel.
CAPS=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search
kernel_at_least 6.6 || CAPS=$CAPS,cap_sys_admin

# The tracer's capabilities as /proc shows them, of every thread.
caps_of() { cat "/proc/$1"/task/*/status | sed -n "s/^$2:[[:space:]]*//p" | sort -u; }

# check NAME: answer of one check in $T/said.
check() { jq -r --arg n "$1" '.checks[] | select(.name == $n).answer' "$T/said"; }

@test "root: yes to everything that is needed, and every program loaded by itself" {
	status_of "$PP" doctor --json
	[ "$STATUS" -eq 0 ]
	[ "$(jq '.can_trace' "$T/said")" = true ]
	[ "$(jq '[.checks[] | select(.needed and .answer != "yes")] | length' "$T/said")" -eq 0 ]
	[ "$(jq '[.programs[] | select(.error != null and (.optional | not))] | length' "$T/said")" -eq 0 ]
	jq -e '.programs | length >= 9' "$T/said"
	jq -e '.programs | map(.section) | index("tp_btf/rss_stat") and index("uprobe.s")' "$T/said"
	[ "$(jq -r .kernel "$T/said")" = "$(uname -r)" ]
	jq -e '.site | IN("nop1", "nop5", "nop10")' "$T/said"
	status_of "$PP" doctor
	[ "$STATUS" -eq 0 ]
	grep -q '^Tracing works here\.$' "$T/said"
}

@test "the kernel's differences: counters, memory controller, probes" {
	status_of "$PP" doctor
	if kernel_at_least 6.2; then
		grep -q 'layout of the RSS counters.*per CPU' "$T/said"
		grep -q 'kmem:rss_stat, 2 arguments' "$T/said"
	else
		grep -q 'layout of the RSS counters.*64 pages' "$T/said"
		grep -q 'kmem:rss_stat, 3 arguments' "$T/said"
	fi
	if mount -t cgroup | grep -q '[(,]memory[,)]'; then
		grep -q 'memory controller .*version 1' "$T/said"
	elif grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		grep -q 'memory controller .*version 2' "$T/said"
	fi
}

# There fork, exec and exit come by classic tracepoints; without them by those of which the kernel skips some.
@test "without tracefs: said where programs are preempted, and tracing goes on" {
	bare() { unshare -m sh -c 'umount -a -l -t tracefs,debugfs 2>/dev/null; ! [ -e /sys/kernel/tracing/events ] && exec "$@"' sh "$@"; }
	status_of "$PP" doctor --json
	[ "$(check preemption)" = yes ]
	status_of bare "$PP" doctor --json
	[ "$STATUS" -eq 0 ]
	[ "$(check preemption)" = "$(kernel_at_least 7.0 && echo no || echo yes)" ]
	bare "$PP" run -q -o "$R" -- sh -c '/bin/true; :'
	q 'len(procs) == 3 or len(procs) == 2' 'proc()["exit"]["kind"] == "exit"'
}

@test "as nobody: says what is missing and how to get it, status 3; so does run" {
	status_of as_nobody "$PP" doctor --json
	[ "$STATUS" -eq 3 ]
	[ "$(jq '.can_trace' "$T/said")" = false ]
	[ "$(check btf)" = yes ]
	[ "$(check capabilities)" = no ]
	[ "$(check programs)" = unknown ]
	jq -e '.checks[] | select(.name == "capabilities") |
		(.detail | contains("CAP_BPF") and contains("CAP_PERFMON")) and (.remedy | contains("setcap"))' "$T/said"
	jq -r '.checks[] | select(.name == "capabilities").remedy' "$T/said" | grep -q "setcap $CAPS+ep"
	status_of as_nobody "$PP" doctor
	[ "$STATUS" -eq 3 ]
	grep -q 'missing: CAP_BPF, CAP_PERFMON' "$T/said"
	grep -q '^Tracing does not work here\.$' "$T/said"
	status_of as_nobody "$PP" run --no-record -- true
	[ "$STATUS" -eq 3 ]
	grep -q 'missing CAP_BPF' "$T/said"
}

@test "without CAP_SYS_ADMIN: doctor has tried, and run agrees with it" {
	status_of capsh --drop=cap_sys_admin -- -c "'$PP' doctor --json"
	local said=$STATUS
	[ "$(check capabilities)" = yes ]
	[ "$(check programs)" = yes ]
	[ "$(check site)" = "$([ "$said" -eq 0 ] && echo yes || echo no)" ]
	[ "$said" -eq 0 ] || jq -e '.checks[] | select(.name == "site").remedy | contains("CAP_SYS_ADMIN")' "$T/said"
	status_of capsh --drop=cap_sys_admin -- -c "'$PP' run --no-record -- true"
	[ "$STATUS" -eq "$said" ]
}

@test "a user namespace of its own: its root is not root" {
	unshare -Ur true 2>/dev/null || skip "no user namespaces here"
	status_of unshare -Ur "$PP" doctor
	[ "$STATUS" -eq 3 ]
	grep -q 'user namespace of its own' "$T/said"
}

@test "file capabilities are enough, for a command and for another user's process" {
	# Not in $T: its folders are root's alone.
	local dir pid
	dir=$(mktemp -d /tmp/peakphase-caps-XXXXXX)
	chmod 755 "$dir"
	cp "$PP" "$dir/peakphase"
	setcap "$CAPS+ep" "$dir/peakphase" || skip "no file capabilities on this file system"
	cd /
	status_of as_nobody "$dir/peakphase" doctor
	[ "$STATUS" -eq 0 ]
	status_of as_nobody "$dir/peakphase" run --no-record -- sh -c 'cat /proc/self/status; exit 4'
	[ "$STATUS" -eq 4 ]
	# Nothing of the tracer's rights goes to the command.
	grep -q '^CapPrm:[[:space:]]*0*$' "$T/said"
	grep -q '^CapBnd:[[:space:]]*'"$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status)" "$T/said"
	grep -q '^NoNewPrivs:[[:space:]]*0$' "$T/said"
	sleep 20 &
	pid=$!
	started "$pid"
	status_of as_nobody "$dir/peakphase" attach --no-record -d 1 -p "$pid"
	[ "$STATUS" -eq 0 ]
	grep -q 'peak RSS \[(startup)\]' "$T/said"
	rm -r "$dir"
}

@test "while it traces: only what is needed is left, in every thread" {
	start_tracer run -o "$R" -- "$W/script" "ready:$T/on" "wait:$T/go"
	retry 30 test -e "$T/on"
	[ "$(caps_of "$TRACER" NoNewPrivs)" = 1 ]
	# BPF, PERFMON, CHECKPOINT_RESTORE; SYS_ADMIN, SYS_PTRACE; KILL, DAC_READ_SEARCH, and
	# DAC_OVERRIDE (bit 1) only where the recording's folder is not root's.
	local left
	left=$(caps_of "$TRACER" CapPrm)
	[ "$(wc -l <<<"$left")" -eq 1 ]
	[ $((0x$left & ~0x1c000280026)) -eq 0 ]
	[ $((0x$left & 0xc000080000)) -eq $((0xc000080000)) ]
	# The command has what it had.
	[ "$(caps_of "$(child_of "$TRACER")" CapPrm)" = "$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/self/status)" ]
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
}

@test "doctor: usage, and a full disk" {
	status_of "$PP" doctor --no-such-option
	[ "$STATUS" -eq 2 ]
	status_of "$PP" doctor something
	[ "$STATUS" -eq 2 ]
	"$PP" doctor --help | grep -q -- --json
	status_of sh -c "'$PP' doctor >/dev/full"
	[ "$STATUS" -eq 1 ]
	grep -q 'cannot write the answer' "$T/said"
}
