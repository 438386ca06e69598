# What the tick loop costs with twenty classes: while each works a little, and while eight of them keep all CPUs busy.
# $SECONDS_EACH is set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

ticks() { cotenant status --format json | sed 's/.*"ticks":\([0-9]*\).*/\1/'; }

take_short_turns
speed=$(load speed)
policy=
for n in $(seq 0 19); do
    cp /bin/web /bin/w$n
    policy="$policy class w$n: match exe w$n, prefer idle core;"
done
policy="$policy class batch: match exe batch, only when core idle;"
# Of a request's time, rest in per cent, for the first eight and the others.
for load in "little 1900 1900" "much 25 1900"; do
    set -- $load
    enforce "$policy" --eyes tick
    batch work 1 $speed 0 3600 >/dev/null &
    running=$!
    for n in $(seq 1 19); do
        if [ $n -lt 8 ]; then rest=$2; else rest=$3; fi
        w$n work 1 $speed $rest 3600 >/dev/null &
        running="$running $!"
    done
    trace_ready
    before=$(ticks)
    w0 work 1 $speed $2 $SECONDS_EACH traced >/dev/null
    say loop load=$1 ticks=$(($(ticks) - before)) $(load beside w0 batch </sys/kernel/tracing/trace)
    stop $running
    end_daemon TERM
done
