#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Markers without a tracer: any user, no BPF. The header in every way of compiling we know of: each
# program puts a trap on the three sites in turn and checks what its registers say (marker/main.c), and
# the file is searched as the tracer does (marker/sites.c), also stripped.

# bats file_tags=host

bats_require_minimum_version 1.5.0

WARN="-Wall -Wextra -Wpedantic -pedantic -Werror -Wshadow -Wundef -Wmissing-declarations -Wno-deprecated"

setup_file() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	BUILD=${PEAKPHASE_BUILD:-$ROOT/build}
	D=$BATS_FILE_TMPDIR
	M=$ROOT/tests/marker
	export ROOT BUILD D M
	gcc -O2 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -c "$M/trap.c" -o "$D/trap.o"
	gcc -O2 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$ROOT/user" "$M/sites.c" \
		"$BUILD/libpeakphase.a" -lelf -liberty -o "$D/sites"
}

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

only_on_x86_64() {
	[ "$(uname -m)" = x86_64 ] || skip "not on this kernel: sites are checked on x86-64"
}

# Found by the note: one marker, its three NOPs where the header puts them.
one_marker() {
	local found
	found=$("$D/sites" "$1") || return 1
	[ "$found" = "marker 0 1 6" ] || fail "$1: found '$found'"
}

# COMPILER OPTIONS...: both translation units in one program.
one_program() {
	local p=$D/program
	# What --coverage has written for the program before: gcc 14 complains of it.
	rm -f "$p" "$D"/*.gcda
	# shellcheck disable=SC2086
	"$@" -I"$ROOT/include" $WARN "$M/main.c" "$M/other.c" -x none "$D/trap.o" -o "$p" ||
		fail "does not build: $*" || return 1
	(cd "$D" && "$p" 1) || fail "check $? of main.c failed: $*" || return 1
	one_marker "$p" || fail "$*" || return 1
	strip -o "$p.stripped" "$p" || return 1
	one_marker "$p.stripped" || fail "stripped: $*"
}

# Lines of options on stdin, each with -O0, -O2 and LTO.
matrix() {
	local options o
	while read -ra options; do
		[ "${#options[@]}" -gt 0 ] || continue
		for o in -O0 -O2 -flto; do
			case "${options[0]} $o" in
			clang*-flto) one_program "${options[@]}" -O2 -flto -fuse-ld=lld ;;
			*-flto) one_program "${options[@]}" -O2 -flto ;;
			*) one_program "${options[@]}" "$o" ;;
			esac || return 1
		done
	done
}

@test "header: languages, levels, LTO, static, PIE and not" {
	only_on_x86_64
	local compiler o
	for compiler in "gcc -std=c89" "gcc -std=c99" "clang -std=c99" "clang -std=c17" \
		"g++ -x c++ -std=c++98" "g++ -x c++ -std=c++11" "g++ -x c++ -std=c++20" \
		"clang++ -x c++ -std=c++11" "clang++ -x c++ -std=c++20"; do
		for o in -O0 -O1 -O2 -O3 -Os -static "-static-pie -fPIE" "-no-pie -fno-pie -O2" \
			"-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections"; do
			# shellcheck disable=SC2086
			one_program $compiler $o
		done
		case $compiler in
		clang*) o="-flto -fuse-ld=lld" ;;
		*) o=-flto ;;
		esac
		# shellcheck disable=SC2086
		one_program $compiler -O2 $o
	done
}

@test "header: gcc options that instrument, protect or move functions" {
	only_on_x86_64
	local gold=
	# Debian 13's binutils are without it; lld folds functions, too, below.
	! command -v ld.gold >/dev/null || gold='gcc -fuse-ld=gold -Wl,--icf=all -ffunction-sections'
	matrix <<-EOF
		gcc -pg
		gcc -pg -mfentry
		gcc -finstrument-functions
		gcc -fpatchable-function-entry=16,8
		gcc -fcf-protection
		gcc -fsanitize=address,undefined
		gcc -fsanitize=thread
		gcc -fstack-protector-all -fstack-clash-protection
		gcc -fsplit-stack
		gcc --coverage
		gcc -fprofile-generate
		gcc -fzero-call-used-regs=all
		gcc -mindirect-branch=thunk -mfunction-return=thunk
		gcc -masm=intel
		gcc -mcmodel=medium
		gcc -mcmodel=large
		gcc -mcmodel=large -fPIC
		gcc -fPIC -fno-plt
		$gold
		gcc -Wl,-z,noseparate-code -Wl,--build-id=none
		gcc -Wcast-qual -Wconversion -Wredundant-decls
		g++ -x c++ -fcf-protection -Weffc++ -Wold-style-cast -Wuseless-cast
	EOF
	one_program gcc -O2 -fuse-ld=lld -Wl,--icf=all -ffunction-sections -Wl,--gc-sections
}

@test "header: clang options that instrument, protect or move functions" {
	only_on_x86_64
	matrix <<-EOF
		clang -pg -mfentry
		clang -finstrument-functions
		clang -fpatchable-function-entry=16
		clang -fcf-protection
		clang -fsanitize=address,undefined
		clang -fsanitize=thread
		clang -fsanitize=memory
		clang -fsanitize=fuzzer-no-link,address
		clang -fsanitize=safe-stack
		clang -fsanitize=cfi -flto -fvisibility=hidden -fuse-ld=lld
		clang -fstack-protector-all
		clang -fprofile-instr-generate -fcoverage-mapping
		clang -fxray-instrument -fxray-instruction-threshold=1
		clang -mretpoline
		clang -masm=intel
		clang -mcmodel=large
		clang -fPIC -fno-plt
		clang -fno-integrated-as
		clang -flto=thin -fuse-ld=lld -Wl,--icf=all
		clang -ffunction-sections -fuse-ld=lld -Wl,--icf=all -Wl,--gc-sections
		clang -Wused-but-marked-unused -Wmissing-variable-declarations -Wcast-qual
	EOF
}

@test "header: each shared object has a marker of its own" {
	only_on_x86_64
	gcc -O2 -I"$ROOT/include" -fPIC -shared "$M/other.c" -o "$D/libother.so"
	clang -O2 -I"$ROOT/include" "$M/main.c" "$D/trap.o" -L"$D" -lother -Wl,-rpath,"$D" -o "$D/program"
	"$D/program" 2
	one_marker "$D/program"
	one_marker "$D/libother.so"
	strip "$D/libother.so"
	one_marker "$D/libother.so"
	"$D/program" 2
}

@test "header: objects of both compilers and languages, archives and ld -r share one marker" {
	only_on_x86_64
	gcc -O2 -I"$ROOT/include" -c "$M/main.c" -o "$D/main.o"
	clang -O0 -I"$ROOT/include" -c "$M/other.c" -o "$D/other.o"
	gcc "$D/main.o" "$D/other.o" "$D/trap.o" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
	ar crs "$D/libother.a" "$D/other.o"
	g++ "$D/main.o" "$D/trap.o" "$D/libother.a" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
	ld -r "$D/other.o" "$D/main.o" -o "$D/both.o"
	gcc "$D/both.o" "$D/trap.o" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
	# one half LTO: the copy that stays is the linker's choice
	gcc -O2 -flto -I"$ROOT/include" -c "$M/main.c" -o "$D/main.o"
	gcc -O2 -flto "$D/main.o" "$D/other.o" "$D/trap.o" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
	gcc -O2 -flto "$D/other.o" "$D/main.o" "$D/trap.o" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
}

@test "header: 300 translation units, 299 of them losing their marker" {
	only_on_x86_64
	local i
	gcc -O2 -I"$ROOT/include" -c "$M/other.c" -o "$D/other.o"
	gcc -O2 -I"$ROOT/include" -c "$M/main.c" -o "$D/main.o"
	for i in $(seq 298); do
		objcopy --redefine-sym other_begin="begin_$i" --redefine-sym other_enabled="enabled_$i" \
			"$D/other.o" "$D/other_$i.o"
	done
	gcc "$D/main.o" "$D"/other*.o "$D/trap.o" -o "$D/program"
	"$D/program" 1
	one_marker "$D/program"
}

@test "header: arm64 has its NOP and its note; other processors compile to nothing" {
	command -v aarch64-linux-gnu-gcc >/dev/null || fail "no aarch64-linux-gnu-gcc: run tools/deps.sh test"
	local o
	for o in -O0 -O2 "-O2 -flto" "-O2 -mbranch-protection=standard -pg -finstrument-functions"; do
		# shellcheck disable=SC2086
		aarch64-linux-gnu-gcc $o -Wall -Wextra -Wpedantic -Werror -I"$ROOT/include" -shared -fPIC \
			"$M/other.c" -o "$D/arm64.so"
		readelf -n "$D/arm64.so" | grep -A1 peakphase | grep -q 0x00000020
		"$D/sites" "$D/arm64.so" | grep -qEx 'marker 0 -[0-9]+ -[0-9]+'
		[ "$("$D/sites" "$D/arm64.so" | wc -l)" -eq 1 ]
	done
	for o in riscv64-linux-gnu i386-linux-gnu x86_64-linux-gnux32 x86_64-apple-darwin; do
		clang --target=$o -ffreestanding -Wall -Wextra -Wpedantic -Werror -I"$ROOT/include" \
			-c "$M/other.c" -o "$D/none.o"
		run ! grep -q note.peakphase "$D/none.o"
	done
}

@test "a program's own log_rss() is found, past an endbr64, and not beside a marker" {
	only_on_x86_64
	local cf entry
	for cf in none branch; do
		for o in -O0 -O2; do
			gcc -x c $o -fcf-protection=$cf "$M/own.c" -o "$D/own"
			entry=$(nm "$D/own" | sed -n 's/^0*\([0-9a-f]*\) T log_rss$/\1/p')
			[ $cf = none ] || entry=$(printf '%x' $((0x$entry + 4)))
			# text is mapped at its offset in the file in these (PIE)
			[ "$("$D/sites" "$D/own")" = "function 0x$entry" ]
			g++ -x c++ $o -fcf-protection=$cf "$M/own.c" -o "$D/own"
			[[ "$("$D/sites" "$D/own")" = "function 0x"* ]]
		done
	done
	gcc -O2 -fPIC -shared -s "$M/own.c" -o "$D/own.so"
	[[ "$("$D/sites" "$D/own.so")" = "function 0x"* ]]
	gcc -O2 -s "$M/own.c" -o "$D/own"
	[ -z "$("$D/sites" "$D/own")" ]
}

@test "liblogrss.so: its functions, one marker, no other library" {
	local lib=$BUILD/liblogrss.so
	[ "$(nm -D --defined-only "$lib" | awk '{ print $3 }' | xargs)" = \
		"log_rss log_rss_begin log_rss_enabled log_rss_end log_rss_note log_rss_note_span" ]
	readelf -d "$lib" | grep -q 'soname: \[liblogrss.so.1\]'
	run ! grep -q NEEDED <(readelf -d "$lib")
	[ "$(nm -D --undefined-only "$lib" | awk '{ print $1, $2 }')" = "w environ" ]
	only_on_x86_64
	one_marker "$lib"
}

@test "liblogrss.so: PEAKPHASE_LOG=1 prints what is and what was, of any label" {
	cat >"$D/log.c" <<-'EOF'
		#include <errno.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		void log_rss(const char *);
		int main(void)
		{
			char *edge = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
			munmap(edge, 4096);
			memset(edge - 100, 'e', 100);
			errno = 77;
			free(memset(malloc(60 << 20), 1, 60 << 20));
			memset(malloc(20 << 20), 1, 20 << 20);
			log_rss("load:users");
			log_rss("a\033[31m\302\233b\n");
			log_rss("g\303\266 \342\200\256x\342\201\251 \303");
			log_rss(NULL), log_rss((void *)0x1000), log_rss(edge - 50);
			edge[-1] = 0;
			log_rss(edge - 5);
			return errno != 77;
		}
	EOF
	local compiler log
	for compiler in gcc clang; do
		$compiler -shared -O2 -fPIC -fvisibility=hidden -fno-stack-protector -nostdlib -I"$ROOT/include" -I"$ROOT/user" \
			"$ROOT"/user/marker/logrss.c "$ROOT"/user/marker/print.c "$ROOT"/user/lib/utf8.c -Wl,-soname,liblogrss.so.1 -o "$D/liblogrss.so.1"
		$compiler -O1 -fno-builtin "$D/log.c" "$D/liblogrss.so.1" -o "$D/log"
		for log in "" PEAKPHASE_LOG= PEAKPHASE_LOG=0 PEAKPHASE_LOG=11 XPEAKPHASE_LOG=1; do
			[ -z "$(env ${log:+"$log"} LD_LIBRARY_PATH="$D" "$D/log" 2>&1)" ] || fail "prints with '$log'"
		done
		PEAKPHASE_LOG=1 LD_LIBRARY_PATH=$D "$D/log" >"$D/log.out" 2>"$D/log.err"
		[ ! -s "$D/log.out" ]
		sed -E 's/ ~2[0-3]\.[0-9] MB  \(peak 6[0-3]\.[0-9]\)$/ OK/' "$D/log.err" | diff - <(printf '%s\n' \
			'RSS [load:users]: OK' 'RSS [a\x1b[31m\xc2\x9bb\x0a]: OK' 'RSS [gö \xe2\x80\xaex\xe2\x81\xa9 \xc3]: OK' 'RSS [(null)]: OK' \
			'RSS [(label not readable)]: OK' 'RSS [(label not readable)]: OK' 'RSS [eeee]: OK')
	done
	# Anyone may run it without an environment.
	[ -z "$(env -i LD_LIBRARY_PATH="$D" "$D/log" 2>&1)" ]
}

@test "header: untraced cost of a call, limit 5 ns" {
	only_on_x86_64
	local cost
	gcc -O2 -std=gnu17 -I"$ROOT/include" "$M/cost.c" -o "$D/cost"
	cost=$("$D/cost")
	echo "# $(echo "$cost" | xargs) ns" >&3
	# a span is two calls; another program on this CPU may take a part of it: the best of 5 runs
	for _ in 1 2 3 4 5; do
		awk '/checkpoint/ { a = $2 } /span/ { b = $2 } END { exit !(a > 0 && a <= 5 && b <= 10) }' \
			<<<"$cost" && return 0
		cost=$("$D/cost")
	done
	fail "over the limit: $cost"
}

@test "no tracer: no output, no file" {
	local dir=$D/empty
	mkdir -p "$dir"
	gcc -O2 -I"$ROOT/include" "$M/main.c" "$M/other.c" "$D/trap.o" -o "$D/program"
	(cd "$dir" && [ -z "$("$D/program" 1 2>&1)" ])
	(cd "$dir" && [ -z "$(env -i PYTHONPATH="$BUILD/python" PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -c 'import peakphase as p
p.log_rss("x")
with p.phase("y"): pass' 2>&1)" ])
	[ -z "$(ls -A "$dir")" ]
}

@test "python: the package" {
	PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -W error -m unittest discover -s "$ROOT/tests/python"
}

# From a copy: pip may write beside the sources.
@test "python: pip installs it offline, with a library of its own, and without a compiler" {
	mkdir -p "$D/src/user/lib" "$D/src/include"
	cp -r "$ROOT/user/marker" "$D/src/user/"
	cp "$ROOT"/user/lib/{utf8.c,text.h} "$D/src/user/lib/"
	cp -r "$ROOT/include/peakphase" "$D/src/include/"
	pip_install() {
		/usr/bin/python3 -m pip install -q --no-index --no-build-isolation --no-cache-dir \
			--disable-pip-version-check --root-user-action=ignore --target "$1" "$2"
	}
	installed() {
		PYTHONPATH=$1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "import peakphase, sys
assert peakphase.__file__.startswith('$1'), peakphase.__file__
sys.exit((peakphase.begin('x') == 1) != $2)"
	}
	pip_install "$D/with" "$D/src/user/marker/python"
	installed "$D/with" False
	[ -f "$D/with/peakphase/py.typed" ]
	PYTHONPATH=$D/with /usr/bin/python3 -c "import importlib.metadata as m
assert m.version('peakphase') == __import__('peakphase').__version__
assert 'peakphase.kedro_hooks:hooks' in [e.value for e in m.distribution('peakphase').entry_points], m.distribution('peakphase').entry_points"
	only_on_x86_64
	one_marker "$D/with/peakphase/liblogrss.so"
	# a source distribution carries the C sources
	/usr/bin/python3 -c "import sys; sys.path.insert(0, '$D/src/user/marker/python')
import peakphase_build; peakphase_build.build_sdist('$D')"
	pip_install "$D/sdist" "$D"/peakphase-*.tar.gz
	installed "$D/sdist" False
	CC=/nonexistent pip_install "$D/without" "$D/src/user/marker/python"
	[ ! -e "$D/without/peakphase/liblogrss.so" ]
}

@test "make install: library, header, pkg-config, Python package; a program builds against it" {
	local dest=$D/dest
	make -s -C "$ROOT" OUTPUT="$D/make" DEPS="$D/.deps" DESTDIR="$dest" PREFIX=/opt/pp install-marker
	install -D "$ROOT/include/peakphase/log_rss.h" "$dest/opt/pp/include/peakphase/log_rss.h"
	[ "$(readlink "$dest/opt/pp/lib/liblogrss.so")" = liblogrss.so.1 ]
	local python
	python=$(echo "$dest"/opt/pp/lib/python3*/dist-packages)
	[ "$(readlink -f "$python/peakphase/liblogrss.so")" = "$(readlink -f "$dest/opt/pp/lib/liblogrss.so.1")" ]
	PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c \
		'import peakphase, sys; sys.exit(peakphase.begin("x") == 1)'
	PYTHONPATH=$python /usr/bin/python3 -c 'from importlib.metadata import distribution as d; assert d("peakphase").entry_points'
	export PKG_CONFIG_PATH=$dest/opt/pp/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
	cat >"$D/user.c" <<-EOF
		#include <stdint.h>
		void log_rss(const char *);
		uint64_t log_rss_begin(const char *);
		void log_rss_end(uint64_t);
		int main(void) { log_rss("x"); uint64_t t = log_rss_begin("y"); log_rss_end(t); return !t; }
	EOF
	# shellcheck disable=SC2046
	gcc "$D/user.c" $(pkg-config --cflags --libs peakphase) -o "$D/user"
	LD_LIBRARY_PATH=$dest/opt/pp/lib "$D/user"
	# shellcheck disable=SC2046
	gcc -I"$M" "$M/other.c" $(pkg-config --cflags peakphase) -c -o "$D/other.o"
}
