#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs libFuzzer programs for FUZZ_SECONDS each, from their kept seeds; a crash keeps its input.
set -u
failed=0 n=0
for f in "$@"; do
	name=${f##*/}
	seeds=tests/fuzz/${name%_fuzz}.seeds
	work=$(mktemp -d)
	n=$((n + 1))
	if "$f" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$(dirname "$f")/$name-" "$work" "$seeds" >"$f.log" 2>&1; then
		printf 'fuzz %s: %s runs, no crash\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$f.log")"
	else
		failed=$((failed + 1))
		printf 'fuzz %s: FAILED\n' "$name"
		tail -n 40 "$f.log"
	fi
	rm -rf "$work"
done
printf 'fuzzers: %d passed, %d failed\n' $((n - failed)) $failed
[ $failed -eq 0 ]
