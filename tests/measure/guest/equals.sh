# Migrations and requests of round-robin workers of one priority: stock, pushed and held.
# $WORKERS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
migrations() {
    total=0
    for sched in /proc/$1/task/*/sched; do
        while read -r key _ value; do
            case $key in *nr_migrations) total=$((total + value)) ;; esac
        done <$sched
    done
    echo $total
}
switches() {
    total=0
    for status in /proc/$1/task/*/status; do
        while read -r key value; do
            case $key in voluntary_ctxt_switches:) total=$((total + value)) ;; esac
        done <$status
    done
    echo $total
}
for n in $WORKERS; do
    for how in stock push hold; do
        case $how in
        stock) daemon= as='chrt -r 1' ;;
        *) enforce "rt class web: match exe /bin/web, $how equal prio;" && as= ;;
        esac
        $as web work $n 5 1 $SECONDS_EACH >/tmp/done &
        pid=$!
        nap 0.5
        moved=$(migrations $pid) woken=$(switches $pid)
        nap $((SECONDS_EACH - 1))
        moved=$(($(migrations $pid) - moved)) woken=$(($(switches $pid) - woken))
        wait $pid
        say equals $n $how $moved $woken $(cat /tmp/done)
        [ -z "$daemon" ] || end_daemon TERM
    done
done
