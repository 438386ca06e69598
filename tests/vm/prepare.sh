#!/usr/bin/env bash
# Gets what the tests in an emulated machine need: QEMU, a static busybox, and Debian's stock kernels for clouds.
#
# The kernels are only unpacked, never installed, into a cache outside the tree. What is there is not looked for again;
# remove the cache to have newer ones. Only the installation of packages needs root.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cotenant/kernels

# Two kernels, because Linux 6.2 changed what becomes of a thread's own mask when its cpuset changes: the release's own,
# and 6.12, where the distribution has it beside that. Each is kept under the name of its meta package.
stock=linux-image-cloud-amd64
newer=linux-image-6.12-cloud-amd64

fail() {
    printf 'tests/vm/prepare.sh: %s\n' "$1" >&2
    echo 'To run the tests without those in an emulated machine, say so: COTENANT_VM=skip make test' >&2
    exit 1
}

if [ "${COTENANT_VM:-}" = skip ]; then
    echo 'COTENANT_VM=skip: nothing is prepared, and no emulated machine is going to be tested'
    exit 0
fi

root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

updated=
update() {
    [ -n "$updated" ] || root apt-get update -qq || fail 'the package lists cannot be had; is there a network?'
    updated=yes
}

missing=()
command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
dpkg-query --show --showformat '${db:Status-Status}\n' busybox-static 2>/dev/null | grep -qx installed \
    || missing+=(busybox-static)
if [ ${#missing[@]} != 0 ]; then
    echo "installing ${missing[*]}"
    update
    root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null \
        || fail "cannot install ${missing[*]}"
fi

# The package that a meta package stands for; nothing where this distribution has no such meta package.
image_of() {
    apt-cache depends --important "$1" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*-cloud-amd64\)$/\1/p'
}

fetch() {
    local meta=$1 image work
    image=$(image_of "$meta")
    if [ -z "$image" ]; then
        update
        image=$(image_of "$meta")
    fi
    [ -n "$image" ] || return 1
    echo "fetching $image"
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    # As the user who runs this, because the directory is not open to the one apt would use.
    if ! (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$image"); then
        # The lists may be older than the archive.
        update
        image=$(image_of "$meta")
        (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$image") \
            || { rm -rf "$work"; fail "cannot download $image"; }
    fi
    # In one step at the end, so that what is there is whole.
    if ! dpkg --fsys-tarfile "$work"/*.deb | tar -x -C "$work" --wildcards './boot/vmlinuz-*'; then
        rm -rf "$work"
        fail "there is no kernel in $image"
    fi
    mv -T "$work"/boot/vmlinuz-* "$cache/$meta"
    rm -rf "$work"
}

mkdir -p "$cache"
[ -e "$cache/$stock" ] || fetch "$stock" || fail "there is no package $stock: the tests need Debian on x86-64"
# Where there is no second one, the release's own is 6.12 or newer.
[ -e "$cache/$newer" ] || fetch "$newer" || ln -sfn "$stock" "$cache/$newer"
