#!/usr/bin/env bash
# Gets the emulator that measurements need, beside the installed one: QEMU 10, from Debian's backports on Debian 12.
#
# With -icount the virtual CPUs take turns. QEMU 7 gives each of them milliseconds at a time, so that a wake-up takes as long;
# since version 8 a turn ends at the next timer at the latest, for all of them together. Unpacked, never installed, into a
# cache outside the tree, with package lists of its own, so that nothing about the host's packages changes.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cotenant
emulator=$cache/qemu

fail() {
    printf 'tests/vm/emulator.sh: %s\n' "$1" >&2
    exit 1
}

[ -e "$emulator" ] && exit 0

mkdir -p "$cache"
work=$(mktemp -d "$cache/qemu.XXXXXX")
trap 'rm -rf "$work"' EXIT

installed=$(qemu-system-x86_64 --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\)\..*/\1/p')
if [ "${installed:-0}" -ge 9 ]; then
    # The host's own will do.
    mkdir -p "$work/root/usr/bin"
    ln -s "$(command -v qemu-system-x86_64)" "$work/root/usr/bin/qemu-system-x86_64"
    mv -T "$work/root" "$emulator"
    exit 0
fi

release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-cache policy | sed -n "s|^ *[0-9]* \(http[^ ]*\) $release/main .*|\1|p" | head -n 1)
[ -n "$mirror" ] || fail 'the archive that packages come from cannot be made out'
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/root"
printf 'deb %s %s main\ndeb %s %s-backports main\n' "$mirror" "$release" "$mirror" "$release" >"$work/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/lists" \
        -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        -o APT::Sandbox::User=root "$@"
}
echo 'fetching QEMU from backports'
apt update || fail "there are no backports for $release to be had"
(cd "$work/archives" && apt -t "$release-backports" download qemu-system-x86 qemu-system-common qemu-system-data seabios) \
    || fail 'QEMU cannot be downloaded'
for package in "$work"/archives/*.deb; do
    dpkg-deb --extract "$package" "$work/root"
done
missing=$(ldd "$work/root/usr/bin/qemu-system-x86_64" | sed -n 's/^\s*\(.*\) => not found/\1/p' | tr '\n' ' ')
[ -z "$missing" ] || fail "it needs libraries that the installed QEMU does not: $missing"
mv -T "$work/root" "$emulator"
