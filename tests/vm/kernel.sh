#!/usr/bin/env bash
# Builds the one kernel that cannot be fetched: Debian's kernels have no core scheduling, so this is their 6.12 source with
# tests/vm/kernel.config. Some 12 minutes on two idle CPUs, once for each state of that file; the result is kept in the
# cache outside the tree, beside the stock kernels. Only the installation of packages needs root.
set -euo pipefail
cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cotenant/kernels
source=linux-source-6.12
config=$PWD/kernel.config
image=$cache/core-sched
made_from=$cache/core-sched.config

fail() {
    printf 'tests/vm/kernel.sh: %s\n' "$1" >&2
    exit 1
}

root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Comments may change without a new kernel.
options() { grep -v '^#' "$1" | sort -u; }

if [ -e "$image" ] && [ -e "$made_from" ] && cmp -s <(options "$made_from") <(options "$config"); then
    exit 0
fi

missing=()
for package in gcc make flex bison bc libelf-dev libssl-dev dwarves xz-utils; do
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed \
        || missing+=("$package")
done
root apt-get update -qq || fail 'the package lists cannot be had; is there a network?'
if [ ${#missing[@]} != 0 ]; then
    echo "installing ${missing[*]}"
    root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null \
        || fail "cannot install ${missing[*]}"
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "fetching $source"
# As the user who runs this, because the directory is not open to the one apt would use.
(cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$source") || fail "cannot download $source"
dpkg --fsys-tarfile "$work"/*.deb | tar -x -O "./usr/src/$source.tar.xz" | tar -x -J -C "$work" --strip-components=1
rm "$work"/*.deb

log=$work/build.log
cd "$work"
make -s tinyconfig >"$log" 2>&1
scripts/kconfig/merge_config.sh -m .config "$config" >>"$log" 2>&1
make -s olddefconfig >>"$log" 2>&1
lost=$(comm -23 <(options "$config") <(options .config))
[ -z "$lost" ] || fail "this kernel cannot have: $(echo "$lost" | tr '\n' ' ')"

echo "building a kernel with core scheduling, some 12 minutes on two idle CPUs"
if ! make -s -j"$(nproc)" bzImage >>"$log" 2>&1; then
    tail -20 "$log" >&2
    fail 'the kernel does not build'
fi
# The kernel last, so that what is there is whole.
rm -f "$image"
cp "$config" "$made_from"
cp arch/x86/boot/bzImage "$image.new"
mv "$image.new" "$image"
