# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Counts a run of bats (TAP) and prints the closing line `NAME: N passed, N failed, N skipped`; exits 1 unless all is well.
#   name      in the closing line
#   strict    a skip counts as a failure, unless it begins "not on this kernel: " (with guest, also "not in this guest: ")
#   guest     the run was in a guest
#   troubles  failures found elsewhere, as in the kernel's log
#   status    bats' exit status: not 0 without a failed test is a failure of its own
/^1\.\.[0-9]+/ { planned = substr($0, 4) + 0; have_plan = 1 }
/^# once more: / { again[++nagain] = substr($0, 14) }
/^not ok / { failed++; bad[++nbad] = $0; next }
/^ok / {
	if (match($0, / # skip ?/)) {
		why = substr($0, RSTART + RLENGTH)
		sub(/^\(/, "", why)
		skipped++
		if (strict && why !~ /^not on this kernel: / && !(guest && why ~ /^not in this guest: /)) {
			skipped--
			failed++
			bad[++nbad] = $0 " (this machine can do it: a skip is a failure)"
		}
	} else {
		passed++
	}
}
END {
	done = passed + failed + skipped
	if (!have_plan) {
		failed++
		bad[++nbad] = "no test plan: bats did not start"
	} else if (done < planned) {
		failed += planned - done
		bad[++nbad] = (planned - done) " planned tests did not report"
	}
	if (troubles) {
		failed += troubles
		bad[++nbad] = "the guest or its kernel had trouble"
	}
	if (status && !failed) {
		failed++
		bad[++nbad] = "bats ended with status " status " though no test failed"
	}
	for (i = 1; i <= nagain; i++) printf "  TRIED AGAIN: %s\n", again[i]
	for (i = 1; i <= nbad; i++) printf "  %s\n", bad[i]
	printf "%s: %d passed, %d failed, %d skipped\n", name, passed, failed, skipped
	exit (failed > 0 || passed == 0)
}
