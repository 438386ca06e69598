#!/usr/bin/env bash
# Fetches a Debian into a directory, systemd included, to try the package in. It is of this host's release, because the package is
# built against this host's libraries. What is there is not looked for again; remove the directory to have a newer one.
set -euo pipefail

. /etc/os-release
root=${XDG_CACHE_HOME:-$HOME/.cache}/cotenant/debian-$VERSION_CODENAME
[ ! -e "$root" ] || exit 0

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

if ! command -v debootstrap >/dev/null; then
    echo 'installing debootstrap'
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
fi

mkdir -p "$(dirname "$root")"
work=$(mktemp -d "$root.XXXXXX")
trap 'as_root rm -rf "$work"' EXIT
chmod 755 "$work"
echo "fetching Debian $VERSION_CODENAME into $root"
# What the package depends on too: dpkg does not fetch anything, and a test of the package needs no network.
if ! as_root debootstrap --variant=minbase --include=systemd-sysv,dbus,dbus-user-session,libpam-systemd,libhwloc15,libelf1,zlib1g \
    "$VERSION_CODENAME" "$work" >"$work.log" 2>&1; then
    tail -n 20 "$work.log" >&2
    rm -f "$work.log"
    echo 'tests/package/prepare.sh: Debian cannot be fetched; is there a network?' >&2
    exit 1
fi
rm -f "$work.log"
as_root rm -rf "$work"/var/cache/apt/archives/*.deb "$work"/var/lib/apt/lists/*
# In one step at the end, so that what is there is whole.
mv -T "$work" "$root"
