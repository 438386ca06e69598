# Functions for the guest's scripts. What a test shall see is said: "@ KEY VALUE", a line each.
# shellcheck shell=dash disable=SC2086,SC3045 # ids have no blanks; busybox's read knows -t

groups=/sys/fs/cgroup
# A guest of an emulator on a busy host is slow; what is waited for longer than this does not come.
patience=60

set_up() {
    export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/ NO_COLOR=1
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mount -t devtmpfs devtmpfs /dev
    mount -t cgroup2 cgroup2 $groups
    mount -t debugfs debugfs /sys/kernel/debug
    mount -t tracefs tracefs /sys/kernel/tracing
    echo +cpuset >$groups/cgroup.subtree_control
    ip link set lo up
    # Once and early: switching events on changes the kernel's code, and on busy CPUs the emulation does not always see that
    # in time. What is kept of them can be chosen later.
    echo 0 >/sys/kernel/tracing/tracing_on
    echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable
    echo 1 >/proc/sys/kernel/bpf_stats_enabled
    mkfifo /tmp/never
    # Ends the line on which the firmware left the cursor.
    echo
}

say() { echo "@ $*"; }

# Sleeps without a process to do it.
nap() { read -r -t "$1" _ <>/tmp/never; }

# What is printed on standard input, a line each under one key.
say_all() { sed "s/^/@ $1 /"; }

# Waits until a command succeeds; says so if it never does.
until_so() {
    end=$(($(date +%s) + patience))
    until "$@" >/dev/null 2>&1; do
        if [ "$(date +%s)" -ge $end ]; then
            say waited-in-vain "$*"
            return 1
        fi
        sleep 0.05
    done
}

# Runs a program in the background, in a group if one is given by "group=NAME", and sets $pid when it runs.
start() {
    group=
    case $1 in group=*) group=${1#group=} && shift ;; esac
    # shellcheck disable=SC2016 # the inner shell's own number
    sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$groups/$group" "$@" &
    pid=$!
    until_so runs $pid "$1"
}
runs() { [ "$(readlink "/proc/$1/exe")" = "/bin/$2" ]; }

# Ends processes that this shell started.
stop() {
    for one in "$@"; do
        kill -KILL "$one"
        wait "$one"
    done 2>/dev/null
    true
}

# The daemon, on a policy given as text and with other arguments; returns when it is in force.
enforce() {
    echo "$1" >/tmp/policy
    shift
    cotenant enforce /tmp/policy "$@" 2>/tmp/log &
    daemon=$!
    until_so grep -q 'the policy is in force' /tmp/log || cat /tmp/log
}

# Ends the daemon with a signal; what it complained of is shown.
end_daemon() {
    kill -"$1" $daemon
    wait $daemon 2>/dev/null
    grep -v -e 'in force' -e 'put back' /tmp/log | say_all complaint
}

# What the kernel says of a process or, with PID/task/TID, of a thread.
cpus() { sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status"; }
# The CPUs of each thread of a process, each once. One that is being moved at this instant has others, so whoever looks does
# so until they are as they should be.
masks() {
    for status in /proc/$1/task/*/status; do sed -n 's/^Cpus_allowed_list:\t//p' $status; done | sort -u | tr '\n' ' '
}
have() { [ "$(masks $1)" = "$2 " ]; }
policy() { cut -d' ' -f41 "/proc/$1/stat"; }
priority() { cut -d' ' -f40 "/proc/$1/stat"; }
group_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }
has_cpus() { [ "$(cpus "$1")" = "$2" ]; }
has_policy() { [ "$(policy "$1")" = "$2" ]; }

# What the kernel says of a group.
group_cpus() { cat "$groups/$1/cpuset.cpus"; }
has_group_cpus() { [ "$(group_cpus "$1")" = "$2" ]; }
is_frozen() { grep -q 'frozen 1' "$groups/$1/cgroup.events"; }
yes_or_no() { if "$@"; then echo yes; else echo no; fi; }

# Switches a CPU, or all siblings.
cpu() { echo $2 >/sys/devices/system/cpu/cpu$1/online; }
smt() { echo $1 >/sys/devices/system/cpu/smt/control; }
# Two off and on again before the daemon has looked, which is stopped then.
flap() {
    kill -STOP $daemon
    cpu 6 0
    cpu 7 0
    nap 1
    cpu 6 1
    cpu 7 1
}

# All of it, to compare before with after.
state() { echo "$(policy "$1") $(priority "$1") $(cpus "$1") $(group_of "$1")"; }

# From here on the kernel notes who runs where, of the programs of that names.
trace_on() {
    filter=
    for name in "$@"; do
        filter="$filter${filter:+ || }prev_comm == \"$name\" || next_comm == \"$name\""
    done
    cd /sys/kernel/tracing || return
    echo 0 >tracing_on
    echo >trace
    echo "$filter" >events/sched/sched_switch/filter
    echo 1 >tracing_on
    echo from-here >trace_marker
    cd /
}

# Says the trace: time, CPU, who ran, who runs.
trace_off() {
    cd /sys/kernel/tracing || return
    echo 0 >tracing_on
    sed -n \
        -e 's/^.*\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): tracing_mark_write: from-here.*/@ TRACE \2 \1 - -/p' \
        -e 's/^.*\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): sched_switch: prev_comm=\(.*\) prev_pid.* next_comm=\(.*\) next_pid.*/@ TRACE \2 \1 \3 \4/p' \
        trace | sed "s/TRACE/$1/"
    cd /
}

# Where time is counted in instructions, CPUs take turns that end at the next timer. One that fires every 20 microseconds, and
# whose interrupt is wired to nothing, makes them short: the third of the HPET, periodic, in 32 bits. (IA-PC HPET Specification,
# section 2.3.)
take_short_turns() {
    timer=0xFED00140
    devmem $timer 32 0x2B4C
    # Its first time is long enough from now to be written.
    devmem $((timer + 8)) 32 $(($(devmem 0xFED000F0 32) + 50000000))
    devmem $((timer + 8)) 32 2000
    until_so takes_turns
}
takes_turns() { [ $(($(devmem 0xFED000F0 32) - $(devmem 0xFED00148 32))) -lt 1000000 ]; }

# All that switches, once tracing is on.
trace_ready() {
    cd /sys/kernel/tracing || return
    echo 0 >tracing_on
    echo 8192 >buffer_size_kb
    echo >trace
    echo 0 >events/sched/sched_switch/filter
    cd /
}
# From here on.
trace_all() { trace_ready && echo 1 >/sys/kernel/tracing/tracing_on; }

# CPU time of a process so far, in nanoseconds, all its threads together; 0 of none.
used() {
    total=0
    for stat in ${1:+/proc/$1/task/*/schedstat}; do
        read -r run _ <$stat && total=$((total + run))
    done
    echo $total
}

# CPU time so far of the programs that the daemon has in the kernel, in nanoseconds; they are counted since start-up (bpf(2),
# BPF_ENABLE_STATS).
program_time() {
    total=0
    for info in ${daemon:+/proc/$daemon/fdinfo/*}; do
        while read -r key value; do
            case $key in run_time_ns:) total=$((total + value)) ;; esac
        done <$info
    done 2>/dev/null
    echo $total
}
