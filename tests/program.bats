#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `python -m peakphase`: functions of a program that knows nothing of peakphase as its phases.

load helpers

setup_file() {
	cat >"$BATS_FILE_TMPDIR/etl.py" <<-'END'
		import asyncio, sys
		from steps import log_rss, load, hog
		kept = []

		async def fetch(mib, seconds):
		    block = hog(mib)
		    await asyncio.sleep(seconds)
		    return len(block)

		async def main():
		    await asyncio.gather(fetch(100, 0.1), fetch(150, 0.3))

		def chunks(n):
		    for _ in range(n):
		        block = hog(40)
		        yield len(block)
		        del block

		class Users:
		    def transform(self):
		        block = hog(200)
		        del block
		        kept.append(hog(50))

		kept.append(load(60))
		Users().transform()
		log_rss("users")
		asyncio.run(main())
		log_rss("fetched")
		for n in chunks(3):
		    pass
		try:
		    load(-1)
		except ValueError:
		    pass
		sys.exit(7)
	END
	cat >"$BATS_FILE_TMPDIR/steps.py" <<-'END'
		from work import hog

		def log_rss(label):
		    pass

		def load(mib):
		    if mib < 0:
		        block = hog(30)
		        raise ValueError(len(block))
		    return hog(mib)
	END
}

# program OPTIONS...: runs etl.py traced; it ends with status 7.
program() {
	status_of env PYTHONPATH="$PYW:$PYTHONPATH" "$PP" run -o "$R" -- "$PYTHON" -m peakphase "$@" "$BATS_FILE_TMPDIR/etl.py"
	[ "$STATUS" -eq 7 ] || fail "status $STATUS: $(cat "$T/said")"
}

@test "functions, methods, coroutines and generators as spans, by their globs, with their numbers" {
	program --span 'steps:load' --span '__main__:Users.*' --span 'etl:fetch' --span 'etl:chunks'
	q 'len(phs("steps:load")) == 2' 'near(delta(ph("steps:load")), 60 * MIB)' 'near(ph("steps:load")["kept_bytes"], 60 * MIB)' \
		'near(delta(ph("__main__:Users.transform")), 200 * MIB)' 'near(ph("__main__:Users.transform")["kept_bytes"], 50 * MIB)' \
		'len(phs("etl:fetch")) == 2' 'all(near(delta(p), n * MIB) for p, n in zip(phs("etl:fetch"), (250, 150)))' \
		'all(p["overlaps"] for p in phs("etl:fetch"))' \
		'len(phs("etl:chunks")) == 1' 'near(delta(ph("etl:chunks")), 40 * MIB)' 'near(ph("etl:chunks")["grew_bytes"], 120 * MIB)' \
		'near(ph("steps:load", 1)["grew_bytes"], 30 * MIB)' 'ph("steps:load", 1)["ended_by"] == "end"' \
		'all(p["ended_by"] != "exit" or p["kind"] == "after" for p in proc()["phases"])' \
		'r["peak"]["phase"] == "etl:fetch"'
}

@test "a function whose first argument is a label, as a mark" {
	program --mark steps:log_rss
	q 'labels == ["users", "fetched", "(after)"]' 'ph("fetched")["kind"] == "checkpoint"' \
		'near(delta(ph("fetched")), 250 * MIB)' 'near(ph("fetched")["kept_bytes"], 0)' \
		'near(ph("users")["kept_bytes"] - proc()["baseline_bytes"], 110 * MIB, 24 * MIB)' \
		'ph("users")["peak_bytes"] - ph("users")["end_bytes"] > 140 * MIB'
}
