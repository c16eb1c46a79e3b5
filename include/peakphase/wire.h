/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records that cross from BPF to userspace.
 *
 * Fixed-width, little-endian hosts and big-endian hosts alike in the host's own order (both ends
 * are one machine), no padding that is not named, sizes and offsets asserted below. Compiled by
 * clang for the bpf target and by the host's compiler.
 *
 * Units: memory in pages of the host (RSS counters and page counters both count pages), times in
 * nanoseconds of CLOCK_MONOTONIC. Members are indexed as the kernel does: FILE, ANON, SWAP, SHMEM.
 */
#ifndef PEAKPHASE_WIRE_H
#define PEAKPHASE_WIRE_H

#ifdef __bpf__
typedef __u8 pp_u8;
typedef __u16 pp_u16;
typedef __u32 pp_u32;
typedef __u64 pp_u64;
typedef __s32 pp_s32;
typedef __s64 pp_s64;
#else
#include <stdint.h>
typedef uint8_t pp_u8;
typedef uint16_t pp_u16;
typedef uint32_t pp_u32;
typedef uint64_t pp_u64;
typedef int32_t pp_s32;
typedef int64_t pp_s64;
#endif

/* The kernel's own numbering of mm counters (include/linux/mm_types_task.h). */
enum pp_member { PP_FILE, PP_ANON, PP_SWAP, PP_SHMEM, PP_NMEMBERS };

enum pp_kind {
	PP_BASE = 1,	/* an mm is traced from here: struct pp_base */
	PP_MARK,	/* checkpoint: struct pp_mark */
	PP_BEGIN,	/* span begins: struct pp_mark */
	PP_END,		/* span ends: struct pp_mark, without label */
	PP_EXEC,	/* the mm ended by exec of its process: struct pp_exit */
	PP_EXIT,	/* the mm's process ended: struct pp_exit */
	PP_THREAD,	/* a thread began: struct pp_edge */
	PP_THREAD_EXIT, /* a thread that had marked ended: struct pp_edge */
	PP_DETACH,	/* the tracing of the mm ends, it goes on: struct pp_edge */
	PP_SAMPLE,	/* struct pp_sample, on its own ring */
	PP_FAULT,	/* struct pp_fault, on its own ring */
	PP_OOM,	      /* the OOM killer chose this process; it goes on to its exit: struct pp_oom */
	PP_OOM_OTHER, /* the same of one that is not traced: no edge, mm_id 0: struct pp_oom */
	PP_CROSS,     /* a limit that the user set was crossed for the first time: struct pp_edge */
	PP_NOTE,      /* struct pp_note, on its own ring */
	PP_WRITE,     /* a write to stdout or stderr that may hold a mark: struct pp_write */
	PP_OUTPUT,    /* what was written there: struct pp_output, on its own ring */
	PP_KIND_MAX,
};

/* Why an mm is traced. */
enum pp_reason {
	PP_BY_ATTACH = 1,
	PP_BY_EXEC,
	PP_BY_FORK,
	PP_BY_JOIN, /* came into a cgroup that is traced */
};

/* pp_hdr.flags */
#define PP_F_CO_INEXACT 0x1u /* members at the maximum are of a moment near it, not of it */
/* Set by userspace alone, in events and recordings. */
#define PP_F_OUTPUT 0x2u /* a mark that was made of a line that the program printed */
#define PP_F_SAME 0x4u	 /* one more mark at the edge before it: ends no window of its own */

#define PP_F_RENAMED 0x8u /* an end whose label is the one that its span has had all along */

/* pp_mark.label_flags */
#define PP_LABEL_CUT 0x1u	 /* longer than PP_LABEL_MAX: label holds its beginning */
#define PP_LABEL_NULL 0x2u	 /* the pointer was NULL */
#define PP_LABEL_UNREADABLE 0x4u /* the pointer could not be read; label holds what could */

#define PP_LABEL_MAX 255u      /* bytes of a label kept */
#define PP_LABEL_SMALL 64u     /* bytes of a label in the small record */
#define PP_ARGS_MAX 128u       /* bytes of the command line kept in the record */
#define PP_NOTE_MAX (1u << 20) /* bytes of a note kept */
#define PP_NOTE_CHUNK 512u     /* bytes of a note in one record */
#define PP_NAME_MAX 48u	       /* bytes of a mapping's file name kept in the record */

/* "No limit", and "not known", in pages. */
#define PP_NO_LIMIT (~0ull)

struct pp_hdr {
	pp_u16 kind; /* enum pp_kind */
	pp_u16 flags;
	pp_u32 size;	/* of the whole record, this header included */
	pp_u64 time_ns; /* CLOCK_MONOTONIC */
	pp_u64 mm_id;	/* never reused while the tracer lives, unlike mm pointers and pids */
	pp_u32 pid;	/* thread group; both in the tracer's pid namespace */
	pp_u32 tid;
};

/* What one window saw. Windows of one mm are numbered without holes. */
struct pp_window {
	pp_u64 seq;			 /* 24 bits, wraps: number of this window */
	pp_u64 max;			 /* largest RSS */
	pp_u64 max_at_ns;		 /* when it was first reached */
	pp_u64 max_members[PP_NMEMBERS]; /* the members at that moment */
	pp_u64 member_max[PP_NMEMBERS];	 /* each member's own maximum */
	pp_u64 min;			 /* smallest RSS */
	pp_u64 charge_max;		 /* largest charge of the task's memory cgroup seen */
	pp_u64 charge_max_at_ns;	 /* when it was seen */
	pp_u64 limiter_max;		 /* the same of the cgroup that owns the smallest limit */
};

/* The common part of every record on the edge ring: one window ends here. */
struct pp_edge {
	struct pp_hdr hdr;
	pp_u64 now[PP_NMEMBERS]; /* exact sums at the edge */
	struct pp_window win;	 /* the window that ends here */
	/* growth brought in by the thread of this edge, since the mm was traced: cumulative */
	pp_u64 thread_grew, thread_shrank;
	/* the same by any thread of the mm, and by others (reclaim, another process) */
	pp_u64 mm_grew, mm_shrank;
	pp_u64 ext_grew, ext_shrank;
	/* faults of the thread of this edge since the mm was traced: cumulative */
	pp_u64 minflt, majflt;
	pp_u64 charge;	    /* of the task's memory cgroup; PP_NO_LIMIT where not known */
	pp_u64 limit;	    /* smallest on the way to the root; PP_NO_LIMIT where there is none */
	pp_u64 limiter;	    /* charge of the cgroup that owns that limit */
	pp_u64 peak;	    /* largest RSS of the mm since it was traced, in windows up to this */
	pp_u32 limit_level; /* 0: the task's own cgroup, 1: its parent, … */
	pp_u32 lost;	    /* edges of this mm that the ring could not take since the last one */
};

struct pp_base {
	struct pp_edge edge;
	pp_u64 parent_mm_id;  /* 0: parent not traced */
	pp_u64 start_ns;      /* start of the process, CLOCK_MONOTONIC */
	pp_u64 start_boot_ns; /* the same in CLOCK_BOOTTIME: with the pid, the identity */
	pp_u64 cgroup_id;     /* memory cgroup: inode of its folder; 0: not known */
	pp_u32 ppid;	      /* in the tracer's pid namespace; 0: outside of it */
	pp_u32 ns_pid;	      /* in the process's own pid namespace, the innermost */
	pp_u32 reason;	      /* enum pp_reason */
	pp_u32 threads;	      /* number of threads at the base */
	pp_u32 args_len;      /* bytes used of args */
	pp_u32 pad;
	char comm[16];
	char args[PP_ARGS_MAX]; /* arguments, NUL between them */
};

/* The signal that ended a process, as far as one was seen that could. */
struct pp_sender {
	pp_u64 time_ns; /* 0: none was seen */
	pp_u32 sig;
	pp_s32 code; /* si_code: SI_USER and below are people's, SI_KERNEL and above the kernel's */
	pp_u32 pid;  /* who sent it, initial pid namespace; 0: the kernel */
	pp_u32 pad;
	char comm[16]; /* of the sender */
};

/* pp_exit.exit_flags */
#define PP_EXIT_OOM 0x1u /* the OOM killer had chosen it */

struct pp_exit {
	struct pp_edge edge;
	pp_u32 exit_code; /* as wait(2) gives it */
	pp_u32 exit_flags;
	struct pp_sender sender;
};

#define PP_CGROUP_LEVELS 12u /* names of cgroups kept, from the process's own up */
#define PP_CGROUP_NAME 128u  /* bytes of each, NUL-terminated, cut */

/*
 * Written in the context of the killer, whose allocation found no memory. edge: of the victim; of
 * PP_OOM_OTHER the header alone counts. The limit that was hit is not told by the kernel: hit_* are
 * of the cgroup with the least room, of the victim's own and those above it.
 */
struct pp_oom {
	struct pp_edge edge;
	pp_u64 start_boot_ns;	     /* of the victim: with the pid, its identity */
	pp_u64 hit_limit, hit_usage; /* PP_NO_LIMIT: no cgroup has a limit */
	pp_u32 hit_level;
	pp_u32 pid;	      /* of the victim */
	pp_u64 trigger_mm_id; /* of the process that wanted memory; 0: not traced */
	pp_u32 trigger_pid;
	pp_u32 levels; /* names used; the last is the root's, "" */
	char comm[16], trigger_comm[16];
	struct pp_sender sender; /* of the victim: it may have been dying already */
	char names[PP_CGROUP_LEVELS][PP_CGROUP_NAME];
};

/* Ends in label[PP_LABEL_SMALL] or label[PP_LABEL_MAX + 1]; hdr.size tells. */
struct pp_mark {
	struct pp_edge edge;
	pp_u64 token;	   /* spans; 0 for checkpoints */
	pp_u64 label_hash; /* FNV-1a of the whole label, also of what was cut off */
	pp_u16 label_len;  /* bytes used of label */
	pp_u16 label_flags;
	pp_u32 threads; /* of the process, now */
	char label[];
};

struct pp_sample {
	struct pp_hdr hdr;
	pp_u64 seq; /* of the window it lies in */
	pp_u64 now[PP_NMEMBERS];
	pp_u64 max, min; /* of the window so far */
	pp_u64 charge;
	pp_u32 threads; /* of the process, now; 0: another one changed its memory */
	pp_u32 pad;
};

/* Kind of mapping that a fault fell in. */
enum pp_mapping {
	PP_MAP_UNKNOWN,
	PP_MAP_HEAP,
	PP_MAP_STACK,
	PP_MAP_ANON,
	PP_MAP_SHMEM,
	PP_MAP_FILE,
	PP_MAPPING_MAX,
};

/* One of every N page faults (N in the run's options). */
struct pp_fault {
	struct pp_hdr hdr;
	pp_u64 seq; /* of the window it lies in */
	pp_u64 addr;
	pp_u64 ino;
	pp_u32 dev;
	pp_u32 mapping;		/* enum pp_mapping */
	char name[PP_NAME_MAX]; /* last part of the file's name, NUL-terminated, cut */
};

/* pp_note.flags */
#define PP_NOTE_LAST 0x1u	/* the note ends with this record */
#define PP_NOTE_CUT 0x2u	/* longer than PP_NOTE_MAX */
#define PP_NOTE_UNREADABLE 0x4u /* what follows could not be read */

/*
 * A piece of a note: text that the program gives to one of its phases. The pieces of a note follow
 * each other on the ring; one without PP_NOTE_LAST in the end lost its rest.
 */
struct pp_note {
	struct pp_hdr hdr;
	pp_u64 token;  /* of the span it is given to; 0: the innermost phase of the thread */
	pp_u32 number; /* of the note, in its thread */
	pp_u32 at;     /* offset of the piece */
	pp_u16 len;    /* bytes used of text */
	pp_u16 flags;
	pp_u32 pad;
	char text[PP_NOTE_CHUNK];
};

#define PP_READERS 4

/* The write whose pattern literal ends the window; its bytes follow on the ring of the output. */
struct pp_write {
	struct pp_edge edge;
	pp_u64 write; /* number of the write, over all processes */
	/* Whoever reads it may print it again. Numbers of files: 0: it is not a file of that sort.
	 */
	pp_u64 to;   /* the pipe, terminal or socket that it goes to */
	pp_u64 from; /* the pipe that is the process's stdin */
	pp_u64
	    reader[PP_READERS]; /* mm_id: the writer and those above it that hold the other end */
};

/* pp_output.flags */
#define PP_OUT_LAST 0x1u /* the write's last piece; it may be empty */
#define PP_OUT_EDGE 0x2u /* the write has an edge: struct pp_write */
#define PP_OUT_GAP 0x4u	 /* bytes before this piece were lost */
#define PP_OUT_CUT 0x8u	 /* bytes behind this piece were not sent: the write is too long */

#define PP_OUT_SMALL 240u  /* bytes in a small record */
#define PP_OUT_LARGE 4096u /* and in a large one */

/*
 * A piece of what was written to stdout or stderr, once it was written: ends in data[PP_OUT_SMALL]
 * or data[PP_OUT_LARGE]; hdr.size tells. hdr.time_ns is that of the write's beginning.
 */
struct pp_output {
	struct pp_hdr hdr;
	pp_u64 write;  /* number of the write, over all processes */
	pp_u64 at;     /* bytes that the process had written to this stream before the piece */
	pp_u32 file;   /* number of the open file, over all processes; two fds may share it */
	pp_u16 stream; /* 1: stdout, 2: stderr */
	pp_u16 flags;  /* PP_OUT_* */
	pp_u32 len;    /* bytes used of data */
	pp_u32 pad;
	char data[];
};

/* Classes of loss, an index into the counters that BPF keeps. */
enum pp_loss {
	PP_LOSS_EDGES,	 /* edges the ring had no room for; their windows went on */
	PP_LOSS_SAMPLES, /* points of the timeline; peaks are not touched */
	PP_LOSS_FAULTS,	 /* fault samples (--where) */
	PP_LOSS_MMS,	 /* processes that found the table of mms full: not traced */
	PP_LOSS_GROWTH,	 /* pages of growth that could not be booked on their thread */
	PP_LOSS_MARKS,	 /* marks of a traced thread that could not be read at all */
	PP_LOSS_NOTES,	 /* notes whose text, or the rest of it, the ring could not take */
	PP_LOSS_OUTPUT,	 /* writes to stdout or stderr that were not seen, or not as a whole */
	PP_LOSS_BYTES,	 /* bytes of what is kept of them (--output) that were not seen */
	PP_LOSS_MAX,
};

#define PP_ASSERT(c, what) _Static_assert(c, what)
#ifndef __cplusplus
PP_ASSERT(sizeof(struct pp_hdr) == 32, "pp_hdr");
PP_ASSERT(sizeof(struct pp_window) == 15 * 8, "pp_window");
PP_ASSERT(sizeof(struct pp_edge) == 32 + 32 + 120 + 12 * 8 + 8, "pp_edge");
PP_ASSERT(sizeof(struct pp_base) == sizeof(struct pp_edge) + 32 + 24 + 16 + PP_ARGS_MAX, "pp_base");
PP_ASSERT(sizeof(struct pp_sender) == 40, "pp_sender");
PP_ASSERT(sizeof(struct pp_exit) == sizeof(struct pp_edge) + 8 + 40, "pp_exit");
PP_ASSERT(sizeof(struct pp_oom) ==
	      sizeof(struct pp_edge) + 6 * 8 + 32 + 40 + PP_CGROUP_LEVELS * PP_CGROUP_NAME,
	  "pp_oom");
PP_ASSERT(sizeof(struct pp_mark) == sizeof(struct pp_edge) + 24, "pp_mark");
PP_ASSERT(sizeof(struct pp_sample) == 32 + 8 * 9, "pp_sample");
PP_ASSERT(sizeof(struct pp_write) == sizeof(struct pp_edge) + 24 + 8 * PP_READERS, "pp_write");
PP_ASSERT(sizeof(struct pp_output) == 32 + 32, "pp_output");
PP_ASSERT(sizeof(struct pp_fault) == 32 + 32 + PP_NAME_MAX, "pp_fault");
PP_ASSERT(sizeof(struct pp_note) == 32 + 24 + PP_NOTE_CHUNK, "pp_note");
#endif

#endif
