#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what peakphase needs from the distribution (Debian, Ubuntu): what is missing, and nothing otherwise.
set -u

usage() {
	cat <<'EOF'
usage: tools/deps.sh [SET...]        (without a SET: build test)
  build   compiling: clang, bpftool, libbpf, elfutils, SQLite, jansson, PCRE2, ncurses, libcurl, libmd, uthash,
           Zydis, libiberty
  test    make check: cmocka, bats, shellcheck, clang-format, sanitizers, an arm64 cross compiler; container
          engines, which are installed but not started
  fuzz    make check-fuzz
  vm      make vm-check-*: QEMU and what guest images are made with
  distro  make distro-check-13: debootstrap
  real    make check-real: virtual environments
  bench   make bench: the tools people use today, to compare with; what cannot be had is skipped with a note
Prints one line for each thing it does. Needs root only if something is missing.
EOF
}

say() { printf 'deps: %s\n' "$*"; }
die() {
	printf 'deps: %s\n' "$@" >&2
	exit 1
}

APT=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0
	-o Acquire::Retries=3 --no-install-recommends)

# clang's sanitizer and fuzzer runtimes are a package of their own, named after its major version.
clang_rt() {
	local v
	v=$(dpkg-query -W -f '${Version}' clang 2>/dev/null)
	[ -n "$v" ] || v=$(apt-cache policy clang 2>/dev/null | sed -n 's/^ *Candidate: //p')
	v=${v#*:}
	v=${v%%.*}
	# Without package lists the version is unknown; then it is asked again after apt-get update.
	[[ $v =~ ^[0-9]+$ ]] && [ "$v" -ge 14 ] && echo "libclang-rt-$v-dev"
}

# Older Ubuntu releases have bpftool in linux-tools only.
bpftool_package() {
	if [ -n "$(dpkg-query -W -f '${Version}' bpftool 2>/dev/null)" ] || ! grep -qi '^ID=ubuntu' /etc/os-release ||
		apt-cache show bpftool >/dev/null 2>&1; then
		echo bpftool
	else
		echo linux-tools-common linux-tools-generic
	fi
}

# Since Debian 13 the client is a package of its own.
docker_packages() {
	local cli
	cli=$(apt-cache policy docker-cli 2>/dev/null | sed -n 's/^ *Candidate: //p')
	echo docker.io runc podman crun
	[ -z "$cli" ] || [ "$cli" = "(none)" ] || echo docker-cli
}

packages_of() {
	case $1 in
	build)
		echo gcc g++ make pkg-config clang llvm libc6-dev linux-libc-dev "$(bpftool_package)" libbpf-dev libelf-dev \
			libdw-dev zlib1g-dev libsqlite3-dev libjansson-dev libncurses-dev libpcre2-dev uthash-dev \
			libcurl4-openssl-dev libmd-dev libzydis-dev libzycore-dev libiberty-dev
		;;
	test)
		echo "$(clang_rt)" libcmocka-dev bats shellcheck clang-format lld gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
			python3 python3-pip python3-setuptools python3-wheel sqlite3 jq strace util-linux libcap2-bin procps groff-base git tmux \
			busybox-static "$(docker_packages | paste -sd ' ')"
		;;
	fuzz) echo clang llvm "$(clang_rt)" ;;
	vm)
		echo qemu-system-x86 busybox-static cpio kmod xz-utils zstd e2fsprogs debian-archive-keyring bash bats python3 \
			sqlite3 jq strace util-linux libcap2-bin procps git
		;;
	distro) echo debootstrap debian-archive-keyring util-linux git ;;
	real) echo python3-venv python3-pip git ;;
	bench) ;;
	*) die "no such set: $1" "sets are: build test fuzz vm distro real bench" ;;
	esac
}

missing_of() {
	local wanted
	# shellcheck disable=SC2046  # one word per package
	wanted=$(printf '%s\n' $(for s in "$@"; do packages_of "$s"; done) | sort -u)
	# shellcheck disable=SC2086
	comm -23 <(echo "$wanted") <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
		sed -n 's/^installed //p' | sort -u) | paste -sd ' '
}

# The lists have a lock that DPkg::Lock::Timeout does not cover.
update_lists() {
	local try out
	for try in $(seq 30); do
		out=$("${APT[@]}" update 2>&1) && return 0
		[[ $out == *"Could not get lock"* ]] || break
		[ "$try" = 1 ] && say "another process holds apt's lists: waiting"
		sleep 10
	done
	die "apt-get update failed:" "$out" "check the network and /etc/apt, then run tools/deps.sh again"
}

# The tests start engines of their own: those of the packages stay down. What the administrator has decided stays.
no_services() {
	local policy=/usr/sbin/policy-rc.d
	[ ! -e $policy ] || return 0
	printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy
	# shellcheck disable=SC2064  # its name now
	trap "rm -f $policy" EXIT
}

install_missing() {
	local missing=$1
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		die "missing: $missing" "installing them needs root: run  sudo tools/deps.sh ${SETS[*]}"
	fi
	say "updating the package lists"
	update_lists
	missing=$(missing_of "${APT_SETS[@]}")
	say "installing $missing"
	no_services
	# shellcheck disable=SC2086
	if ! out=$("${APT[@]}" install $missing 2>&1); then
		die "apt-get install failed:" "$out" "solve what it names, then run tools/deps.sh again"
	fi
}

# One at a time, so that one that is not to be had does not take the others with it.
install_bench() {
	local p venv=${XDG_CACHE_HOME:-$HOME/.cache}/peakphase/bench-venv updated=
	for p in linux-perf bpftrace python3-venv; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' $p 2>/dev/null)" = installed ] && continue
		if [ "$(id -u)" -ne 0 ]; then
			say "note: $p is missing and needs root to install; the benchmark goes without"
			continue
		fi
		[ -n "$updated" ] || { say "updating the package lists" && update_lists && updated=1; }
		say "installing $p"
		"${APT[@]}" install $p >/dev/null 2>&1 || say "note: $p could not be installed; the benchmark goes without"
	done
	if ! "$venv/bin/python3" -c 'import memory_profiler, psutil' 2>/dev/null; then
		say "installing memory_profiler and psutil in $venv"
		{ /usr/bin/python3 -m venv "$venv" && "$venv/bin/pip" -q install memory_profiler psutil; } >/dev/null 2>&1 ||
			say "note: memory_profiler could not be installed; the benchmark goes without"
	fi
}

# Elsewhere we cannot install, but need not refuse to build when all is there.
without_apt() {
	local c lacking=
	for c in gcc make clang bpftool pkg-config; do
		command -v $c >/dev/null || [ -x /usr/sbin/$c ] || lacking+=" $c"
	done
	for c in libbpf libelf libdw sqlite3 jansson ncursesw libpcre2-8 libcurl libmd; do
		pkg-config --exists $c 2>/dev/null || lacking+=" $c(devel)"
	done
	[ -z "$lacking" ] ||
		die "this is no Debian or Ubuntu (no apt-get), and these are missing:$lacking" \
			"install them with the system's package manager, and for the tests cmocka, bats, shellcheck, clang-format"
	exit 0
}

case ${1-} in -h | --help) usage && exit 0 ;; esac
SETS=("$@")
[ $# -gt 0 ] || SETS=(build test)
for s in "${SETS[@]}"; do packages_of "$s" >/dev/null || exit 1; done
for s in apt-get dpkg-query; do command -v $s >/dev/null || without_apt; done

APT_SETS=()
for s in "${SETS[@]}"; do [ "$s" = bench ] || APT_SETS+=("$s"); done
if [ ${#APT_SETS[@]} -gt 0 ]; then
	missing=$(missing_of "${APT_SETS[@]}")
	# Anyone may build where only the tests' packages are missing.
	if [ -n "$missing" ] && [ $# -eq 0 ] && [ "$(id -u)" -ne 0 ] && [ -z "$(missing_of build)" ]; then
		say "note: the tests need also: $missing; as root, tools/deps.sh installs them"
	else
		install_missing "$missing"
	fi
fi
[[ " ${SETS[*]} " != *" bench "* ]] || install_bench
exit 0
