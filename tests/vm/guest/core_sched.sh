# Core-scheduling cookies on a kernel that has them: gates, sharing, and the way back.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

# Looks at the load are rare: the daemon, which is not optimised here and emulated, would be a load of its own.
tick=200ms
say kernel "$(uname -r)"

has_parent() { grep -q "^PPid:.$2\$" "/proc/$1/status"; }
# How many threads, and the distinct cookies that the kernel shows of them.
cookies() { load cookies "$@"; }
has_cookie() { case $(cookies $1) in "$2 0") false ;; "$2 "*" "*) false ;; "$2 "*) true ;; *) false ;; esac }
has_none() { case $(cookies $1) in *" 0") true ;; *) false ;; esac }
nobody_has_one() { [ "$(load cookies all)" = 0 ]; }
# Jiffies of one process, all threads together.
ran() { cut -d' ' -f14 "/proc/$1/stat"; }
# Says who of these processes ran where for two seconds. They are stopped at the end, because of a thread that runs
# throughout the kernel tells nothing.
watch() {
    key=$1
    shift
    trace_on web batch
    nap 2
    kill -STOP "$@"
    nap 0.1
    trace_off $key
    kill -CONT "$@"
}

# What the same load comes to without a policy.
start batch spin 8 && batch=$pid
start web spin 1 && web=$pid
nap 0.5
watch none.trace $web $batch
stop $web $batch

gate='batch: match exe batch, only when core idle;'
echo "$gate" >/tmp/policy
cotenant plan /tmp/policy | say_all gate.plan
for kind in fair rt; do
    [ $kind = fair ] && class='' || class='rt class web: match exe /bin/web, priority 9;'
    enforce "$class $gate" --eyes tick --tick $tick
    start batch spin 8 && batch=$pid
    until_so has_cookie $batch 8
    until_so has_policy $batch 5
    say $kind.cookies "$(cookies $batch)"
    start web spin 1 && web=$pid
    nap 2
    say $kind.one.cpus "$(cpus $batch)"
    watch $kind.one.trace $web $batch
    stop $web
    start web spin 4 && web=$pid
    nap 2
    watch $kind.four.trace $web $batch
    # As many as one core takes; the kernel leaves them beside web, and the loop does not.
    stop $batch
    start batch spin 2 && batch=$pid
    until_so has_cookie $batch 2
    stop $web
    start web spin 1 && web=$pid
    nap 2
    say $kind.two.cpus "$(cpus $batch)"
    watch $kind.two.trace $web $batch
    cotenant status | say_all $kind.status
    cotenant status --format json | say_all $kind.json
    stop $web
    end_daemon TERM
    say $kind.after "$(cookies $batch) $(policy $batch) $(load cookies all)"
    stop $batch
done

# Two classes that want both CPUs of one core. First without a word on sharing, each on a sibling of its own: where two of each
# take turns, how much of the time they are side by side is up to how their turns begin. Slices are long because with each
# change of cookie the emulated sibling hears late that it is to stop.
echo 100000000 >/sys/kernel/debug/sched/base_slice_ns
enforce 'class web: match exe /bin/web, on cpu 2; class batch: match exe batch, on cpu 3;'
start web spin 2 && web=$pid
start batch spin 2 && batch=$pid
until_so has_cpus $batch 3
nap 0.5
watch mixed.trace $web $batch
echo 'class web: match exe /bin/web, on core 1, share core with itself;
    class batch: match exe batch, on core 1, share core with itself;' >/tmp/policy
until_so has_cookie $web 2
until_so has_cookie $batch 2
say itself.web "$(cookies $web)"
say itself.batch "$(cookies $batch)"
say itself.daemon "$(cookies $daemon)"
nap 0.5
watch itself.trace $web $batch
# Together, then no more: a reload.
echo 'class web: match exe /bin/web, share core with itself, class batch; class batch: match exe batch;' >/tmp/policy
one_cookie() { has_cookie $web 2 && [ "$(cookies $web)" = "$(cookies $batch)" ]; }
until_so one_cookie
say together yes
echo 'class web: match exe /bin/web, nice 1; class batch: match exe batch, nice 2;' >/tmp/policy
until_so has_none $web
until_so has_none $batch
say apart "$(cookies $web) / $(cookies $batch)"
end_daemon TERM
stop $web $batch
echo 3000000 >/sys/kernel/debug/sched/base_slice_ns

# Nobody: every thread, those that come later too, has a core to itself.
enforce 'class web: match exe /bin/web, share core with nobody;'
start web late 4 && web=$pid
four_cookies() { [ "$(cookies $web | wc -w)" = 5 ]; }
until_so four_cookies
say nobody.cookies "$(cookies $web)"
watch nobody.trace $web
end_daemon TERM
say nobody.after "$(cookies $web)"
stop $web

# A process that forks, and one of whose children runs a program of no class.
tree='class tree: match exe busybox and arg "*make-a-tree*", share core with itself;'
make_tree() {
    sh -c ': make-a-tree; while :; do :; done & echo $! >/tmp/forked; other spin 1 & echo $! >/tmp/left; wait' &
    maker=$!
    until_so test -s /tmp/left
    forked=$(cat /tmp/forked) left=$(cat /tmp/left)
    until_so runs $left other
}
enforce "$tree"
make_tree
until_so has_cookie $maker 1
until_so has_cookie $forked 1
until_so has_none $left
say tree "$(cookies $maker) / $(cookies $forked) / $(cookies $left)"
# A thread that has a cookie of its own making when it is found is left alone, and that is said.
web own 1 &
own=$!
until_so has_cookie $own 1
own_cookie=$(cookies $own)
echo "$tree class web: match exe /bin/web, share core with itself;" >/tmp/policy
reported() { cotenant status | grep -q 'another program gave it a cookie'; }
until_so reported
cotenant status | grep "^ *process $own" | say_all foreign.said
say foreign.kept "$(yes_or_no [ "$(cookies $own)" = "$own_cookie" ])"
# The daemon dies without a word, and the tree grows.
kill -KILL $daemon
wait $daemon 2>/dev/null
say killed "$(cookies $maker) / $(cookies $forked)"
cotenant release | say_all released
say after-kill "$(cookies $maker) / $(cookies $forked) / $(cookies $left)"
say foreign.after "$(yes_or_no [ "$(cookies $own)" = "$own_cookie" ])"
kill -KILL $own
wait $own 2>/dev/null
until_so nobody_has_one
kill -KILL $maker $forked $left
wait $maker 2>/dev/null

# One pass, and children of what was placed that nobody saw: they are found by the cookie.
echo "$tree class web: match exe /bin/web, share core with itself;" >/tmp/policy
start web late 12 && web=$pid
# And one that leaves an orphan behind, of whose parent nothing is known.
sh -c ': make-a-tree; until test -e /tmp/go; do sleep 0.1; done; (while :; do :; done & echo $! >/tmp/orphan); sleep 999' &
maker=$!
cotenant apply /tmp/policy | say_all applied
say applied.cookies "$(cookies $web | cut -d' ' -f2-)"
echo >/tmp/go
until_so test -s /tmp/orphan
orphan=$(cat /tmp/orphan)
until_so has_parent $orphan 1
say applied.orphan "$(yes_or_no [ "$(cookies $orphan)" = "$(cookies $maker)" ]) $(yes_or_no has_none $orphan)"
nap 0.5
cotenant release | say_all applied.released
say applied.orphan.after "$(cookies $orphan)"
until_so nobody_has_one
say applied.after "$(cookies $web | cut -d' ' -f2-)"
kill -KILL $orphan
stop $web $maker

# A scheduler of somebody else's is loaded: a file that says so stands for one.
echo enabled >/tmp/state
mount --bind /tmp/state /sys/kernel/sched_ext/state
echo "class web: match exe /bin/web, share core with itself; $gate" >/tmp/policy
cotenant plan /tmp/policy 2>&1 | say_all overruled
umount /sys/kernel/sched_ext/state
# Or it comes and goes while the daemon runs, which looks when it is told to.
enforce 'class web: match exe /bin/web, share core with itself;'
start web spin 2 && web=$pid
until_so has_cookie $web 2
mount --bind /tmp/state /sys/kernel/sched_ext/state
kill -HUP $daemon
until_so has_none $web
umount /sys/kernel/sched_ext/state
kill -HUP $daemon
until_so has_cookie $web 2
say overruled.back yes
end_daemon TERM
stop $web
