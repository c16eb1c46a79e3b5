#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The live view on a terminal of its own (tmux): what it shows of programs that run, and that it gives the terminal back
# however it ends. Whole screens, key by key, are tested from recordings: screens/run.py.

load helpers

# A server that was just stopped may still have its socket: each has its own.
TERMINALS=0
tm() { TERM=xterm LC_ALL=C.UTF-8 tmux -S "$T/tmux-$TERMINALS" -f /dev/null "$@"; }

# on_terminal COMMAND...: in a shell on an 80 by 24 terminal. Settings before and after, and the status, are in files.
on_terminal() {
	TERMINALS=$((TERMINALS + 1))
	printf 'trap : INT\ncd %q\nstty -g >before\n%s\nstatus=$?\nstty -g >after\necho $status >status.tmp\nmv status.tmp status\nexec sleep 600\n' "$T" \
		"$(printf '%q ' "$@")" >"$T/on-terminal"
	tm new-session -d -x 80 -y 24 "exec sh $T/on-terminal"
	tm set -g status off
	tm resize-window -x 80 -y 24
}

teardown_tmux() { tm kill-server 2>/dev/null || true; }

screen() { tm capture-pane -p; }
shows() { screen >"$T/screen"; grep -q -e "$1" "$T/screen"; }
# saw SECONDS PATTERN: it shows in time; else what was there instead.
saw() { retry "$1" shows "$2" || fail "$(cat "$T/screen")"; }
keys() { tm send-keys "$@"; }
normal_screen() { [ "$(tm display -p '#{alternate_on}')" = 0 ]; }
ended() { [ -e "$T/status" ]; }
top_pid() { pgrep -x -n -f "$PP top .*" || pgrep -n -f "^$PP top "; }

# The terminal is as it was: settings, no alternate screen, cursor.
restored() {
	retry 10 ended
	cmp "$T/before" "$T/after" || fail "the terminal's settings have changed"
	[ "$(tm display -p '#{alternate_on} #{cursor_flag}')" = "0 1" ] || fail "alternate screen and cursor: $(tm display -p '#{alternate_on} #{cursor_flag}')"
}

teardown() {
	local failed=0 f
	teardown_tmux
	reap
	for f in "$BATS_TEST_TMPDIR"/*.peak; do
		[ -e "$f" ] || continue
		"$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$f" || failed=1
	done
	return $failed
}

@test "top -- COMMAND: phases as they happen, how it ended, what it printed, its status" {
	on_terminal "$PP" top -o "$R" -- "$W/script" begin:load:users hog:40 begin:join hog:60 free "ready:$T/up" "wait:$T/go" end end \
		mark:push exit:3
	retry 20 test -e "$T/up"
	saw 10 'now 42\.[0-9] MiB, 4[01] % of the peak 10[0-9]\.[0-9] MiB (join, '
	screen | grep -q '^  load:users  *[0-9.]* s  *42\.[0-9]  *~*102\.[0-9]'
	screen | grep -q '^    join  *[0-9.]* s  *42\.[0-9]  *~*102\.[0-9]  *.*◀'
	touch "$T/go"
	saw 10 'exit status 3 at +.*; peak 10[0-9]\.[0-9] MiB (join, '
	# The keys stay in sight, and the answer is not said twice.
	shows '^q quit  ? help  '
	[ "$(grep -c 'peak 10[0-9]\.' "$T/screen")" = 1 ]
	# The moment of the peak can be gone back to.
	keys p
	saw 10 ' of the peak'
	shows '^    join'
	refute ended
	keys q
	restored
	[ "$(cat "$T/status")" = 3 ]
	tm capture-pane -p -S - | grep -q 'label=load:users'
	q 'r["peak"]["phase"] == "join"'
}

@test "top -p PID: numbers are the kernel's, SIGTERM gives the terminal back, the process goes on" {
	local pid
	start_target "$W/script" hog:200 "ready:$T/up" begin:late hog:50 "wait:$T/go"
	retry 20 test -e "$T/up"
	on_terminal "$PP" top -p "$TARGET"
	saw 20 'now 25[0-9]\.[0-9] MiB, 100 % of the peak'
	# It was in that phase before anybody looked on: nothing names it.
	shows '(startup)'
	pid=$(top_pid)
	kill -TERM "$pid"
	restored
	kill -0 "$TARGET"
}

@test "a crash gives the terminal back, and dies of it" {
	local pid
	start_target "$W/script" "wait:$T/go"
	on_terminal "$PP" top -p "$TARGET"
	saw 20 'live'
	pid=$(top_pid)
	kill -SEGV "$pid"
	restored
	[ "$(cat "$T/status")" = 139 ]
}

@test "SIGHUP, SIGINT and Ctrl-C end it" {
	local s
	start_target "$W/script" "wait:$T/go"
	for s in HUP INT C-c; do
		rm -f "$T/status"
		on_terminal "$PP" top -p "$TARGET"
		saw 20 'live'
		case $s in C-c) keys C-c ;; *) kill -$s "$(top_pid)" ;; esac
		restored
		teardown_tmux
		retry 10 refute pgrep -f "^$PP top "
	done
	kill -0 "$TARGET"
}

@test "Ctrl-Z and back: the shell has the terminal meanwhile, nothing is lost" {
	start_target "$W/script" "ready:$T/up" repeat:3000 mark:m sleep:1 done "ready:$T/done" "wait:$T/go"
	retry 20 test -e "$T/up"
	tm new-session -d -x 80 -y 24 "cd $T; PS1='ready> ' exec bash --norc --noprofile -i"
	tm set -g status off
	saw 10 'ready>'
	keys "stty -g >before; $PP top -o $R -p $TARGET; stty -g >after" Enter
	saw 20 'live'
	keys C-z
	saw 10 'Stopped'
	retry 5 normal_screen
	sleep 0.5
	keys fg Enter
	saw 10 'live'
	retry 60 test -e "$T/done"
	keys q
	retry 10 test -s "$T/after"
	cmp "$T/before" "$T/after"
	retry 5 normal_screen
	q 'r["losses"]["edges"] == 0 and r["losses"]["marks"] == 0'
}

@test "Ctrl-S stops the terminal, not the tracing; SIGTERM ends it all the same" {
	local pid
	start_target "$W/script" "ready:$T/up" "wait:$T/go" repeat:5000 mark:m done "ready:$T/done" "wait:$T/never"
	retry 20 test -e "$T/up"
	on_terminal "$PP" top -d 50ms -o "$R" -p "$TARGET"
	saw 20 'live'
	keys C-s
	sleep 0.5
	touch "$T/go"
	retry 60 test -e "$T/done"
	sleep 0.5
	pid=$(top_pid)
	kill -TERM "$pid"
	retry 20 gone "$pid"
	restored
	# All of them were taken in while nothing could be drawn.
	q 'len(phs("m")) == 5000 and r["losses"]["edges"] == 0'
}

@test "no terminal, TERM=dumb, no such terminal: it says so, and starts nothing" {
	status_of "$PP" top -- touch "$T/started"
	[ "$STATUS" = 1 ]
	grep -q 'draws on a terminal' "$T/said"
	grep -q -e '--batch' "$T/said"
	on_terminal env TERM=dumb "$PP" top -- touch "$T/started"
	retry 10 ended
	shows 'cannot move its cursor'
	restored
	teardown_tmux
	rm "$T/status"
	on_terminal env TERM=no-such-terminal "$PP" top -- touch "$T/started"
	restored
	[ "$(cat "$T/status")" = 1 ]
	refute test -e "$T/started"
}

@test "--batch prints plain frames, as many as asked for, and the last one when it ends" {
	start_target "$W/script" begin:work hog:30 "wait:$T/go"
	LINES=12 COLUMNS=70 "$PP" top --batch -d 100ms -n 3 -p "$TARGET" >"$OUT"
	[ "$(wc -l <"$OUT")" -eq $((3 * 12 + 2)) ]
	[ "$(grep -c '^now 3[0-9]\.[0-9] MiB' "$OUT")" -eq 3 ]
	refute grep -q $'\033' "$OUT"
	[ "$(awk '{ if (length($0) > m) m = length($0) } END { print m }' "$OUT")" -le 200 ]
	"$PP" top --batch -- "$W/script" begin:quick hog:20 end exit:5 >"$OUT" 2>"$ERR" || STATUS=$?
	[ "$STATUS" = 5 ]
	grep -q 'exit status 5 at' "$OUT"
	grep -q 'label=quick' "$ERR"
	# A reader that goes away is no crash.
	"$PP" top --batch -d 50ms -n 20 -p "$TARGET" 2>"$ERR" | head -n 1
	refute grep -q -i 'segmentation' "$ERR"
}

@test "a process that is gone at once, one that never comes, one that is not there" {
	on_terminal "$PP" top -- true
	saw 20 'exit status 0 at'
	keys q
	restored
	teardown_tmux
	rm "$T/status"
	on_terminal "$PP" top -p 4194000
	restored
	[ "$(cat "$T/status")" = 1 ]
	shows 'no process 4194000'
	teardown_tmux
	rm "$T/status"
	on_terminal "$PP" top -- "$T/no-such-program"
	restored
	[ "$(cat "$T/status")" = 127 ]
}

@test "a program that is killed: it stays to be seen, with the phase it was in" {
	on_terminal "$PP" top -- "$W/script" begin:doomed hog:20 raise:9
	saw 20 'killed by signal 9 (SIGKILL) at'
	shows 'doomed'
	keys n
	saw 10 'killed: pid [0-9]* (script) in .doomed.'
	keys q
	restored
	[ "$(cat "$T/status")" = 137 ]
}

@test "limits that are crossed: shown with the phase, kept, and a command run beside the view" {
	on_terminal "$PP" top -o "$R" --ceiling 50M --on-cross 'echo "crossed in $PEAKPHASE_PHASE"' -- \
		"$W/script" begin:small hog:20 end begin:large hog:60 "ready:$T/up" "wait:$T/go" end
	saw 20 'ceiling 50.0 MiB crossed: pid [0-9]* (script) in .large. (n)'
	keys n
	saw 10 'ceiling 50.0 MiB crossed: pid [0-9]* (script) in .large.$'
	# Nothing but the view draws on it.
	refute shows 'crossed in'
	touch "$T/go"
	saw 20 'exit status 0 at'
	keys q
	restored
	[ "$(cat "$T/status")" = 0 ]
	tm capture-pane -p -S - | grep -q 'crossed in large'
	q 'len(r["verdicts"]) == 1' 'r["verdicts"][0]["kind"] == "ceiling" and r["verdicts"][0]["threshold_bytes"] == 50 * MIB' \
		'r["verdicts"][0]["phases"] == ["large"]'
	# Of a process, too.
	start_target "$W/script" hog:20 "ready:$T/up2" "wait:$T/go2" begin:more hog:40
	retry 20 test -e "$T/up2"
	"$PP" top --batch -d 50ms --ceiling 50M --on-cross "echo crossed >$T/crossed" -p "$TARGET" >"$OUT" 2>"$ERR" &
	TRACER=$!
	retry 20 grep -q '^now ' "$OUT"
	touch "$T/go2"
	wait_for "$TRACER"
	retry 10 grep -q crossed "$T/crossed"
	grep -q 'ceiling 50.0 MiB crossed: pid [0-9]* (script) in .more.' "$OUT"
	# A recording is only shown.
	STATUS=0
	"$PP" top --batch --ceiling 1M "$R" 2>"$ERR" || STATUS=$?
	[ "$STATUS" -eq 2 ]
}

@test "a storm of processes does not bury the phase; one that was forked and became another is below its parent" {
	local storm='(i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done) & wait'
	on_terminal "$PP" top -- sh -c "$storm; \"\$0\" begin:work hog:20 \"wait:\$1\" end & wait; :" "$W/script" "$T/go"
	saw 20 '^[0-9]* processes of less than a second without marks: largest peak '
	saw 10 '^    work  '
	grep -q '^[0-9]* sh -c' "$T/screen"
	grep -q '^  [0-9]* script ' "$T/screen"
	touch "$T/go"
	saw 20 'exit status 0 at'
	saw 10 '^[0-9]* processes of less than a second without marks'
	keys q
	restored
}

threads_of() { [ "$(ls "/proc/$TARGET/task" | wc -l)" -eq "$1" ]; }

@test "the threads of a process: what each has grown" {
	start_target "$W/threads" overlap 200 100 "$T/go"
	retry 30 threads_of 3
	on_terminal "$PP" top -p "$TARGET"
	saw 20 'live'
	touch "$T/go"
	saw 20 'exit status 0 at'
	keys Enter
	saw 10 '^phases of the process'
	shows "^$TARGET "
	shows '^thread [0-9]*  ended .* 200\.[0-9] '
	shows '^thread [0-9]*  ended .* 100\.[0-9] '
	shows "^thread $TARGET  ended "
	keys q
	restored
}

@test "a recording of many small processes: one row, and the one with the phase" {
	"$PP" run -q -o "$R" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; "$0" begin:work hog:30 end; :' "$W/script" >"$OUT"
	LINES=40 COLUMNS=100 "$PP" top --batch "$R" >"$OUT"
	grep -q '^10 processes of less than a second without marks: largest peak [0-9.]* MiB (t: all)' "$OUT"
	grep -q '^    work  .* 30\.[0-9] ' "$OUT"
	refute grep -q '^  [0-9]* .*/bin/true' "$OUT"
}

@test "top without a target: one is chosen from what runs" {
	local i row
	start_target "$W/script" begin:chosen hog:30 "ready:$T/up" "wait:$T/go"
	retry 20 test -e "$T/up"
	on_terminal "$PP" top
	saw 20 'processes that have markers'
	saw 10 '^[a-z]'
	row=$(screen | grep -n "^pid $TARGET " | cut -d : -f 1) || true
	if [ -n "$row" ]; then
		for ((i = 2; i < row; i++)); do keys Down; done
	else
		# Further down: it comes into sight when it is reached.
		for ((i = 0; i < 500; i++)); do
			keys Down
			if shows "^pid $TARGET "; then break; fi
		done
	fi
	sleep 0.5
	keys Enter
	saw 20 "live"
	shows "$TARGET"
	keys q
	restored
	[ "$(cat "$T/status")" = 0 ]
	kill -0 "$TARGET"
}
