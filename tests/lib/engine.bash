# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# A Docker engine and a Podman of the test's own: data, sockets and pid files below a folder, no network, nothing of
# the host's engines touched. The image is a small root of busybox and our workloads.

# engine_root DIR: what the image holds. `script` is static; `linked` has the marker library at a place of the image's own.
engine_root() {
	local a lib
	mkdir -p "$1/bin" "$1/tmp" "$1/opt/marks"
	cp "$(command -v busybox)" "$1/bin/busybox"
	for a in sh sleep cat kill ls; do ln -sf busybox "$1/bin/$a"; done
	gcc -static -O2 -g -D_GNU_SOURCE -I"$ROOT/include" "$ROOT/tests/workloads/script.c" -o "$1/bin/script" -pthread
	cp "$PEAKPHASE_BUILD/liblogrss.so" "$1/opt/marks/liblogrss.so.1"
	gcc -O2 "$ROOT/tests/lib/linked.c" -o "$1/bin/linked" "$1/opt/marks/liblogrss.so.1" -Wl,-rpath,/opt/marks
	for lib in $(LD_LIBRARY_PATH=$1/opt/marks ldd "$1/bin/linked" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p'); do
		case $lib in "$1"* | /opt/marks/*) continue ;; esac
		mkdir -p "$1${lib%/*}"
		cp -L "$lib" "$1$lib"
	done
}

# engine_start DIR: dockerd, and the image pp:1 in it.
engine_start() {
	local d=$1
	mkdir -p "$d"
	export DOCKER_HOST=unix://$d/sock DOCKER_CONFIG=$d/config
	dockerd --iptables=false --ip6tables=false --bridge=none --data-root "$d/data" --exec-root "$d/exec" -H "$DOCKER_HOST" \
		--pidfile "$d/pid" >"$d/log" 2>&1 3>&- 4>&- &
	echo $! >"$d/engine"
	retry 60 engine_answers || fail "dockerd does not start: $(tail -n 3 "$d/log")"
	engine_root "$d/root"
	tar -C "$d/root" -c . | docker import - pp:1 >/dev/null
}
engine_answers() { docker version >/dev/null 2>&1; }

# engine_stop DIR: the containers, then the daemon; and nothing is left of them.
engine_stop() {
	local d=$1 pid
	[ -e "$d/engine" ] || return 0
	export DOCKER_HOST=unix://$d/sock DOCKER_CONFIG=$d/config
	docker ps -aq 2>/dev/null | while read -r c; do timeout 60 docker rm -f "$c" >/dev/null 2>&1; done || true
	pid=$(cat "$d/engine")
	kill -TERM "$pid" 2>/dev/null || true
	retry 30 gone_or_zombie "$pid" || kill -KILL "$pid" || true
	engine_unmount "$d"
	rmdir /sys/fs/cgroup/docker /sys/fs/cgroup/*/docker 2>/dev/null || true
	rm -rf "$d"
}

engine_unmount() {
	awk -v d="$1/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r m; do umount "$m" || true; done
}

# podman_start DIR: PODMAN, as an array, with the first runtime that runs here; the image pp:1. 1: none does, said in PODMAN_WHY.
podman_start() {
	local d=$1 runtime
	PODMAN_WHY="no Podman"
	command -v podman >/dev/null || return 1
	mkdir -p "$d"
	for runtime in crun runc; do
		command -v $runtime >/dev/null || continue
		# Without Docker's settings, which it reads too.
		PODMAN=(env -u DOCKER_HOST -u DOCKER_CONFIG podman --root "$d/graph" --runroot "$d/run" --tmpdir "$d/tmp" --runtime "$(command -v $runtime)" --cgroup-manager cgroupfs
			--storage-driver vfs --events-backend file)
		"${PODMAN[@]}" image exists pp:1 2>/dev/null || tar -C "$2" -c . | "${PODMAN[@]}" import - pp:1 >/dev/null 2>&1
		# The limits that it would set may be above ours.
		PODMAN_RUN=("${PODMAN[@]}" run -d --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024)
		# shellcheck disable=SC2034  # for the tests
		PODMAN_WHY=$("${PODMAN_RUN[@]}" --rm pp:1 /bin/sh -c : 2>&1 >/dev/null) && return 0
	done
	return 1
}

podman_stop() {
	"${PODMAN[@]}" rm -f -t 0 -a >/dev/null 2>&1 || true
	engine_unmount "$1"
	# Each container's monitor has a cgroup there, and ends a moment after it.
	retry 10 podman_cgroups_gone || true
	rmdir /run/crun /run/runc 2>/dev/null || true
	rm -rf "$1"
}

podman_cgroups_gone() {
	local c left=0
	for c in /sys/fs/cgroup/libpod_parent /sys/fs/cgroup/*/libpod_parent; do
		[ -d "$c" ] || continue
		find "$c" -depth -type d -exec rmdir {} + 2>/dev/null || left=1
	done
	return $left
}
