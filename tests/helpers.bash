# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the live tests share. Each test has $R, its recording, made by peak_run or given to attach;
# teardown checks the invariants of docs/design.md over every recording (*.peak) a test leaves.
#
#   PEAKPHASE_BUILD     the build tree (default: build)
#   PEAKPHASE_SLOW      factor on times a machine needs; 1 here, more in guests under emulation
#   PEAKPHASE_SCALE     percent of rounds in the long tests (default 100)
#   PEAKPHASE_RETRIES   how often a test that failed is tried again (default 0; 1 in guests); said at the end
#   PEAKPHASE_PYTHON    interpreter of the Python workloads and helpers (default /usr/bin/python3)
#   PEAKPHASE_NO_BPF=1  skip, instead of fail, where programs cannot be traced

bats_require_minimum_version 1.5.0

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PEAKPHASE_BUILD=${PEAKPHASE_BUILD:-$ROOT/build}
PP=$PEAKPHASE_BUILD/peakphase
W=$PEAKPHASE_BUILD/workloads
PYW=$ROOT/tests/workloads
PYTHON=${PEAKPHASE_PYTHON:-/usr/bin/python3}
SLOW=${PEAKPHASE_SLOW:-1}
SCALE=${PEAKPHASE_SCALE:-100}
RETRIES=${PEAKPHASE_RETRIES:-${PEAKPHASE_GUEST:-0}}
export PYTHONPATH=$PEAKPHASE_BUILD/python PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2034  # for the tests
MIB=1048576

again() {
	# A machine shared with others, or emulated, starves a test now and then; what is wrong fails twice. What passes only
	# the second time is said at the end of the run.
	# shellcheck disable=SC2034  # bats reads it
	BATS_TEST_RETRIES=$RETRIES
	if [ "${BATS_TEST_TRY_NUMBER:-1}" -gt 1 ]; then
		echo "# once more: $BATS_TEST_DESCRIPTION" >&3
		rm -rf "${T:?}"/*
	fi
}

setup() {
	T=$BATS_TEST_TMPDIR
	again
	R=$T/r.peak
	OUT=$T/out
	ERR=$T/err
	require_root
	require_bpf
}

# Of a test that will be tried again nothing else is kept.
say_why() {
	[ -z "${BATS_TEST_COMPLETED:-}" ] && [ "${BATS_TEST_TRY_NUMBER:-1}" -le "$RETRIES" ] || return 0
	{
		echo "$BATS_TEST_DESCRIPTION: failed at first:"
		tail -n 4 "${BATS_OUT:-/dev/null}" "${ERR:-/dev/null}" 2>/dev/null
	} | cut -c1-300 | sed 's/^/#   /' >&3
}

teardown() {
	local f failed=0
	say_why
	reap
	for f in "$BATS_TEST_TMPDIR"/*.peak; do
		[ -e "$f" ] || continue
		"$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$f" || failed=1
	done
	return $failed
}

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

require_root() {
	[ "$(id -u)" -eq 0 ] || fail "live tests need root: BPF, uprobes and other users' processes"
}

# Failing loudly: a skip on a kernel that has BPF would hide that nothing was tested.
require_bpf() {
	[ -x "$PP" ] || fail "no $PP: run make first"
	[ -e /sys/kernel/btf/vmlinux ] && return
	if [ "${PEAKPHASE_NO_BPF:-0}" = 1 ]; then
		skip "not on this kernel: no BTF"
	fi
	fail "this kernel has no BTF (/sys/kernel/btf/vmlinux); PEAKPHASE_NO_BPF=1 skips these tests"
}

kernel_at_least() {
	local have
	have=$(uname -r)
	[ "$(printf '%s\n%s\n' "$1" "${have%%-*}" | sort -V | head -n 1)" = "$1" ]
}

# retry SECONDS COMMAND...: until it succeeds, at most SECONDS (times SLOW).
retry() {
	local until=$(($(date +%s%N) + $1 * SLOW * 1000000000))
	shift
	while ! "$@"; do
		if [ "$(date +%s%N)" -ge "$until" ]; then
			fail "gave up waiting for: $*"
			return 1
		fi
		sleep 0.02
	done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# Background processes of a test, ended at the latest by teardown, by their own ids.
STARTED=()
started() { STARTED+=("$@"); }
reap() {
	local p
	for p in "${STARTED[@]}"; do
		kill -CONT "$p" 2>/dev/null || true
		kill -KILL "$p" 2>/dev/null || true
	done
	STARTED=()
}

# peak_run [OPTIONS...] -- COMMAND...: traces it; recording in $R, output in $OUT and $ERR.
# Returns the tracer's status, which is the command's.
peak_run() {
	rm -f "$R" "$R-wal" "$R-shm" "$T/report.json"
	timeout -k 5 $((60 * SLOW)) "$PP" run -o "$R" "$@" >"$OUT" 2>"$ERR"
}

# The same for steps of the workload `script`, and for its Python twin.
run_c() { peak_run -- "$W/script" "$@"; }
run_py() { peak_run -- "$PYTHON" "$PYW/script.py" "$@"; }

# Starts a program that a test attaches to: its output in $OUT, its pid in TARGET.
start_target() {
	"$@" >"$OUT" 2>"$T/target.err" 3>&- &
	TARGET=$!
	started "$TARGET"
}

# Starts the tracer in the background: pid in TRACER, messages in $ERR.
start_tracer() {
	# A shell without job control ignores SIGINT in what it starts: not what a person's shell does.
	"$PYTHON" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
		"$PP" "$@" >"$T/tracer.out" 2>"$ERR" 3>&- &
	TRACER=$!
	started "$TRACER"
}

# Attached is what the tracer says once its probes are live; nothing else tells it from outside.
attached() { grep -q 'attached to' "$ERR"; }

# The process has ended, and so has what it wrote: status in STATUS.
wait_for() {
	STATUS=0
	retry 60 gone_or_zombie "$1"
	wait "$1" || STATUS=$?
}

gone_or_zombie() {
	local stat
	read -r stat <"/proc/$1/stat" 2>/dev/null || return 0
	stat=${stat##*) }
	[ "${stat%% *}" = Z ]
}

# report_json RECORDING: makes it what q and truth look at.
report_json() {
	"$PP" report "$1" --json >"$T/report.json" || fail "report --json failed"
}

# q EXPRESSION: a Python expression over the report that must hold (tests/lib/q.py).
q() {
	if [ ! -e "$T/report.json" ]; then report_json "$R"; fi
	"$PYTHON" "$ROOT/tests/lib/q.py" "$T/report.json" "$@"
}

# truth [TOLERANCE]: every truth line of the workload agrees with the report. Without a tolerance
# max(1 MiB, 1 %): an interpreter has memory of its own; the C workloads are right to a few pages.
truth() {
	report_json "$R"
	"$PYTHON" "$ROOT/tests/lib/q.py" "$T/report.json" --truth "$OUT" "$@"
}
# 16 pages: the thread's stack and the kernel's uprobe page.
C_TOLERANCE=65536
truth_c() { truth $C_TOLERANCE; }
truth_py() { truth; }

sql() { "$PYTHON" "$ROOT/tests/lib/sql.py" "$@"; }

# children PID: its children's pids. Not from /proc/PID/task/…/children, which few kernels have.
children() {
	local f stat
	for f in /proc/[0-9]*/stat; do
		read -r stat <"$f" 2>/dev/null || continue
		stat=${stat##*) ? }
		if [ "${stat%% *}" = "$1" ]; then
			f=${f#/proc/}
			printf '%s\n' "${f%/stat}"
		fi
	done
}

# The command that `run` started.
child_of() { children "$1" | head -n 1; }

scaled() { echo $(($1 * SCALE / 100 > 0 ? $1 * SCALE / 100 : 1)); }

# refute COMMAND...: it must fail. (`! COMMAND` fails no test: set -e passes over it.)
refute() {
	if "$@"; then fail "should not succeed: $*"; fi
}

# status_of COMMAND...: its status in STATUS, output in $T/said (both streams).
status_of() {
	STATUS=0
	# shellcheck disable=SC2034  # for the tests
	"$@" >"$T/said" 2>&1 || STATUS=$?
}

# as_nobody COMMAND...: as another user, without capabilities, whatever lies in the way to the binary.
as_nobody() { "$PYTHON" "$ROOT/tests/lib/as_nobody.py" "$@"; }
