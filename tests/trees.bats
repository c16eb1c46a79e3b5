#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Trees of processes: fork, vfork, clone, exec.

# bats file_tags=job
load helpers

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached || fail "$(cat "$ERR")"
}

# in_cgroup COMMAND...: in a memory cgroup of its own, of either version.
in_cgroup() {
	local top=/sys/fs/cgroup cg
	if grep -qw memory $top/cgroup.controllers 2>/dev/null; then
		echo +memory >$top/cgroup.subtree_control
	else
		top=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	fi
	[ -n "$top" ] || fail "no memory controller"
	cg=$top/peakphase-trees-$$
	mkdir -p "$cg"
	(
		echo $BASHPID >"$cg/cgroup.procs"
		"$@"
	)
	retry 10 rmdir "$cg"
}

# large_file MIB: a file of that size, not sparse, read from the disk's own pages.
large_file() {
	dd if=/dev/zero of="$T/large" bs=1M count="$1" conv=fsync status=none
	echo "$T/large"
}

@test "a sibling on the same memory outlives the first process: the end is the last one's, the status the first's" {
	start_target "$W/script" "wait:$T/go" exec "$W/sharers" sibling
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	cat "$ERR"
	refute grep -E 'lost|not traced|booked' "$ERR"
	# The script's image, and the one of both processes.
	q 'len(procs) == 2' 'proc(1)["exit"] == {"kind": "exit", "status": 3, "signal": None}' \
		'near(delta(ph("left")), 100 * MIB, 65536)' 'near(ph("left")["grew_bytes"], 100 * MIB, 65536)' \
		'near(r["peak"]["bytes"], 120 * MIB, 4 * MIB)' 'r["peak"]["phase"] == "left"' \
		"proc(1)['pid'] == $TARGET" 'ph("left")["ended_by"] == "end"'
}

@test "the tracing ends while only the sibling is left: it is still running, and runs on" {
	start_target "$W/script" "wait:$T/go" exec "$W/sharers" sibling "$T/more"
	attach -p "$TARGET" -d $((2 * SLOW))
	touch "$T/go"
	wait_for "$TRACER"
	gone_or_zombie "$TARGET"
	q 'len(procs) == 2' 'proc(1)["exit"]["kind"] == "running"' 'near(r["peak"]["bytes"], 20 * MIB, 3 * MIB)' \
		'len([p for p in proc(1)["phases"] if p["ended_by"] == "trace"]) == 1' 'not any(r["losses"].values())'
	touch "$T/more"
}

@test "attach to both processes of one memory: one row, no loss" {
	start_target "$W/sharers" pair "$T/go"
	retry 30 grep -q '^second ' "$OUT"
	attach -p "$TARGET" -p "$(sed -n 's/^second //p' "$OUT")"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	refute grep -E 'lost|not traced|booked' "$ERR"
	q 'len(procs) == 1' 'not any(r["losses"].values())' 'near(ph("first")["grew_bytes"], 10 * MIB, 65536)' \
		'near(ph("second")["grew_bytes"], 30 * MIB, 65536)' 'proc()["exit"]["kind"] == "exit"'
}

@test "a vfork child's growth is its parent's memory's, its mark begins with it, its exec ends nothing of the parent" {
	peak_run -- "$W/sharers" vfork "$W/script" hog:10 || STATUS=$?
	[ "$STATUS" -eq 4 ]
	refute grep -E 'lost|not traced|booked' "$ERR"
	q 'len(procs) == 2' 'proc()["exit"]["status"] == 4' 'not any(r["losses"].values())' \
		'near(delta(ph("in the child")), 30 * MIB, 131072)' 'near(ph("in the child")["grew_bytes"], 30 * MIB, 131072)' \
		'ph("in the child")["start_ns"] >= ph("before")["end_ns"]' 'near(delta(ph("after")), 30 * MIB, 131072)' \
		'near(ph("after")["grew_bytes"], 0, 131072)' 'proc(1)["begun_by"] == "exec"' \
		'near(proc(1)["peak"]["bytes"], 10 * MIB, 3 * MIB)' 'proc(1)["exit"]["status"] == 0'
}

@test "--no-follow: what a vfork child does to the memory is told, what it becomes is not" {
	peak_run --no-follow -- "$W/sharers" vfork "$W/script" hog:10 || STATUS=$?
	[ "$STATUS" -eq 4 ]
	refute grep -E 'lost|not traced|booked' "$ERR"
	q 'len(procs) == 1' 'near(ph("in the child")["grew_bytes"], 30 * MIB, 131072)' 'not any(r["losses"].values())'
}

@test "a vfork child that outlives its killed parent: the parent's end is the signal, the child's exec is its own" {
	peak_run -- "$W/script" exec /bin/sh -c "'$W/sharers' orphan '$W/script' hog:10 ready:$T/there; while [ ! -e $T/there ]; do sleep 0.01; done; sleep 0.1"
	q '[p["exit"]["signal"] for p in procs if "orphan" in p["command"] and "sharers" in p["command"] and p["exit"]["kind"] == "signal"] == [9]' \
		'[near(p["peak"]["bytes"], 70 * MIB, 4 * MIB) for p in procs if p["exit"]["signal"] == 9] == [True]' \
		'[(p["exit"]["status"], near(p["peak"]["bytes"], 10 * MIB, 3 * MIB)) for p in procs if "hog:10 ready" in p["command"] and p["begun_by"] == "exec" and "script" in p["command"].split()[0]] == [(0, True)]'
}

# The images of a report by a word of their command line, of one reason.
images() { echo "[p for p in procs if '$1' in p['command'] and p['begun_by'] == '$2']"; }

@test "more siblings on one memory than there is room for: those that are not followed are counted" {
	peak_run --processes 4 -- "$W/sharers" many 12 /bin/true
	q 'r["losses"]["processes"] > 0' 'len(procs) - 1 + r["losses"]["processes"] == 12'
	grep -q 'processes were not traced: too many at once' "$ERR"
}

# C1
# bats test_tags=case
@test "workers of fork, spawn and forkserver: each has its phase, the parent's has nothing of it" {
	local method how
	for method in fork spawn forkserver; do
		peak_run -- "$PYTHON" "$PYW/pool.py" $method 3 60
		q 'len(phs("worker")) == 3' 'all(near(delta(p), 60 * MIB) for p in phs("worker"))' \
			'len({p["pid"] for p in procs for f in p["phases"] if name_of(f) == "worker"}) == 3' \
			'near(delta(ph("pool")), 0, 2 * MIB)' 'not any(r["losses"].values())' \
			"[f['label'] for f in $(images pool.py exec)[0]['phases']] == ['(startup)', 'pool', '(after)']"
		# With spawn a worker is a program of its own.
		how=fork
		[ $method != spawn ] || how=exec
		q "all(p['begun_by'] == '$how' for p in procs for f in p['phases'] if name_of(f) == 'worker')"
	done
}

# C1, in C. Pages of files are not inherited: 0.3 MiB of libc come back, fault by fault.
# bats test_tags=case
@test "forked children begin with what they inherited, marked so, and their growth is their own" {
	run_c begin:parent hog:100 fork:3 begin:worker hog:60 end done reap end
	q 'len(phs("worker")) == 3' 'all(near(delta(p), 60 * MIB, MIB) for p in phs("worker"))' \
		'near(ph("parent")["grew_bytes"], 100 * MIB, 65536)' 'near(delta(ph("parent")), 100 * MIB, 65536)' \
		"all(p['inherited_bytes'] == p['baseline_bytes'] > 100 * MIB for p in $(images script fork) + [p for p in procs if p['begun_by'] == 'fork'])" \
		'all(p["grew_bytes"] < 62 * MIB for p in procs if p["begun_by"] == "fork")' \
		'len({(p["pid"], p["start_boot_ns"]) for p in procs}) == 4'
	"$PP" report "$R" >"$T/text"
	[ "$(grep -cE 'forked from pid [0-9]+, inherited 10[0-9]\.[0-9] MiB' "$T/text")" -eq 3 ]
}

# C2
# bats test_tags=case
@test "exec: the phase before it has its peak and ends with it, the program after it begins near 0" {
	run_c begin:before_exec hog:200 exec "$W/script" begin:after_exec hog:40 end
	q 'near(delta(ph("before_exec")), 200 * MIB, 65536)' 'ph("before_exec")["ended_by"] == "exec"' \
		'proc()["exit"]["kind"] == "exec"' 'proc(0)["pid"] == proc(1)["pid"]' 'proc(1)["begun_by"] == "exec"' \
		'proc(1)["baseline_bytes"] < MIB' 'near(delta(ph("after_exec")), 40 * MIB, 65536)' \
		'r["job"]["processes"] == 1 and r["job"]["most_at_once"] == 1' \
		'r["job"]["rss_sum_peak_bytes"] == r["peak"]["bytes"] and r["job"]["rss_sum_error_bytes"] == 0'
}

# C3
# bats test_tags=case
@test "four children at once: their sum is of one moment; one after the other they are not added up" {
	run_c fork:4 begin:load hog:200 meet sleep:100 meet free end done reap
	q 'r["job"]["processes"] == 5' 'r["job"]["most_at_once"] == 5' \
		'near(r["job"]["rss_sum_peak_bytes"], 800 * MIB, 5 * 4 * MIB)' 'r["job"]["rss_sum_error_bytes"] < 30 * MIB' \
		'[o["phases"] for o in r["job"]["rss_sum_open"]] == [["(startup)"]] + 4 * [["load"]]' \
		'all(near(o["rss_bytes"], 200 * MIB, 5 * MIB) for o in r["job"]["rss_sum_open"][1:])'
	"$PP" report "$R" | grep -E 'sum of RSS 8[0-9]{2}\.[0-9] ±[0-9.]+ MiB at .*shared pages counted in each: pid .* in \[load\], '
	run_c repeat:4 fork:1 begin:load hog:200 free end done reap done
	q 'r["job"]["processes"] == 5' 'r["job"]["most_at_once"] == 2' 'near(r["job"]["rss_sum_peak_bytes"], 204 * MIB, 5 * MIB)' \
		'len(r["job"]["rss_sum_open"]) == 2'
}

# C3: the honest total of processes that share pages is the cgroup's charge.
@test "four children of a large parent: the sum counts it five times, the charge once" {
	# The tracer, its rings and the pages of the recording are in that cgroup, too.
	in_cgroup run_c hog4k:300 fork:4 begin:child "sleep:$((300 * SLOW))" end done reap
	q 'r["job"]["rss_sum_peak_bytes"] > 1450 * MIB' '300 * MIB < r["job"]["charge_peak_bytes"] < 500 * MIB' \
		'["child"] in [o["phases"] for o in r["job"]["charge_open"]] or r["job"]["charge_open"][0]["phases"] == ["(startup)"]'
}

# C6
# bats test_tags=case
@test "a child that rewrites what it inherited: its RSS is flat, the charge is not" {
	in_cgroup run_c hog4k:64 fork:1 begin:before sleep:20 end begin:rewrite rewrite sleep:50 end done reap
	q 'near(delta(ph("rewrite")), 0, 131072)' \
		'near(ph("rewrite")["charge_peak_bytes"] - ph("before")["charge_peak_bytes"], 64 * MIB, 4 * MIB)' \
		'near(r["job"]["charge_peak_bytes"], ph("rewrite")["charge_peak_bytes"], MIB)' \
		'["rewrite"] in [o["phases"] for o in r["job"]["charge_open"]]'
}

# C7
# mapped: bytes of the file that are mapped. The kernel's word: it may take some back by itself, at any time.
mapped() { awk '/ .*\/large$/ { ours = 1 } ours && /^Rss:/ { print $2 * 1024; exit }' "/proc/$TARGET/smaps"; }

# bats test_tags=case
@test "another process pages the target out: the fall is external, and in no phase of the other" {
	local before held address
	start_target "$W/script" map:"$(large_file 64)" "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	retry 30 test -e "$T/on"
	before=$(mapped)
	attach -p "$TARGET"
	held=$(mapped)
	[ "$held" -ge $((32 * MIB)) ]
	address=$(grep -F "$T/large" "/proc/$TARGET/maps" | head -n 1 | cut -d- -f1)
	"$W/outside" "$TARGET" "$address" 64
	touch "$T/go"
	wait_for "$TRACER"
	# Shared with nobody, so all of it can go; clean pages of a file need no swap.
	q "$held - 4 * MIB <= proc()['external_shrank_bytes'] <= $before + MIB" 'proc()["shrank_bytes"] < 4 * MIB' \
		"$held - MIB <= proc()['baseline_bytes'] - 2 * MIB <= $before + 3 * MIB" \
		'near(proc()["external_shrank_bytes"], proc()["baseline_bytes"] - ph("(startup)")["end_bytes"], 65536)' \
		'near(delta(ph("late")), 10 * MIB, 65536)' 'ph("(startup)")["end_bytes"] < 6 * MIB'
	"$PP" report "$R" | grep -q 'changed from outside'
}

# C8, in a pid namespace of its own, where any pid can be had again and again.
# bats test_tags=case
@test "pids that are used again: identity is pid and start" {
	[ -e /proc/sys/kernel/ns_last_pid ] || skip "not on this kernel: no ns_last_pid"
	unshare -pf --mount-proc "$PP" run -o "$R" -- "$W/script" \
		repeat:100 nextpid:5000 fork:1 begin:one hog:3 end done reap done begin:end hog:5 end >"$OUT" 2>"$ERR"
	q 'len(procs) == 101' 'len([p for p in procs if p["pid"] == 5000]) == 100' 'len({(p["pid"], p["start_boot_ns"]) for p in procs}) == 101' \
		'all(len(p["phases"]) == 3 and near(p["peak"]["members"]["anon"], 3 * MIB, MIB) for p in procs if p["pid"] == 5000)' \
		'near(delta(ph("end")), 5 * MIB, 65536)' 'r["job"]["processes"] == 101' 'not any(r["losses"].values())'
}

# C5, the half about fork.
# bats test_tags=case
@test "attach: what is forked later is traced, and the end of the last ends the tracing" {
	start_target "$W/script" "ready:$T/on" "wait:$T/go" fork:1 fork:1 begin:grandchild hog:30 sleep:300 end done done
	retry 30 test -e "$T/on"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'len(procs) == 3' 'near(delta(ph("grandchild")), 30 * MIB, MIB)' 'all(p["exit"]["kind"] == "exit" for p in procs)'
}

@test "attach ends with the last process, also when the record of its end was lost" {
	start_target "$W/script" "ready:$T/on" "wait:$T/go" repeat:2000 mark:flood done
	retry 30 test -e "$T/on"
	attach --ring-edges 64K -p "$TARGET"
	kill -STOP "$TRACER"
	touch "$T/go"
	wait_for "$TARGET"
	kill -CONT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	grep -q 'lost' "$ERR"
	q 'len(procs) == 1' 'r["losses"]["edges"] > 1000' 'proc()["exit"]["kind"] == "running"' 'not proc()["exact"]'
}

@test "--no-follow: the command alone" {
	peak_run --no-follow -- "$W/script" begin:parent fork:2 begin:child hog:20 end done reap end exec "$W/script" begin:after end
	q 'len(procs) == 2' 'len(phs("child")) == 0' 'len(phs("parent")) == 1' 'len(phs("after")) == 1' 'not any(r["losses"].values())'
}

@test "a leader that ends before its threads; a thread that execs" {
	peak_run -- "$W/sharers" leader
	q 'len(procs) == 1' 'near(delta(ph("thread")), 20 * MIB, 131072)' 'proc()["exit"]["kind"] == "exit"' \
		'proc()["exit"]["status"] == 0' 'ph("thread")["ended_by"] == "end"'
	rm "$R" "$T/report.json"
	start_target "$W/sharers" leader "$T/go"
	retry 30 grep -q there "$OUT"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'len(procs) == 1' 'near(delta(ph("thread")), 20 * MIB, 131072)' 'proc()["exit"]["kind"] == "exit"' "proc()['pid'] == $TARGET"
	peak_run -- "$W/sharers" threadexec "$W/script" begin:after hog:10 end
	q 'len(procs) == 2' 'proc(0)["pid"] == proc(1)["pid"]' 'proc()["exit"]["kind"] == "exec"' 'near(delta(ph("after")), 10 * MIB, 65536)' \
		'near(ph("thread")["grew_bytes"], 20 * MIB, 131072)' '(proc(0)["pid"], proc(0)["start_boot_ns"]) == (proc(1)["pid"], proc(1)["start_boot_ns"])'
}

# Neither a process nor an edge may be lost, and the parent's story is whole.
@test "a storm of short processes: all counted, rolled up, nothing lost" {
	local n
	n=$(scaled 3000)
	run_c begin:storm repeat:$n fork:1 done reap done end begin:after hog:20 end
	q "len(procs) == $n + 1" 'not any(r["losses"].values())' 'near(delta(ph("after")), 20 * MIB, 65536)' \
		'ph("storm")["ended_by"] == "end"' "r['job']['processes'] == $n + 1"
	grep -E '[0-9]+ more processes of less than a second without marks' "$ERR"
	[ "$(grep -c 'peak RSS' "$ERR")" -lt $((n / 2)) ]
	"$PP" report "$R" >"$T/text"
	[ "$(wc -l <"$T/text")" -lt 40 ]
	grep -E "^  script +$n " "$T/text"
}

# At most a few live at once where there is room, all of them where there is none: then tasks are preempted at any place, within
# BPF programs too where the kernel lets them (7.x), which it then skips for others. Each shell says who it is.
@test "a storm of commands: each one in the tree with its name, its parent and its end, none of them twice" {
	local n round
	n=$(scaled 100)
	for round in 1 2; do
		peak_run -- sh -c "i=0; while [ \$i -lt $n ]; do
			sh -c 'echo \$\$ \$PPID \$0; /bin/true a\$0; exec /bin/sh -c \"exit 3\" b\$0' \$i & i=\$((i + 1)); done; wait"
		[ "$(wc -l <"$OUT")" -eq "$n" ]
		report_json "$R"
		"$PYTHON" - "$T/report.json" "$OUT" <<'EOF'
import json, sys
r = json.load(open(sys.argv[1]))
processes = r["processes"]
def story(rows):
    return [(p["command"], p["exit"]["kind"], p["exit"]["status"]) for p in rows]
wrong = [f"lost {k}: {v}" for k, v in r["losses"].items() if v and k != "missed_events"]
said = [line.split() for line in open(sys.argv[2])]
for pid, ppid, i in said:
    own = story(p for p in processes if p["pid"] == int(pid) and p["ppid"] == int(ppid))
    child = story(p for p in processes if p["ppid"] == int(pid))
    if [end[1:] for end in own] != [("exec", None), ("exec", None), ("exit", 3)] or own[2][0] != "/bin/sh -c exit 3 b" + i:
        wrong.append(f"{pid}: {own}")
    # A shell that forks for it has a row of its own before the exec; one that vforks has none.
    if not child or child[-1] != ("/bin/true a" + i, "exit", 0) or any(end[1] != "exec" for end in child[:-1]):
        wrong.append(f"{pid}: child {child}")
pids = {int(pid) for pid, _, _ in said}
others = [p for p in processes if p["pid"] not in pids and p["ppid"] not in pids]
if len(others) != 1:
    wrong.append(f"not of the storm: {story(others)}")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
EOF
	done
}
