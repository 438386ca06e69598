// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What the program shares with the daemon. enforcer/src/sys/sensor/layout.rs has the same in Rust.
#pragma once

// The limits.
#define CPUS 1024
#define WORDS (CPUS / 64)
#define THREADS 8
#define GROUPS 256
#define HEIRS 64
#define NOWHERE 0xffff

// What a CPU runs, as one byte of its core's word; 0 is nothing that counts.
#define COUNTS 1 // somebody for whom gated classes make room
#define SPREADS 2 // and who wants a core alone
#define GATED 4 // somebody who makes room
#define EVERY 0x0101010101010101ULL

// What is known of the mask that a thread set itself.
#define ASKED 1
#define NOTHING 2

// How long a core that cannot be helped, or just was, is left alone: in nanoseconds.
#define MUTE 1000000

struct cpu {
	u16 core; // NOWHERE for a CPU that the plan does not know
	u8 thread; // which one of the core
	u8 runs;
	u32 turns; // odd while what follows is written: the last thread that spreads and ran here
	u32 pid;
	u32 asked_is; // ASKED or NOTHING
	u64 since; // when it began to run, by its run queue's clock
	u64 born; // when it was started, in nanoseconds since boot
	u64 switches;
	u32 process;
	u32 pad[5];
	u64 allowed[WORDS]; // its effective mask
	u64 asked[WORDS]; // the mask that it set itself
	u64 fits[WORDS]; // its effective mask within its zone
};

struct core {
	u64 word; // a byte for each thread
	u64 muted; // 1: from the next switch on; else until then, by the run queue's clock
	u32 used; // whether something that counts ran here since the daemon last looked
	u16 threads;
	u16 cpus[THREADS];
	u16 pad[13];
};

// All that is shared, in one piece, so that the daemon can map it.
struct shared {
	u32 words; // 64-bit words in use of each mask of CPUs
	u32 own; // the daemon
	u32 pending; // set when the bell for spread threads rings, cleared by whoever has answered
	u32 gate_pending; // the same for gated classes
	u64 rings;
	u64 gate_rings;
	u64 lost; // bells and heirs that found no room
	u64 unknown; // switches to threads whose id is beyond the table
	u32 moved; // the thread that was moved last
	u32 moving; // whether its mask is not its own at this moment
	u64 kept_allowed[WORDS]; // its masks meanwhile: the effective one
	u64 kept_asked[WORDS]; // and the one that it set itself, or all ones
	u32 heirs; // children so far that may have got such a mask: those with a place below
	u32 heirs_told; // and those that are in it
	u64 heir[HEIRS]; // the last of them, each with its maker in the upper half; taken out by the daemon
	u32 asked_is; // what the last question found
	u64 asked[WORDS];
	u64 free[WORDS]; // CPUs of cores on which nothing that counts runs
	u64 offline[WORDS]; // set by the daemon, cleared by the first switch
	u64 crowded[WORDS]; // cores on which a thread that spreads is not alone
	u8 kinds[GROUPS];
	u64 zones[GROUPS][WORDS];
	struct core cores[CPUS];
	struct cpu cpus[CPUS];
};
