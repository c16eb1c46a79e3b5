#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs cmocka programs; prints what failed, and one closing line with the sums.
set -u
passed=0 failed=0 skipped=0
for t in "$@"; do
	# What nohup or a background job has ignored would stay so in the tests of signals.
	out=$(env --default-signal "$t" 2>&1)
	rc=$?
	ok=$(grep -c '^\[       OK \]' <<<"$out")
	# Once as it fails, and once more in the list at the end, whose head begins with a number or, newer, "tests: 1 test(s)".
	bad=$(grep '^\[  FAILED  \] [^0-9]' <<<"$out" | grep -v ' test(s), listed below' | sort -u | grep -c .)
	skip=$(grep -c '^\[  SKIPPED \] [^0-9]' <<<"$out")
	# A crash counts as a failure of its own: cmocka had no chance to say so.
	if [ $rc -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	if [ $rc -ne 0 ]; then
		printf '%s\n' "--- ${t##*/} (status $rc)" "$out"
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
printf 'unit tests: %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ] && [ $passed -gt 0 ]
