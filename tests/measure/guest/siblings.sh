# How often workers share a core while another stands idle: without a policy, and under each kind of eyes.
# $CLASSES, $WORKERS, $HOWS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
for class in $CLASSES; do
    for n in $WORKERS; do
        for how in $HOWS; do
            case $class in
            fair) policy='class web: match exe web, prefer idle core;' as= ;;
            rr) policy='rt class web: match exe /bin/web, prefer idle core;' as='chrt -r 1' ;;
            esac
            case $how in
            stock) daemon= ;;
            *) enforce "$policy" --eyes $how && as= ;;
            esac
            web work $n 5 1 $SECONDS_EACH >/tmp/done &
            pid=$!
            nap 0.5
            before=$(used $daemon) program_before=$(program_time)
            trace_all
            nap $SECONDS_EACH
            echo 0 >/sys/kernel/tracing/tracing_on
            after=$(used $daemon) program_after=$(program_time)
            wait $pid
            shared=$(load shared web </sys/kernel/tracing/trace)
            say siblings $class $n $how $shared $(cat /tmp/done) $((after - before)) $((program_after - program_before))
            [ -z "$daemon" ] || end_daemon TERM
        done
    done
done
