# tbench over the loopback under each preference.
# $CLIENTS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
for how in stock core cpu last; do
    case $how in
    stock) daemon= ;;
    core | cpu) enforce "class tbench: match exe tbench or exe tbench_srv, prefer idle $how;" ;;
    last) enforce 'class tbench: match exe tbench or exe tbench_srv, prefer last cpu;' ;;
    esac
    tbench_srv >/dev/null 2>&1 &
    server=$!
    sleep 1
    for n in $CLIENTS; do
        tbench -t $SECONDS_EACH $n 127.0.0.1 >/tmp/said
        found=$(sed -n 's/^Throughput \([0-9.]*\) .*max_latency=\([0-9.]*\) ms.*/throughput=\1 latency=\2/p' /tmp/said)
        say tbench how=$how n=$n $found
    done
    stop $server
    [ -z "$daemon" ] || end_daemon TERM
done
