#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs libFuzzer programs for FUZZ_SECONDS each, FUZZ_JOBS at once, from their kept seeds; a crash keeps its input.
set -u
failed=0 n=0
end_children() { jobs -p | xargs -r kill 2>/dev/null; }
trap end_children EXIT

# In the background, so that it can be told to stop.
fuzz() {
	local f=$1 name=${1##*/} work
	local seeds=tests/fuzz/${name%_fuzz}.seeds
	work=$(mktemp -d)
	trap 'end_children; rm -rf "$work"' EXIT
	"$f" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$(dirname "$f")/$name-" "$work" "$seeds" >"$f.log" 2>&1 &
	if wait $!; then
		printf 'fuzz %s: %s runs, no crash\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$f.log")"
	else
		printf 'fuzz %s: FAILED\n' "$name"
		tail -n 40 "$f.log"
		return 1
	fi
}

running=0
for f in "$@"; do
	n=$((n + 1))
	if [ $running -ge "${FUZZ_JOBS:-1}" ]; then
		wait -n || failed=$((failed + 1))
		running=$((running - 1))
	fi
	fuzz "$f" &
	running=$((running + 1))
done
while [ $running -gt 0 ]; do
	wait -n || failed=$((failed + 1))
	running=$((running - 1))
done
printf 'fuzzers: %d passed, %d failed\n' $((n - failed)) $failed
[ $failed -eq 0 ]
