# Migrations and requests of round-robin workers of one priority: stock, pushed and held.
# $WORKERS and $SECONDS_EACH are set by who runs this.
# shellcheck shell=dash disable=SC2086,SC2154 # ids have no blanks; lib.sh knows the variables

take_short_turns
speed=$(load speed)
for n in $WORKERS; do
    for how in stock push hold; do
        case $how in
        stock) daemon= as='chrt -r 1' ;;
        *) enforce "rt class web: match exe /bin/web, $how equal prio;" && as= ;;
        esac
        say equals n=$n how=$how $($as web work $n $((2 * speed)) 25 $SECONDS_EACH)
        [ -z "$daemon" ] || end_daemon TERM
    done
done
