# What a batch that would take every CPU takes from one web thread, and what it has of the cores that are idle.
# $HOWS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
speed=$(load speed)
gate='class web: match exe web; batch: match exe batch, only when core idle;'
# Threads of web, and their rests in per cent of a request.
for load in "1 0" "1 100" "2 100"; do
    for how in $HOWS; do
        daemon= as=
        case $how in
        stock) ;;
        SCHED_IDLE) as='chrt -i 0' ;;
        cookie) enforce "$gate" --eyes tick ;;
        *) enforce "$gate" --eyes $how ;;
        esac
        $as batch work 8 $speed 0 3600 >/dev/null &
        batch=$!
        trace_ready
        web work ${load% *} $((5 * speed)) ${load#* } $SECONDS_EACH traced >/tmp/done
        stop $batch
        beside=$(load beside web batch </sys/kernel/tracing/trace)
        say batch how=$how n=${load% *} rest=${load#* } $beside $(cat /tmp/done)
        [ -z "$daemon" ] || end_daemon TERM
    done
done
