# CPUs go and come, and SMT, under load: where everybody is after each step, and that all is as it was in the end.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

say kernel "$(uname -r)"
mkdir $groups/web $groups/batch $groups/far
# The sensor's programs are attached more than once here, and find this done; see `set_up`.
for event in task/task_newtask sched/sched_process_exit; do echo 1 >/sys/kernel/tracing/events/$event/enable; done

online() { cat /sys/devices/system/cpu/online; }

# Whether each thread of a process is on one CPU that no other has, out of some.
is_held_on() {
    found=$(masks $1)
    [ "$(echo $found | wc -w)" = "$2" ] || return 1
    for one in $found; do case ",$3," in *",$one,"*) ;; *) return 1 ;; esac done
}
status_says() { cotenant status --format json | grep -q "$1"; }
# Whether a process got any further.
works() {
    until_so has_used_more $1 "$(used $1)"
}
has_used_more() { [ "$(used $1)" -gt "$2" ]; }
refusals() { cotenant status | sed -n '/^not enforced/,/^$/p' | wc -l; }

# What is asked after each step.
step() {
    say $1.online "$(online)"
    say $1.works "$(for one in $web $batch $held; do yes_or_no works $one; done | sort -u)"
    say $1.policy "$(policy $web) $(policy $batch) $(policy $held)"
    say $1.refusals "$(refusals)"
}
everybody() {
    for who in web masked batch held root_batch; do
        eval "say $1.$who \"\$(state \$$who) \$(masks \$$who)\""
    done
    for who in web batch; do say $1.group.$who "$(group_cpus $who)"; done
}

start group=web web burst 2 4 20 && web=$pid
start web burst 1 4 20 && masked=$pid
taskset -p f0 $masked >/dev/null
start group=batch batch spin 3 && batch=$pid
start batch burst 1 4 20 && root_batch=$pid
start other burst 3 1 20 && held=$pid
everybody before

policy='class web: match exe /bin/web, prefer idle core; batch: match exe /bin/batch, only when core idle;
rt class held: match exe /bin/other, on node 0 except core 0, hold equal prio;'
enforce "$policy" --eyes tick --tick 40ms
until_so has_group_cpus web 0,2,4,6
until_so is_held_on $held 3 2,3,4,5,6,7
step placed

# A front: its sibling is in its place.
cpu 4 0
until_so has_group_cpus web 0,2,5-6
until_so is_held_on $held 3 2,3,5,6,7
until_so have $masked 5-6
step front
cpu 4 1
until_so has_group_cpus web 0,2,4,6
until_so have $masked 4,6
step front.back

# A whole core, and more than the held threads have CPUs for.
for one in 2 3 4 5 7; do cpu $one 0; done
until_so have $held 6
say few.group.web "$(group_cpus web)"
say few.online "$(online)"
say few.works "$(yes_or_no works $web) $(yes_or_no works $held)"
for one in 2 3 4 5 7; do cpu $one 1; done
until_so has_group_cpus web 0,2,4,6
until_so is_held_on $held 3 2,3,4,5,6,7
step few.back

# Off and on again before anybody has looked.
flap
kill -CONT $daemon
until_so is_held_on $held 3 2,3,4,5,6,7
until_so has_group_cpus web 0,2,4,6
step flap

smt off
until_so is_held_on $held 3 2,4,6
# Every core has one CPU: web may have them all, and its group what it had.
until_so has_group_cpus web 0-7
step smt.off
smt on
until_so has_group_cpus web 0,2,4,6
until_so has_cpus $masked 4,6
step smt.on

end_daemon TERM | sed 's/^@ complaint/@ complaint.load/'
everybody after
stop $held $batch $root_batch $web

# A zone that vanishes. One process of its class is in a group of its own, one in the root group.
start other spin 1 && far=$pid
start group=far other burst 2 4 20 && far_group=$pid
start web burst 1 4 20 && web=$pid
zones() {
    say $1.far "$(state $far)"
    say $1.far_group "$(state $far_group)"
    say $1.group.far "$(group_cpus far)"
    say $1.web "$(state $web)"
}
zones zone.before
enforce 'class far: match exe /bin/other, on cpus 6-7; class web: match exe /bin/web, prefer idle core, never spill;'
zones zone.placed
cpu 7 0
until_so has_group_cpus far 6
until_so has_cpus $far 6
zones zone.half
say zone.half.astray "$(grep -c 'none of CPUs' /tmp/log)"
cpu 6 0
until_so has_cpus $far 0-7
until_so has_group_cpus far 0-7
zones zone.none
grep 'none of CPUs' /tmp/log | tail -n 1 | say_all zone.none.log
cotenant status | say_all zone.none.status
say zone.none.works "$(yes_or_no works $far) $(yes_or_no works $far_group)"
cpu 6 1
cpu 7 1
until_so has_cpus $far 6-7
until_so has_cpus $web 0,2,4,6
zones zone.back
cotenant status | say_all zone.back.status
end_daemon TERM
zones zone.after
stop $far $far_group

# What the machine must be, it is no more.
enforce 'require: smt; class web: match exe /bin/web, prefer idle core, never spill, on cores 1-3;'
smt off
until_so status_says '"last_machine":{"outcome":"refused"'
say required.web "$(state $web)"
cotenant status | say_all required.status
smt on
until_so status_says '"last_machine":{"outcome":"applied"'
say required.back.web "$(state $web)"
end_daemon TERM

# The sensor knows another machine.
moves() { cotenant status --format json | sed -n 's/.*"moves":\([0-9]*\).*/\1/p'; }
has_moved_more() { [ "$(moves)" -gt $1 ]; }
moves_on() { until_so has_moved_more "$(moves)"; }
start group=web web burst 5 5 3 && many=$pid
enforce 'class web: match exe /bin/web, prefer idle core;' --eyes sensor
say sensor.moves "$(yes_or_no moves_on)"
cpu 6 0
cpu 7 0
until_so status_says '"last_machine":{"outcome":"applied"'
say sensor.fewer.moves "$(yes_or_no moves_on)"
cpu 6 1
cpu 7 1
until_so have $many 0-7
say sensor.back.moves "$(yes_or_no moves_on)"
cotenant status | sed -n 2p | say_all sensor.status
end_daemon TERM
say sensor.after "$(masks $many)"
stop $many

# A mask that was asked for while CPUs were offline, and one that is put back while they are, beside those of processes
# that nobody manages.
cpu 6 0 && cpu 7 0
start web burst 1 4 20 && early=$pid
start load burst 1 4 20 && early_twin=$pid
taskset -p f0 $early >/dev/null
taskset -p f0 $early_twin >/dev/null
enforce 'class web: match exe /bin/web, on cpus 4-5;'
cpu 6 1 && cpu 7 1
until_so status_says '"last_machine":{"outcome":"applied"'
end_daemon TERM
say early "$(cpus $early)"
say early.twin "$(cpus $early_twin)"
stop $early_twin
start load burst 1 4 20 && late_twin=$pid
taskset -p f0 $late_twin >/dev/null
taskset -p f0 $early >/dev/null
enforce 'class web: match exe /bin/web, on cpus 4-5;'
cpu 6 0 && cpu 7 0
until_so status_says '"last_machine":{"outcome":"applied"'
end_daemon TERM
cpu 6 1 && cpu 7 1
say late "$(cpus $early)"
say late.twin "$(cpus $late_twin)"
stop $early $late_twin $web $masked
