# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shared by the scripts that make guests and roots of other Debian releases. Sourced; $TOP is the source tree.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export TOP
CACHE=${PEAKPHASE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/peakphase}
ME=${0##*/}

say() { printf '%s: %s\n' "$ME" "$*" >&2; }
die() {
	printf "$ME: %s\n" "$@" >&2
	exit 1
}

# The archive that this machine's apt is set up to use, for one suite: nothing here names a host.
# Other suites of Debian are served beside the configured ones, the security archive apart from the main one.
debian_mirror() {
	local suite=$1 line kind=main url
	[[ $suite != *-security ]] || kind=security
	if [ $kind = main ] && [ -n "${PEAKPHASE_DEBIAN_MIRROR-}" ]; then
		echo "$PEAKPHASE_DEBIAN_MIRROR"
		return 0
	fi
	while read -r line; do
		url=${line#\'}
		url=${url%%\'*}
		[[ $url =~ ^(.*)/dists/((bullseye|bookworm|trixie|forky|sid)(-security)?)/(InRelease|Release)$ ]] || continue
		if { [ $kind = security ] && [ -n "${BASH_REMATCH[4]}" ]; } ||
			{ [ $kind = main ] && [ -z "${BASH_REMATCH[4]}" ]; }; then
			echo "${BASH_REMATCH[1]}"
			return 0
		fi
	done < <(apt-get update --print-uris 2>/dev/null)
	return 1
}

# An apt of our own: its lists and downloads stay in one directory, and the host's apt is neither read nor changed,
# except for how it reaches the network (proxies).
#   private_apt DIR SUITE...    then: "${APT_PRIVATE[@]}" with apt-get/apt-cache's arguments
private_apt() {
	local dir=$1 suite url keys=/usr/share/keyrings/debian-archive-keyring.gpg
	shift
	[ -e $keys ] || die "no $keys" "install debian-archive-keyring: tools/deps.sh vm"
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	: >"$dir/status"
	: >"$dir/sources.list"
	for suite in "$@"; do
		if ! url=$(debian_mirror "$suite"); then
			[[ $suite == *-security ]] && continue
			die "this machine's apt names no Debian archive to take $suite from" \
				"set PEAKPHASE_DEBIAN_MIRROR to the URL of one"
		fi
		echo "deb [signed-by=$keys] $url $suite main" >>"$dir/sources.list"
	done
	APT_PRIVATE=(-o "Dir::State=$dir" -o "Dir::State::Lists=$dir/lists" -o "Dir::State::status=$dir/status"
		-o "Dir::Cache=$dir" -o "Dir::Cache::archives=$dir/archives" -o "Dir::Etc::SourceList=$dir/sources.list"
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::PreferencesParts=/dev/null -o Dir::Etc::Preferences=/dev/null
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
		-o Acquire::Retries=3 -o APT::Sandbox::User=root -o APT::Architecture=amd64 -o APT::Architectures::=amd64)
}

# The source tree as it is being worked on: what git tracks and what is new, without what it ignores.
copy_tree() {
	local to=$1
	mkdir -p "$to"
	(
		cd "$TOP" || exit 1
		git -c safe.directory="$TOP" ls-files -z --cached --others --exclude-standard |
			while IFS= read -r -d "" f; do if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\0" "$f"; fi; done |
			tar -c --null -T - | tar -x --no-same-owner -C "$to"
		[ "${PIPESTATUS[*]}" = "0 0 0 0" ]
	) || die "the source tree could not be copied to $to"
}
