#!/usr/bin/env bash
# Shows the product on this host in under half a minute: real processes, and at each step what the kernel says of them.
set -euo pipefail

cotenant=$(realpath "${1:?usage: demo.sh PATH-OF-COTENANT}")
if [ "$(id -u)" != 0 ]; then
    echo 'The demo places processes, which needs root: run it with sudo.' >&2
    exit 1
fi

stage=$(mktemp -d)
chmod 755 "$stage"
cd "$stage"
loads=()
daemon=

# Whatever happens, the host is left as it was.
finish() {
    status=$?
    "$cotenant" release "${place[@]}" >/dev/null 2>&1 || true
    [ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
    for pid in "${loads[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    cd / && rm -rf "$stage"
    exit "$status"
}
place=(--run-dir "$stage/run" --group "cotenant-demo-$$")
trap finish EXIT INT TERM

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain"; }

# What the kernel says, from /proc and chrt alone.
kernel() {
    printf '%-8s %-7s %-10s %-13s %s\n' name process CPUs policy priority
    for pid in "${loads[@]}"; do
        printf '%-8s %-7s %-10s %-13s %s\n' \
            "$(cat "/proc/$pid/comm")" "$pid" "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status")" \
            "$(chrt -p "$pid" | sed -n 's/.*policy: //p')" "$(chrt -p "$pid" | sed -n 's/.*priority: //p')"
    done
}

# Waits until the daemon has said it, for at most ten seconds.
heard() {
    for _ in $(seq 500); do
        if tail -n +"$from" enforce.log | grep -qF -- "$1"; then return 0; fi
        sleep 0.02
    done
    echo "the daemon did not say: $1" >&2
    cat enforce.log >&2
    exit 1
}
mark() { from=$(($(wc -l <enforce.log) + 1)); }

# A machine without SMT is played as one with it, two CPUs a core, so that there is something to see.
cpus=$(nproc --all)
machine=live
if [ "$(cat /sys/devices/system/cpu/smt/active 2>/dev/null || echo 0)" = 0 ] && [ $((cpus % 2)) = 0 ]; then
    machine="pack:1 core:$((cpus / 2)) pu:2"
fi

say '1. A web load that works in short bursts, and two batch loads that take all they can get'
cp "$(command -v bash)" web
cp "$(command -v bash)" batch
./web -c 'exec {never}<> <(:); while :; do for ((i = 0; i < 3000; i++)); do :; done; read -t 0.01 -u $never; done' &
loads+=($!)
for _ in 1 2; do
    ./batch -c 'while :; do :; done' &
    loads+=($!)
done
sleep 0.3
kernel | tee before.txt

say '2. A policy for them, and what it comes to on this machine'
[ "$machine" = live ] || echo "(this machine has no SMT; it is played as \"$machine\")"
cat >web.policy <<POLICY
rt class web:
    match exe $stage/web and user root,
    prefer idle core,
    push equal prio;

batch:
    match exe $stage/batch,
    only when core idle;
POLICY
cat web.policy
show "cotenant plan web.policy"
"$cotenant" plan --topology "$machine" web.policy

say '3. Enforced: the status of the daemon, and what the kernel says'
show "cotenant enforce web.policy &"
: >enforce.log
mark
"$cotenant" enforce --topology "$machine" "${place[@]}" web.policy 2>enforce.log &
daemon=$!
heard 'the policy is in force'
sleep 0.3
show "cotenant status"
"$cotenant" status "${place[@]}"
say 'The kernel, asked directly:'
kernel

say '4. The policy is edited; the daemon sees it and applies the difference'
mark
sed -i 's/push equal prio;/push equal prio,\n    priority 20;/' web.policy
heard 'the changed policy is in force'
tail -n +"$from" enforce.log
kernel

say '5. The policy is broken; the plan in force stays, and the log says why'
mark
sed -i 's/priority 20/priotity 20/' web.policy
heard 'keeping the one before'
tail -n +"$from" enforce.log
kernel

say '6. Released: everything is as it was'
show "cotenant release"
"$cotenant" release "${place[@]}"
wait "$daemon"
daemon=
kernel | tee after.txt
if cmp -s before.txt after.txt; then
    say 'The kernel says the same as before the policy.'
else
    say 'Something differs from before:'
    diff before.txt after.txt
fi
