# The same on version 1 of control groups, where the kernel takes a CPU that goes out of every group for good.
# shellcheck shell=dash disable=SC2034,SC2086,SC2154 # ids have no blanks; lib.sh and eval know the variables

say kernel "$(uname -r)"
echo -cpuset >$groups/cgroup.subtree_control
umount $groups
mount -t tmpfs tmpfs $groups
for tree in cpuset freezer; do
    mkdir $groups/$tree
    mount -t cgroup -o $tree $tree $groups/$tree
done

in_group() { sed -n 's/^[0-9]*:cpuset://p' "/proc/$1/cgroup"; }
has_group() { [ "$(in_group $1)" = "$2" ]; }
where() { echo "$(policy $1) $(masks $1)$(in_group $1)"; }
is_held() { [ "$(masks $held | wc -w)" = 2 ] && [ "$(masks $held | wc -c)" = 4 ]; }
everybody() {
    for who in web far batch docker held; do eval "say $1.$who \"\$(where \$$who)\""; done
    for group in "" cotenant cotenant/web cotenant/far cotenant/batch docker; do
        [ -d $groups/cpuset/$group ] && say $1.group./$group "$(cat $groups/cpuset/$group/cpuset.cpus)"
    done
}
# A group of somebody else's that is of one class.
mkdir $groups/cpuset/docker
echo 0 >$groups/cpuset/docker/cpuset.mems
echo 0-7 >$groups/cpuset/docker/cpuset.cpus

start web burst 2 4 20 && web=$pid
start web burst 1 4 20 && docker=$pid
echo $docker >$groups/cpuset/docker/cgroup.procs
start other burst 2 4 20 && far=$pid
start batch spin 2 && batch=$pid
start load burst 2 1 20 && held=$pid
everybody before
enforce 'class web: match exe /bin/web, prefer idle core, never spill; class far: match exe /bin/other, on cpus 6-7;
batch: match exe /bin/batch, only when core idle; rt class held: match exe /bin/load, on node 0 except core 0, hold equal prio;' \
    --eyes tick --tick 40ms
until_so has_group $far /cotenant/far
everybody placed

has_own() { [ "$(cat $groups/cpuset/$1/cpuset.cpus)" = "$2" ]; }
cpu 4 0
until_so has_own cotenant/web 0,2,5-6
until_so is_held
everybody front
cpu 4 1
until_so has_own cotenant/web 0,2,4,6
until_so has_own docker 0,2,4,6
until_so is_held
everybody front.back

# The zone vanishes: its group is empty, and the kernel moves everybody out.
cpu 6 0
cpu 7 0
until_so has_own cotenant/web 0,2,4
until_so has_group $far /
everybody none
cpu 6 1
cpu 7 1
until_so has_group $far /cotenant/far
until_so has_own cotenant/far 6-7
until_so has_own cotenant/web 0,2,4,6
until_so is_held
everybody none.back

# Off and on before anybody has looked.
flap
nap 1
everybody unseen
kill -CONT $daemon
until_so has_own cotenant/far 6-7
until_so has_group $far /cotenant/far
until_so has_own cotenant/web 0,2,4,6
until_so is_held
everybody flap

smt off
until_so has_group $web /
everybody smt.off
smt on
until_so has_own cotenant/web 0,2,4,6
until_so has_own cotenant/far 6-7
until_so is_held
everybody smt.on
cotenant status | sed -n '/^not enforced/,/^$/p' | say_all refused
end_daemon TERM
everybody after

# Put back while they are gone. The kernel has taken the siblings from the group, and nobody tells that from somebody's wish: it
# gets none that it does not have.
enforce 'class web: match exe /bin/web, on cpus 0-5;'
until_so has_own docker 0,2,4
cpu 6 0
nap 1
end_daemon TERM
cpu 6 1
everybody late
stop $web $docker $far $batch $held
