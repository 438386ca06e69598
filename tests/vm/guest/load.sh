# The tick loop on real siblings: overflow and gates, by group and by affinity.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

mkdir $groups/web $groups/batch

# Ten looks at what a process may use. The shell forks for none of it, because it is a load as well.
look() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        while read -r name value; do
            case $name in Cpus_allowed_list:) echo "@ $1 $value" ;; esac
        done <"/proc/$2/status"
        nap 0.1
    done
}
differs() { [ "$(cpus "$1")" != "$2" ]; }
# Hundredths of a second for which a process ran, all threads together.
ran() { cut -d' ' -f14 "/proc/$1/stat"; }

fronts=0,2,4,6
# At the usual 10 ms the daemon, which is not optimised here and emulated, is the largest load of all.
tick=40ms
for where in "" web; do
    key=overflow.${where:-root}
    enforce 'class web: match exe web, prefer idle core;' --eyes tick --tick $tick
    start group=$where web burst 2 8 2 && first=$pid
    say $key.placed "$(cotenant status | grep -m 1 '^web')"
    until_so has_cpus $first $fronts
    look $key.two $first
    start group=$where web burst 5 8 2 && second=$pid
    until_so differs $first $fronts
    look $key.seven $first
    stop $second
    until_so has_cpus $first $fronts
    look $key.two-again $first
    stop $first
    end_daemon TERM
done

# A batch that would take every CPU, beside a web that spins on one, then on all fronts, then on none. Web is held, a
# thread a core: the kernel's balancer thinks nothing of two on one front while a front runs SCHED_IDLE threads only.
for where in "" batch; do
    key=gate.${where:-root}
    enforce 'rt class web: match exe /bin/web, prefer idle core, never spill, hold equal prio; batch: match exe batch, only when core idle;' \
        --eyes tick --tick $tick
    start group=$where batch spin 8 && batch=$pid
    until_so has_policy $batch 5
    start web spin 1 && web=$pid
    until_so differs $batch 0-7
    nap 1
    look $key.one $batch
    trace_on web batch
    nap 2
    stop $web
    trace_off $key.trace
    until_so has_cpus $batch 0-7
    start web spin 4 && web=$pid
    nap 1
    for _ in 1 2 3 4 5; do
        say $key.four "$(cotenant status | grep -m 1 '^batch')"
        nap 0.1
    done
    before=$(ran $batch) web_before=$(ran $web)
    nap 2
    say $key.four.ran $(($(ran $batch) - before)) $(($(ran $web) - web_before))
    stop $web
    until_so has_cpus $batch 0-7
    say $key.none yes
    end_daemon TERM
    say $key.after "$(state $batch)"
    stop $batch
done
