# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the pages that show containers (docs.py): an engine of the page's own, with the container web-1 in it, whose program
# `nightly` goes through its phases again and again. Ends with the shell that called it.

bats_require_minimum_version() { :; }
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/helpers.bash
. "$here/../helpers.bash"
# shellcheck source=tests/lib/engine.bash
. "$here/engine.bash"

docs_engine_start() {
	DOCS_ENGINE=$(mktemp -d "${TMPDIR:-/tmp}/engine-XXXXXX")
	trap 'engine_stop "$DOCS_ENGINE"' EXIT
	engine_start "$DOCS_ENGINE"
	cp "$DOCS_ENGINE/root/bin/script" "$DOCS_ENGINE/root/bin/nightly"
	tar -C "$DOCS_ENGINE/root" -c . | docker import - etl:1 >/dev/null
	# A MiB more each round: of the rounds that are traced the last whole one has the peak, never one that had begun before.
	docker run -d --network none --name web-1 -m 256m etl:1 \
		nightly repeat:999 begin:load:users hog:40 sleep:100 end begin:join:groups hog:60 free end mark:round free hog:1 sleep:50 'done'
	sleep 0.5
}

docs_engine_start
