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
# What the first does, what the next seven do, and the others: rest of a request in per cent, or asleep.
for load in "asleep 1900 asleep asleep" "little 1900 1900 1900" "much 25 25 1900"; do
    set -- $load
    enforce "$policy" --eyes tick
    running=
    # In the background always, so that what is stopped later is the program itself.
    run() { if [ $2 = asleep ]; then exec $1 sleep 1; else exec $1 work 1 $speed $2 3600; fi >/dev/null; }
    for n in $(seq 1 19); do
        if [ $n -lt 8 ]; then run w$n $3 & else run w$n $4 & fi
        running="$running $!"
    done
    run batch $([ $1 = asleep ] && echo asleep || echo 0) &
    running="$running $!"
    # What sleeps is asleep for a while.
    nap 1
    trace_ready
    before=$(ticks)
    w0 work 1 $speed $2 $SECONDS_EACH traced >/dev/null
    say loop load=$1 ticks=$(($(ticks) - before)) $(load beside w0 batch </sys/kernel/tracing/trace)
    stop $running
    end_daemon TERM
done
