# How often workers share a core while another stands idle: without a policy, and under each kind of eyes.
# $CLASSES, $WORKERS, $HOWS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
speed=$(load speed)
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
            trace_ready
            program=$(program_time)
            $as web work $n $((5 * speed)) 25 $SECONDS_EACH traced >/tmp/done
            program=$(($(program_time) - program))
            shared=$(load shared web </sys/kernel/tracing/trace)
            say siblings class=$class n=$n how=$how program=$program $shared $(cat /tmp/done)
            [ -z "$daemon" ] || end_daemon TERM
        done
    done
done
