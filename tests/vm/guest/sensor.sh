# The sensor on real siblings: threads are moved, and every mask is what it was, whatever happens meanwhile.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

policy='class web: match exe web, prefer idle core;'

moves() { cotenant status --format json | sed -n 's/.*"moves":\([0-9]*\).*/\1/p'; }
# Whether so many threads were moved since the daemon's start.
moved() { [ "$(moves)" -ge $1 ]; }

# How the share of its time comes out that web spends on shared cores while another is idle.
share() {
    trace_all
    nap 3
    echo 0 >/sys/kernel/tracing/tracing_on
    say $1 "$(load shared web </sys/kernel/tracing/trace)"
}

mkdir $groups/web
echo 0-5 >$groups/web/cpuset.cpus
start group=web web burst 5 5 3 && worker=$pid
for thread in /proc/$worker/task/*; do thread=${thread##*/}; done
share share.stock

enforce "$policy" --eyes sensor
share share.sensor
cotenant status | say_all status
until_so moved 20
say narrow "$(yes_or_no until_so have $worker 0-5)"

# The cpuset widens while threads are moved: none stays behind.
echo 0-7 >$groups/web/cpuset.cpus
start group=web web burst 2 5 3 && more=$pid
until_so moved 60
say wide "$(yes_or_no until_so have $worker 0-7)"
say wide.more "$(yes_or_no until_so have $more 0-7)"

# A thread sets a mask of its own: it stays, moved or not.
taskset -p 0f $thread >/dev/null
until_so moved 100
say own "$(yes_or_no until_so has_cpus $worker/task/$thread 0-3)"

# The daemon is killed, as often as not while it moves a thread or soon after a thread was made by one that it moved, and
# whatever it left is mended.
for _ in 1 2 3 4 5; do
    start group=web web burst 2 5 3 && young=$pid
    kill -KILL $daemon
    wait $daemon 2>/dev/null
    say released "$(cotenant release)"
    say mended "$(masks $worker)"
    say mended.more "$(masks $more)"
    say mended.young "$(masks $young)"
    stop $young
    enforce "$policy" --eyes sensor
    until_so moved 5
done
end_daemon TERM
say after "$(masks $worker)"
say after.more "$(masks $more)"
stop $worker $more
