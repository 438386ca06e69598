# The package where systemd is the first process: services, slices, reloads, upgrades, a crash, the end.
# shellcheck shell=dash disable=SC2086,SC2154

policies=/etc/cotenant/policies
first='class web: match unit "web.service", on cpus 0-1, nice -3;
batch: match slice "batch.slice", only when core idle;'

pid_of() { systemctl show -P MainPID "$1"; }
nice_of() { cut -d' ' -f19 "/proc/$1/stat"; }
# In one step, and asked for at once.
policy_is() { echo "$1" >/root/new && mv /root/new $policies/site.policy; }
install_version() { dpkg --install "/root/$1.deb" 2>&1 | sed -n 's/^cotenant: /@ '"$2"' /p'; }
controllers() { cat $groups/cgroup.subtree_control $groups/*/cgroup.subtree_control | tr '\n' ' '; }
whole() { echo "$(state $1) $(nice_of $1)"; }
is_another() { [ "$(pid_of $1)" != "$2" ] && [ "$(systemctl is-active $1)" = active ]; }
is_new_web() { [ "$(pid_of web)" != 0 ] && has_cpus "$(pid_of web)" 0-1; }

say kernel "$(uname -r)"
say first "$(cat /proc/1/comm)"

# Installed: enabled, and started only when there is something to enforce.
install_version 0.1.0 install
say install.enabled "$(systemctl is-enabled cotenant)"
say install.active "$(systemctl is-active cotenant)"
systemctl start cotenant 2>/dev/null
say start.without $?

systemd-run --quiet --unit=web sleep 10000
systemd-run --quiet --unit=job --slice=batch.slice sleep 10000
systemd-run --quiet --unit=other sleep 10000
web=$(pid_of web) job=$(pid_of job) other=$(pid_of other)
for name in web job other; do say before.$name "$(eval whole \$$name)"; done
say before.controllers "$(controllers)"
policy_is "$first"
systemctl start cotenant
say start $?
for name in web job other; do say placed.$name "$(eval whole \$$name)"; done
say placed.controllers "$(controllers)"
say placed.status "$(systemctl show -P StatusText cotenant)"

# What systemd does with its tree leaves the plan as it is, and a service that starts anew is placed anew.
systemctl daemon-reload
systemctl set-property --runtime web.service CPUWeight=50
say property.web "$(cpus $web)"
systemctl restart web 2>/dev/null || { systemctl reset-failed web 2>/dev/null; systemd-run --quiet --unit=web sleep 10000; }
until_so is_new_web
web=$(pid_of web)
say restarted.web "$(cpus $web)"

# `systemctl reload` returns when it is so, or says no.
policy_is "class web: match unit \"web.service\", on cpus 1, nice -3; batch: match slice \"batch.slice\", only when core idle;"
systemctl reload cotenant
say reload $?
say reload.web "$(cpus $web)"
policy_is "class web: match unit \"web.service\", on cpuss 1;"
systemctl reload cotenant 2>/dev/null
say wrong $?
say wrong.web "$(cpus $web)"
say wrong.active "$(systemctl is-active cotenant)"
say wrong.status "$(systemctl show -P StatusText cotenant)"
journalctl -u cotenant -p err -o cat --no-pager | say_all wrong.journal

# An upgrade leaves a daemon alone whose policy the new version refuses, and is another daemon otherwise.
daemon=$(pid_of cotenant)
install_version 0.1.1 refused
say refused.same "$(yes_or_no [ "$(pid_of cotenant)" = "$daemon" ])"
say refused.web "$(cpus $web)"
policy_is "$first"
install_version 0.1.2 upgraded
say upgraded.other "$(yes_or_no is_another cotenant "$daemon")"
say upgraded.web "$(cpus $web)"

# A daemon that is killed comes again, and knows what the one before did.
daemon=$(pid_of cotenant)
kill -KILL "$daemon"
until_so is_another cotenant "$daemon"
until_so has_cpus $web 0-1
say killed.web "$(whole $web)"

# What somebody chose by hand is left to him, over a reload and over the end, and `why` says so.
systemd-run --quiet --unit=handy -p Nice=10 sleep 10000
handy=$(pid_of handy)
say handy.unit "$(nice_of $handy)"
policy_is "$first class handy: match unit \"handy.service\", nice 5, on cpus 0-2;"
systemctl reload cotenant
say handy.placed "$(nice_of $handy) $(cpus $handy)"
renice -n 15 -p $handy >/dev/null
taskset -cp 2 $handy >/dev/null
systemctl reload cotenant
say handy.reloaded "$(nice_of $handy) $(cpus $handy)"
cotenant why $handy | say_all handy.why

# The session of a user has a manager of its own. What it starts is placed, and a unit is not real-time by a name of the user's
# own giving.
useradd --create-home guest
user=$(id -u guest)
loginctl enable-linger guest
until_so test -S /run/user/$user/bus
as_guest() { runuser -u guest -- env XDG_RUNTIME_DIR=/run/user/$user "$@"; }
user_pid_of() { as_guest systemctl --user show -P MainPID "$1"; }
as_guest systemd-run --user --quiet --unit=desk sleep 10000
as_guest systemd-run --user --quiet --unit=engine sleep 10000
desk=$(user_pid_of desk) theirs=$(user_pid_of engine)
systemd-run --quiet --unit=engine sleep 10000
engine=$(pid_of engine)
for name in desk theirs engine; do say before.$name "$(eval whole \$$name)"; done
policy_is "$first class desk: match unit \"desk.service\" and user guest, on cpus 3, nice 7;
rt class engine: match unit \"engine.service\", on cpus 1, priority 5;"
systemctl reload cotenant
for name in desk theirs engine; do say session.$name "$(eval whole \$$name)"; done
policy_is "$first"
systemctl reload cotenant
for name in desk theirs engine; do say session.after.$name "$(eval whole \$$name)"; done

# A service that has CPUs of systemd's giving has its own group for that, which is written where it stands.
systemd-run --quiet --unit=boxed -p AllowedCPUs=0-2 sleep 10000
boxed=$(pid_of boxed)
box=/system.slice/boxed.service
say boxed.before "$(cat $groups$box/cpuset.cpus) $(cpus $boxed)"
policy_is "$first class boxed: match unit \"boxed.service\", on cpus 1-2;"
systemctl reload cotenant
say boxed.placed "$(cat $groups$box/cpuset.cpus) $(cpus $boxed) $(group_of $boxed)"
systemctl daemon-reload
systemd-run --quiet --wait true
say boxed.reloaded "$(cpus $boxed)"
cotenant status | sed -n "s/^$boxed  *//p" | say_all boxed.status
policy_is "$first class boxed: match unit \"boxed.service\", on cpus 1-2, insist;"
systemctl reload cotenant
say insisted.placed "$(cat $groups$box/cpuset.cpus) $(cpus $boxed)"
systemctl daemon-reload
systemd-run --quiet --wait true
sleep 5
say insisted.reloaded "$(cat $groups$box/cpuset.cpus) $(cpus $boxed)"
policy_is "$first"
systemctl reload cotenant
say boxed.after "$(cat $groups$box/cpuset.cpus) $(cpus $boxed)"
say handy.after "$(nice_of $handy) $(cpus $handy)"

# One that the administrator stopped stays so over an upgrade.
systemctl stop cotenant
say stop $?
for name in web job other; do say stopped.$name "$(eval whole \$$name)"; done
systemctl disable --quiet cotenant
install_version 0.1.3 disabled
say disabled.active "$(systemctl is-active cotenant)"

# The end, from under a daemon that works.
systemctl enable --quiet --now cotenant
say again.web "$(cpus $web)"
dpkg --remove cotenant >/dev/null 2>&1
say removed $?
for name in web job other; do say removed.$name "$(eval whole \$$name)"; done
say removed.policy "$(ls $policies)"
rm $policies/site.policy
dpkg --purge cotenant >/dev/null 2>&1
say purged "$(find / -xdev -name '*cotenant*' | tr '\n' ' ')"
