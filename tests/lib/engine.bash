# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# A Docker engine and a Podman of the test's own: data, sockets and pid files below $1, no network, nothing
# of the host's engines touched. The image is a small root of busybox and our workloads.

# engine_root DIR: what the image holds.
engine_root() {
	local a
	mkdir -p "$1/bin" "$1/tmp" "$1/etc"
	cp "$(command -v busybox)" "$1/bin/busybox"
	for a in sh sleep cat kill; do ln -sf busybox "$1/bin/$a"; done
	# Static: the image has no libraries. What it marks is compiled as ever.
	gcc -static -O2 -g -D_GNU_SOURCE -I"$ROOT/include" "$ROOT/tests/workloads/script.c" -o "$1/bin/script" -pthread
}

# engine_start DIR: dockerd, and the image pp:1 in it. Its own copies of everything.
engine_start() {
	local d=$1
	mkdir -p "$d"
	export DOCKER_HOST=unix://$d/sock DOCKER_CONFIG=$d/config
	dockerd --iptables=false --ip6tables=false --bridge=none --data-root "$d/data" --exec-root "$d/exec" -H "$DOCKER_HOST" \
		--pidfile "$d/pid" >"$d/log" 2>&1 3>&- &
	echo $! >"$d/engine"
	retry 60 docker version >/dev/null 2>&1 || fail "dockerd does not start: $(tail -n 3 "$d/log")"
	engine_root "$d/root"
	tar -C "$d/root" -c . | docker import - pp:1 >/dev/null
}

# engine_stop DIR: the containers, then the daemon; its mounts and cgroups are gone after it.
engine_stop() {
	local d=$1 pid
	export DOCKER_HOST=unix://$d/sock DOCKER_CONFIG=$d/config
	[ -e "$d/engine" ] || return 0
	# shellcheck disable=SC2046  # ids
	timeout 60 docker rm -f $(docker ps -aq) >/dev/null 2>&1
	pid=$(cat "$d/engine")
	kill -TERM "$pid" 2>/dev/null
	retry 30 gone_or_zombie "$pid" || kill -KILL "$pid"
	awk -v d="$d/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r m; do umount "$m"; done
	rmdir /sys/fs/cgroup/docker /sys/fs/cgroup/*/docker 2>/dev/null
	rm -rf "$d"
}
