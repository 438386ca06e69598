#!/usr/bin/env bash
# Compiles the sensor's program, or with --check only says whether the object in the tree is what its source makes.
#
# The object is kept in the tree, so that neither a compiler for BPF nor kernel headers are needed to build cotenant. Its
# bytes depend on the compiler's version, which therefore is part of the contract.
set -euo pipefail
cd "$(dirname "$0")"

clang=clang-14 strip=llvm-strip-14
for tool in $clang $strip; do
    if ! command -v $tool >/dev/null; then
        echo "enforcer/bpf/build.sh: there is no $tool; on Debian 12: apt-get install clang-14 llvm-14" >&2
        exit 1
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Version 3 of the instruction set has the atomic operations that the program needs, and Linux 5.12 has it. The type
# information, which the loader needs, is not what is stripped; the names of files in it begin here, wherever that is.
$clang -target bpf -mcpu=v3 -O2 -g "-fdebug-prefix-map=$PWD=." -Wall -Wextra -Werror -c sensor.bpf.c -o "$work/sensor.bpf.o"
$strip -g "$work/sensor.bpf.o"

case ${1:-} in
    --check)
        if ! cmp -s "$work/sensor.bpf.o" sensor.bpf.o; then
            echo 'enforcer/bpf/sensor.bpf.o is not what sensor.bpf.c makes: run enforcer/bpf/build.sh' >&2
            exit 1
        fi
        ;;
    '') cp "$work/sensor.bpf.o" sensor.bpf.o ;;
    *)
        echo 'usage: build.sh [--check]' >&2
        exit 2
        ;;
esac
