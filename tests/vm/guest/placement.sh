# Every way a process is placed on version 2 of control groups, and every way back.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

say kernel "$(uname -r)"
cotenant topology | say_all topology

mkdir $groups/alone $groups/pair $groups/shared
echo 0-5 >$groups/pair/cpuset.cpus

start group=alone web sleep 3 && alone=$pid
start group=pair web sleep 1 && pair=$pid
start group=pair web sleep 1 && pair_masked=$pid
start group=shared web sleep 1 && shared=$pid
start group=shared other sleep 1 && stranger=$pid
start web sleep 1 && root=$pid
start web sleep 1 && root_masked=$pid
# One thread of several, one process of two in a group, and one in the root group have masks of their own.
for thread in "/proc/$alone/task"/*; do thread=${thread#/proc/}; done
taskset -p 0c "${thread##*/}" >/dev/null
taskset -p 0c $pair_masked >/dev/null
taskset -p 30 $root_masked >/dev/null

everybody() {
    for who in alone thread pair pair_masked shared stranger root root_masked; do
        eval "say $1.$who \$(state \$$who)"
    done
    for who in alone pair shared; do
        say "$1.group.$who" "$(group_cpus $who)"
    done
}

fronts='rt class web: match exe /bin/web, priority 7, prefer idle core, never spill;'
echo "$fronts" >/tmp/policy
cotenant plan /tmp/policy | say_all plan
# No kernel of Debian's has cookies, and none is counted on.
echo 'class web: match exe /bin/web, share core with itself; batch: only when core idle;' >/tmp/share
cotenant plan /tmp/share 2>&1 | say_all share
echo 'require: core scheduling; class web: match exe /bin/web, share core with itself;' >/tmp/share
cotenant apply /tmp/share >/tmp/share.said 2>&1
say required.code $?
say_all required </tmp/share.said

everybody before
enforce "$fronts"
cotenant status | say_all status
everybody placed
end_daemon TERM
everybody after-term

enforce "$fronts"
# A program of no class starts in a group that was used as if it were the class's own.
start group=alone other sleep 1 && newcomer=$pid
until_so has_group_cpus alone 0-7
until_so has_cpus $alone 0,2,4,6
say newcomer "$(state $newcomer)"
cotenant status | say_all status.joined
everybody joined
kill -KILL $daemon
wait $daemon 2>/dev/null
everybody killed
say release "$(cotenant release)"
everybody after-kill

# A sibling is taken away before the start, and is back before the end.
echo 0 >/sys/devices/system/cpu/cpu5/online
cotenant topology | say_all offline.topology
cotenant plan /tmp/policy | say_all offline.plan
enforce "$fronts"
say offline.root "$(state $root)"
echo 1 >/sys/devices/system/cpu/cpu5/online
end_daemon TERM
everybody after-offline
