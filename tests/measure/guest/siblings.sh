# How often workers share a core while another stands idle: stock, and under each kind of eyes.
# $WORKERS, $SECONDS_EACH and $HOWS are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns

# CPU time of a process so far, in nanoseconds, all its threads together.
used() {
    total=0
    for stat in /proc/$1/task/*/schedstat; do
        read -r run _ <$stat && total=$((total + run))
    done
    echo $total
}

for class in fair rr; do
    for n in $WORKERS; do
        for how in $HOWS; do
            policy='class web: match exe web, prefer idle core;'
            daemon=
            if [ $class = rr ]; then
                policy="rt class web: match exe /bin/web, prefer idle core;"
            fi
            case $how in
            stock) [ $class = fair ] || enforce "rt class web: match exe /bin/web;" ;;
            *) enforce "$policy" --eyes $how ;;
            esac
            web work $n 5 1 $SECONDS_EACH >/tmp/done &
            pid=$!
            nap 0.5
            before=0
            [ -z "$daemon" ] || before=$(used $daemon)
            trace_all
            nap $SECONDS_EACH
            echo 0 >/sys/kernel/tracing/tracing_on
            after=0
            [ -z "$daemon" ] || after=$(used $daemon)
            wait $pid
            say siblings $class $n $how $(load shared web </sys/kernel/tracing/trace) $(cat /tmp/done) $((after - before))
            [ -z "$daemon" ] || cotenant status --format json | sed "s/\"classes\".*//" | say_all "status.$class.$n.$how"
            [ -z "$daemon" ] || end_daemon TERM
        done
    done
done
