// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Eyes on sched_switch. For each CPU: who runs, and of which kind. A bell rings, once, when a clause is being broken and
// something can be done about it; everything else is read from the shared memory by the daemon, which then acts and makes
// the bell ready again. ARCHITECTURE.md, "The sensor", has the whole picture.
//
// Every CPU writes only its own entry of `cpus`. What siblings share is one word per core, a byte for each thread, changed
// by atomic exclusive-or: the order of those changes is the order of events on the core, and exactly one of two siblings
// that fall idle together sees the core free.

#include "kernel.h"
#include "shared.h"

struct shared shared __attribute__((aligned(64)));

// The group of each thread, by its id; 0 for none. A line at a time, because a map's values are no smaller than 8 bytes.
struct line {
	u8 groups[64];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 512);
	__uint(map_flags, F_MMAPABLE);
	__type(key, u32);
	__type(value, struct line);
} roll SEC(".maps");

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 4096);
} bell SEC(".maps");

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 4096);
} gate_bell SEC(".maps");

INLINE u8 *entry(u32 pid)
{
	u32 at = pid >> 6;
	struct line *line = map_lookup(&roll, &at);
	return line ? &line->groups[pid & 63] : 0;
}

// 64-bit words of masks in use, known to be few.
INLINE u32 words(void)
{
	u32 words = shared.words;
	return words < WORDS ? words : WORDS;
}

APART u32 lowest(u64 bits)
{
	u32 at = 0;
	at |= !(bits & 0xffffffff) << 5;
	at |= !((bits >> at) & 0xffff) << 4;
	at |= !((bits >> at) & 0xff) << 3;
	at |= !((bits >> at) & 0xf) << 2;
	at |= !((bits >> at) & 0x3) << 1;
	at |= !((bits >> at) & 0x1);
	return at & 63;
}

INLINE int is_free(u64 word)
{
	return !(word & EVERY);
}

INLINE int is_crowded(u64 word)
{
	u64 count = word & EVERY;
	return (word & (EVERY * SPREADS)) && (count & (count - 1));
}

INLINE int breaks_gate(u64 word)
{
	return (word & (EVERY * GATED)) && (word & EVERY);
}

INLINE void put(u64 *mask, u32 bit, int on)
{
	u64 one = 1ULL << (bit & 63);
	u64 *word = &mask[(bit >> 6) & (WORDS - 1)];
	if (on)
		__sync_fetch_and_or(word, one);
	else
		__sync_fetch_and_and(word, ~one);
}

// Notes whether a core is free. Of two changes that overtake each other here the later word decides.
APART int note_free(u32 number)
{
	struct core *core = &shared.cores[number & (CPUS - 1)];
	for (int turn = 0; turn < 2; turn++) {
		int free = is_free(*(volatile u64 *)&core->word);
		for (u32 at = 0; at < THREADS; at++) {
			if (at >= core->threads)
				break;
			put(shared.free, core->cpus[at], free);
		}
		if (is_free(*(volatile u64 *)&core->word) == free)
			break;
	}
	return 0;
}

INLINE int is_muted(struct core *core, u64 now)
{
	u64 until = core->muted;
	if (!until)
		return 0;
	if (until == 1)
		until = core->muted = now + MUTE;
	// Clocks of run queues differ a little; one that is far off is of another time.
	if (now < until && until - now <= MUTE)
		return 1;
	core->muted = 0;
	return 0;
}

// Whether a core that is free has a CPU for the thread on this one.
INLINE int has_room(struct cpu *cpu)
{
	u32 end = words();
	for (u32 at = 0; at < WORDS; at++) {
		if (at >= end)
			break;
		if (shared.free[at] & cpu->fits[at] & ~shared.offline[at])
			return 1;
	}
	return 0;
}

// Whether a thread of this crowded core that spreads could run elsewhere: on `to`, or anywhere where `to` is NOWHERE.
APART int can_be_helped(u32 number, u32 to)
{
	struct core *core = &shared.cores[number & (CPUS - 1)];
	u64 word = *(volatile u64 *)&core->word;
	if (!is_crowded(word))
		return 0;
	for (u32 at = 0; at < THREADS; at++) {
		if (at >= core->threads)
			break;
		if (!(word >> (8 * at) & SPREADS))
			continue;
		struct cpu *cpu = &shared.cpus[core->cpus[at] & (CPUS - 1)];
		if (to == NOWHERE ? has_room(cpu) : !!(cpu->fits[(to >> 6) & (WORDS - 1)] >> (to & 63) & 1))
			return 1;
	}
	return 0;
}

// Whether a crowded core that is not muted has a thread that could run on `to`.
APART int wants(u32 number, u32 to, u64 now)
{
	if (is_muted(&shared.cores[number & (CPUS - 1)], now))
		return 0;
	return can_be_helped(number, to);
}

// Whether any of 64 cores has. A few of them are asked; the daemon finds the others.
APART int any_wants(u32 at, u32 to, u64 now)
{
	u64 bits = shared.crowded[at & (WORDS - 1)];
	for (int turn = 0; turn < 8; turn++) {
		if (!bits)
			break;
		if (wants(at * 64 + lowest(bits), to, now))
			return 1;
		bits &= bits - 1;
	}
	return 0;
}

// Whether any has.
APART int is_wanted(u32 to, u64 now)
{
	for (u32 at = 0; at < WORDS; at++) {
		if (shared.crowded[at] && any_wants(at, to, now))
			return 1;
	}
	return 0;
}

INLINE void ring(void *which, u32 *pending, u64 *count)
{
	if (*(volatile u32 *)pending || __sync_lock_test_and_set(pending, 1))
		return;
	u32 nothing = 0;
	__sync_fetch_and_add(count, 1);
	if (ring_output(which, &nothing, sizeof(nothing), RB_FORCE_WAKEUP)) {
		__sync_fetch_and_add(&shared.lost, 1);
		*pending = 0;
	}
}

INLINE int is_runnable(struct task_struct *task)
{
	if (HAS(task->__state))
		return !task->__state;
	return !((struct task_struct___old *)task)->state;
}

// The CPUs of its group's zone on which a thread may run.
APART int note_fits(u32 number, u32 group)
{
	struct cpu *cpu = &shared.cpus[number & (CPUS - 1)];
	u32 end = words();
	for (u32 at = 0; at < WORDS; at++) {
		if (at >= end)
			break;
		cpu->fits[at] = cpu->allowed[at] & shared.zones[group & (GROUPS - 1)][at];
	}
	return 0;
}

// The masks of a thread that begins to run.
INLINE void note_masks(struct cpu *cpu, struct task_struct *next)
{
	probe_read(cpu->allowed, words() * 8, next->cpus_ptr);
	cpu->asked_is = 0;
	if (HAS(next->user_cpus_ptr)) {
		struct cpumask *mask = next->user_cpus_ptr;
		if (!mask)
			cpu->asked_is = NOTHING;
		else if (!probe_read(cpu->asked, words() * 8, mask))
			cpu->asked_is = ASKED;
	}
}

// The same of the thread that is being moved, whose masks are narrow at this moment and wide in the next. Known by the
// narrow ones, it could not be moved again before it slept.
APART int recall(u32 number)
{
	struct cpu *cpu = &shared.cpus[number & (CPUS - 1)];
	u32 end = words();
	for (u32 at = 0; at < WORDS; at++) {
		if (at >= end)
			break;
		cpu->allowed[at] = shared.kept_allowed[at];
		cpu->asked[at] = shared.kept_asked[at];
	}
	cpu->asked_is = ASKED;
	return 0;
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u32 number = this_cpu();
	struct cpu *cpu = &shared.cpus[number & (CPUS - 1)];
	u32 pid = next->pid, runs = 0, group = 0;

	if (number >= CPUS || cpu->core == NOWHERE)
		return 0;
	cpu->switches++;
	if (pid) {
		u32 flags = next->flags;
		if (flags & PF_KTHREAD || (u32)next->tgid == shared.own) {
			// Short work of the kernel and the daemon: whoever waits for it to end still has the CPU.
			if (is_runnable(prev))
				return 0;
		} else if (!(flags & PF_EXITING)) {
			u8 *known = entry(pid);
			if (!known)
				__sync_fetch_and_add(&shared.unknown, 1);
			group = known ? *known : 0;
			runs = shared.kinds[group & (GROUPS - 1)];
		}
	}
	struct core *core = &shared.cores[cpu->core & (CPUS - 1)];
	u64 now = next->se.exec_start, word, before;
	u32 ran = cpu->runs;
	if (runs & SPREADS) {
		__sync_fetch_and_add(&cpu->turns, 1);
		cpu->pid = pid;
		cpu->since = now;
		cpu->born = next->start_boottime;
		cpu->process = next->tgid;
		if (shared.moving && pid == shared.moved)
			recall(number);
		else
			note_masks(cpu, next);
		note_fits(number, group);
		__sync_fetch_and_add(&cpu->turns, 1);
	}
	if (ran != runs) {
		u64 change = (u64)(ran ^ runs) << (8 * (cpu->thread & (THREADS - 1)));
		cpu->runs = runs;
		before = __sync_fetch_and_xor(&core->word, change);
		word = before ^ change;
	} else {
		before = word = *(volatile u64 *)&core->word;
	}
	if (runs & COUNTS && !core->used)
		core->used = 1;
	u32 away = (number >> 6) & (WORDS - 1);
	if (shared.offline[away] >> (number & 63) & 1)
		put(shared.offline, number, 0);
	if (is_free(before) != is_free(word))
		note_free(cpu->core);
	if (is_crowded(before) != is_crowded(word))
		put(shared.crowded, cpu->core, is_crowded(word));
	if (!pid)
		// The idle task has no time of its own.
		now = prev->se.exec_start;
	if (breaks_gate(word) && !shared.gate_pending)
		ring(&gate_bell, &shared.gate_pending, &shared.gate_rings);
	if (shared.pending)
		return 0;
	if (is_crowded(word)) {
		if (!is_muted(core, now) && can_be_helped(cpu->core, NOWHERE))
			ring(&bell, &shared.pending, &shared.rings);
	} else if (is_free(word) && !is_free(before)) {
		if (is_wanted(number, now))
			ring(&bell, &shared.pending, &shared.rings);
	}
	return 0;
}

// Notes a child that may have the mask of a move, for the daemon to see to.
INLINE void tell_heir(u32 maker, u32 child)
{
	u32 at = __sync_fetch_and_add(&shared.heirs, 1) & (HEIRS - 1);
	if (__sync_lock_test_and_set(&shared.heir[at], (u64)maker << 32 | child))
		__sync_fetch_and_add(&shared.lost, 1);
	__sync_fetch_and_add(&shared.heirs_told, 1);
	ring(&bell, &shared.pending, &shared.rings);
}

// A child is of its parent's class until it executes a program, and a thread of its process's.
SEC("tp_btf/task_newtask")
int on_new_task(u64 *ctx)
{
	struct task_struct *child = (void *)ctx[0];
	u32 maker = (u32)current_pid_tgid();
	u8 *from = entry(maker), *to = entry(child->pid), group = from ? *from : 0;
	if (to)
		*to = group;
	if (!(shared.kinds[group] & SPREADS) && maker != shared.moved)
		return 0;
	// A clone copies the mask early: perhaps the one that moves its maker, which may have its own again by now, or may be
	// in another move already.
	u64 mine[WORDS], its[WORDS], differs = shared.moving && maker == shared.moved;
	u32 end = words();
	if (probe_read(mine, end * 8, current_task()->cpus_ptr) || probe_read(its, end * 8, child->cpus_ptr))
		return 0;
	for (u32 at = 0; at < WORDS; at++) {
		if (at >= end)
			break;
		differs |= mine[at] ^ its[at];
	}
	if (differs)
		tell_heir(maker, child->pid);
	return 0;
}

// Ids are used again.
SEC("tp_btf/sched_process_exit")
int on_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	u8 *of = entry(task->pid);
	if (of)
		*of = 0;
	return 0;
}

// Asked for one thread: the mask that it set itself, which its effective mask does not tell (kernel/sched/core.c,
// task_user_cpus). Read again until it stood still, because the thread may set another meanwhile.
SEC("iter/task")
int asked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task)
		return 0;
	if (!HAS(task->user_cpus_ptr))
		return 0;
	u32 size = words() * 8;
	for (int turn = 0; turn < 4; turn++) {
		struct cpumask *mask = task->user_cpus_ptr;
		if (!mask) {
			shared.asked_is = NOTHING;
			return 0;
		}
		if (size > sizeof(shared.asked) || probe_read(shared.asked, size, mask))
			return 0;
		if (task->user_cpus_ptr == mask) {
			shared.asked_is = ASKED;
			return 0;
		}
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
