/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Command lines of processes that were there before the tracer. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "fixture.h"
#include "source/args.h"

static struct event base(enum pp_reason reason, uint32_t pid, const char *comm)
{
	struct event ev = {.kind = PP_BASE, .pid = pid, .tid = pid};

	ev.edge.reason = reason;
	strcpy(ev.edge.comm, comm);
	return ev;
}

static void of_an_attached_one(void **state)
{
	static const char args[] = "python3\0etl.py\0--name=a b\0"; /* and an empty one */
	char proc[PATH_MAX];
	struct event ev = base(PP_BY_ATTACH, 4242, "a) R 1 (b");

	(void)state;
	args_of_attached(FIXTURE(proc, "proc"), &ev);
	assert_int_equal(ev.edge.args_len, sizeof(args));
	assert_memory_equal(ev.edge.args, args, sizeof(args));
}

static void others_stay_as_they_are(void **state)
{
	const struct event events[] = {
	    base(PP_BY_EXEC, 4242, "a) R 1 (b"),   base(PP_BY_FORK, 4242, "a) R 1 (b"),
	    base(PP_BY_ATTACH, 4242, "something"), /* another program by now */
	    base(PP_BY_ATTACH, 4711, "gone"),	   base(PP_BY_ATTACH, 2, "kworker"),
	};
	char proc[PATH_MAX];
	struct event ev;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		ev = events[i];
		args_of_attached(FIXTURE(proc, "proc"), &ev);
		assert_memory_equal(&ev, &events[i], sizeof(ev));
	}
	/* A mark has no room for them: its label lies there. */
	ev = base(PP_BY_ATTACH, 4242, "a) R 1 (b");
	ev.kind = PP_MARK;
	args_of_attached(FIXTURE(proc, "proc"), &ev);
	assert_int_equal(ev.edge.args_len, 0);
}

static void long_ones_are_cut(void **state)
{
	char dir[] = "/tmp/peakphase-args-XXXXXX", path[PATH_MAX];
	struct event ev = base(PP_BY_ATTACH, 1, "long");
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "mkdir %s/1 && echo long > %s/1/comm", dir, dir);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/1/cmdline", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 5000; i++)
		fputc(i % 10 == 9 ? 0 : 'x', f);
	fclose(f);
	args_of_attached(dir, &ev);
	assert_int_equal(ev.edge.args_len, PP_ARGS_MAX);
	assert_int_equal(ev.edge.args[PP_ARGS_MAX - 1], 'x');
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

static void as_text(void **state)
{
	char proc[PATH_MAX], *text = args_text(FIXTURE(proc, "proc"), 4242);

	(void)state;
	assert_string_equal(text, "python3 etl.py --name=a b");
	free(text);
	assert_null(args_text(proc, 2));
	assert_null(args_text(proc, 4711));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_an_attached_one),
	    cmocka_unit_test(others_stay_as_they_are),
	    cmocka_unit_test(long_ones_are_cut),
	    cmocka_unit_test(as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
