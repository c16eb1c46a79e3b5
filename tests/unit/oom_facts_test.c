/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts of a kill on their way in: the record, the cgroup's path, its statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/decode.h"
#include "decode/path.h"
#include "resolve/held.h"

#define PAGE 4096u

static void fill(struct pp_oom *o, uint16_t kind)
{
	memset(o, 0, sizeof(*o));
	o->edge.hdr.kind = kind;
	o->edge.hdr.size = sizeof(*o);
	o->edge.hdr.mm_id = kind == PP_OOM ? 5 : 0;
	o->edge.now[PP_ANON] = 10;
	o->hit_limit = 65536;
	o->hit_usage = 65530;
	o->hit_level = 1;
	o->pid = 42;
	o->start_boot_ns = 7;
	o->trigger_mm_id = 6;
	o->trigger_pid = 43;
	o->levels = 3;
	memcpy(o->comm, "0123456789abcdef", 16); /* not terminated */
	strcpy(o->trigger_comm, "sh");
	o->sender = (struct pp_sender){.time_ns = 8, .sig = 9, .code = -6, .pid = 44};
	strcpy(o->names[0], "init");
	strcpy(o->names[1], "job.slice");
}

static void record(void **state)
{
	struct pp_oom o;
	struct event ev;

	(void)state;
	fill(&o, PP_OOM);
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), 0);
	assert_true(event_is_edge(ev.kind));
	assert_int_equal(ev.edge.now.m[PP_ANON], 10 * PAGE);
	assert_int_equal(ev.edge.oom.hit_limit, 256u << 20);
	assert_int_equal(ev.edge.oom.hit_usage, 65530 * PAGE);
	assert_int_equal(ev.edge.oom.pid, 42);
	assert_int_equal(ev.edge.oom.start_boot_ns, 7);
	assert_int_equal(ev.edge.oom.trigger_mm_id, 6);
	assert_int_equal(ev.edge.oom.trigger_pid, 43);
	assert_string_equal(ev.edge.oom.comm, "0123456789abcdef");
	assert_string_equal(ev.edge.oom.trigger_comm, "sh");
	assert_int_equal(ev.edge.oom.sender.sig, 9);
	assert_int_equal(ev.edge.oom.sender.code, -6);
	assert_int_equal(ev.edge.oom.cgroup_len, 10);
	assert_memory_equal(ev.edge.oom.cgroup, "/job.slice", 10);
	o.hit_limit = o.hit_usage = PP_NO_LIMIT;
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), 0);
	assert_int_equal(ev.edge.oom.hit_limit, EV_NONE);
	fill(&o, PP_OOM_OTHER);
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), 0);
	assert_false(event_is_edge(ev.kind));
	assert_int_equal(ev.edge.now.m[PP_ANON], 0);
	assert_int_equal(ev.edge.oom.pid, 42);
}

static void bad_records(void **state)
{
	struct pp_oom o;
	struct event ev;

	(void)state;
	fill(&o, PP_OOM);
	o.levels = PP_CGROUP_LEVELS + 1;
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), -EBADMSG);
	o.levels = 1;
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), -EBADMSG);
	/* No cgroup at all. */
	o.levels = 0;
	assert_int_equal(decode_record(&o, sizeof(o), PAGE, &ev), 0);
	assert_int_equal(ev.edge.oom.cgroup_len, 0);
}

static const char *joined(size_t cap, const char (*names)[PP_CGROUP_NAME], uint32_t levels,
			  uint32_t level)
{
	static char out[EV_CGROUP_MAX + 1];

	assert_true(cap <= EV_CGROUP_MAX);
	memset(out, '!', sizeof(out));
	out[path_join(out, cap, names, levels, level)] = '\0';
	return out;
}

static void paths(void **state)
{
	char names[PP_CGROUP_LEVELS][PP_CGROUP_NAME] = {"leaf", "mid", "top", ""};

	(void)state;
	assert_string_equal(joined(256, names, 4, 0), "/top/mid/leaf");
	assert_string_equal(joined(256, names, 4, 2), "/top");
	assert_string_equal(joined(256, names, 4, 3), "/");
	/* Not told up to the root. */
	assert_string_equal(joined(256, names, 3, 0), "…/top/mid/leaf");
	/* No room: the end is what is kept. */
	assert_string_equal(joined(16, names, 4, 0), "/top/mid/leaf");
	assert_string_equal(joined(15, names, 4, 0), "…/mid/leaf");
	assert_string_equal(joined(8, names, 4, 0), "…/leaf");
	assert_string_equal(joined(3, names, 4, 0), "…");
	assert_string_equal(joined(0, names, 4, 0), "");
	/* Not terminated. */
	memset(names[0], 'x', PP_CGROUP_NAME);
	assert_int_equal(strlen(joined(256, names, 4, 0)), strlen("/top/mid/") + PP_CGROUP_NAME);
}

struct folder {
	struct cgroup_mount m;
	char file[2][PATH_MAX];
	int n;
};

static void put(struct folder *f, const char *name, const char *text)
{
	char *path = f->file[f->n++];
	FILE *out;

	assert_true(snprintf(path, PATH_MAX, "%s/%s", f->m.dir, name) < PATH_MAX);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void begin(struct folder *f, enum cgroup_version version)
{
	*f = (struct folder){.m = {.version = version, .top = "/"}};
	strcpy(f->m.dir, "/tmp/peakphase-held-XXXXXX");
	assert_non_null(mkdtemp(f->m.dir));
}

static void end(struct folder *f)
{
	while (f->n)
		unlink(f->file[--f->n]);
	assert_int_equal(rmdir(f->m.dir), 0);
}

static void held_v2(void **state)
{
	struct cgroup_held h;
	struct folder f;

	(void)state;
	begin(&f, CGROUP_V2);
	put(&f, "memory.stat",
	    "anon 100\nfile 200\nkernel 300\nshmem 40\nfile_mapped 50\nfile_dirty 1\nworkingset_x -1\n");
	assert_int_equal(cgroup_held(&f.m, "/", &h), 0);
	assert_int_equal(h.cache, 200);
	assert_int_equal(h.kernel, 300);
	assert_int_equal(h.shmem, 40);
	assert_int_equal(h.mapped, 50);
	assert_int_equal(cgroup_held(&f.m, "/gone", &h), -ENOENT);
	end(&f);
	/* Before 5.18 there was no word for all of the kernel's. */
	begin(&f, CGROUP_V2);
	put(&f, "memory.stat", "file 200\nslab 7\nrubbish\n");
	assert_int_equal(cgroup_held(&f.m, "/", &h), 0);
	assert_int_equal(h.kernel, CGROUP_UNKNOWN);
	assert_int_equal(h.cache, 200);
	end(&f);
}

/* The limit is about the cgroup and all below it: total_ are its numbers. */
static void held_v1(void **state)
{
	struct cgroup_held h;
	struct folder f;

	(void)state;
	begin(&f, CGROUP_V1);
	put(&f, "memory.stat",
	    "cache 1\nshmem 2\nmapped_file 3\ntotal_cache 100\ntotal_shmem 20\ntotal_mapped_file 30\n");
	put(&f, "memory.kmem.usage_in_bytes", "400\n");
	assert_int_equal(cgroup_held(&f.m, "/", &h), 0);
	assert_int_equal(h.cache, 100);
	assert_int_equal(h.shmem, 20);
	assert_int_equal(h.mapped, 30);
	assert_int_equal(h.kernel, 400);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(record),  cmocka_unit_test(bad_records), cmocka_unit_test(paths),
	    cmocka_unit_test(held_v2), cmocka_unit_test(held_v1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
