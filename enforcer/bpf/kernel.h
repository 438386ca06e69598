// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What the program takes of the kernel: no header of it is needed.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
// Checked once by itself and not at every call, which else comes to more steps than the verifier takes. Takes numbers only.
#define APART __attribute__((noinline))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name

// include/uapi/linux/bpf.h
#define MAP_ARRAY 2
#define MAP_RINGBUF 27
#define F_MMAPABLE (1U << 10)
#define RB_FORCE_WAKEUP (1ULL << 1)
static void *(*map_lookup)(const void *map, const void *key) = (void *)1;
static u64 (*current_pid_tgid)(void) = (void *)14;
static u32 (*this_cpu)(void) = (void *)8;
static struct task_struct *(*current_task)(void) = (void *)158;
static long (*probe_read)(void *to, u32 size, const void *from) = (void *)113;
static long (*ring_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;

// include/linux/sched.h; the loader finds the fields by name in the running kernel.
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define CO_RE __attribute__((preserve_access_index))
#define HAS(field) __builtin_preserve_field_info(field, 2)

struct cpumask;
struct task_struct;

struct sched_entity {
	u64 exec_start;
} CO_RE;

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	s32 pid;
	s32 tgid;
	u64 start_boottime;
	struct sched_entity se;
	const struct cpumask *cpus_ptr;
	struct cpumask *user_cpus_ptr;
} CO_RE;

// Before Linux 5.14.
struct task_struct___old {
	volatile long state;
} CO_RE;

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
} CO_RE;
