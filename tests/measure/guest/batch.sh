# What a batch that would take every CPU takes from one web thread, and what it has of the cores that are idle.
# $HOWS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
gate='class web: match exe web; batch: match exe batch, only when core idle;'
for load in "spin 1" "work 1 5 5 $((SECONDS_EACH + 8))" "work 2 5 5 $((SECONDS_EACH + 8))"; do
    for how in $HOWS; do
        daemon= as=
        case $how in
        stock) ;;
        SCHED_IDLE) as='chrt -i 0' ;;
        cookie) enforce "$gate" --eyes tick ;;
        *) enforce "$gate" --eyes $how ;;
        esac
        $as batch spin 8 &
        batch=$!
        web $load >/dev/null &
        web=$!
        nap 1
        before=$(used $daemon)
        trace_all
        nap $SECONDS_EACH
        echo 0 >/sys/kernel/tracing/tracing_on
        after=$(used $daemon)
        stop $web $batch
        beside=$(load beside web batch </sys/kernel/tracing/trace)
        set -- $load
        say batch $how $1 $2 $beside $((after - before))
        [ -z "$daemon" ] || end_daemon TERM
    done
done
