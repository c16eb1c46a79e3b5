/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verdicts as lines, in reports and as JSON. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "golden.h"
#include "view/grower.h"
#include "view/report.h"
#include "view/verdict_more.h"
#include "view_fake.h"

/* A pipeline that its cgroup's limit ended in its third phase; a neighbour died before it. */
static void fake_oom(struct fake *f)
{
	static const uint64_t left[] = {EV_NONE, 196, 136, 0};
	struct process *p;
	struct verdict *v;

	fake_init(f);
	p = fake_process(f, 4242, "python3|push.py", 0, 2000);
	p->exit = PX_OOM;
	p->status = 9;
	p->limit = 256 * FAKE_MIB;
	p->headroom_min = 0;
	p->limit_level = 1;
	p->cgroup_id = 7;
	f->cgroups[f->ncgroups++] = (struct cgroup){
	    .id = 7, .path = "/docker/web\033/init", .runtime = "docker", .name = "web-1"};
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 100, 4, 8, 8);
	fake_phase(f, PH_SPAN, "load:users", 1, 2, 100, 500, 8, 68, 68);
	fake_phase(f, PH_SPAN, "load:groups", 2, 3, 500, 900, 68, 128, 128);
	fake_phase(f, PH_SPAN, "hook:add_memberships", 3, 6, 900, 2000, 128, 250, 250)->ended_by =
	    PH_BY_OOM;
	for (size_t i = 0; i < 4; i++)
		f->phases[i].headroom_min = left[i] == EV_NONE ? EV_NONE : left[i] * FAKE_MIB;
	v = fake_verdict(f, VD_OOM, 5);
	v->at_ns = p->end_ns - 900 * FAKE_MS;
	v->traced = false;
	v->cgroup_id = 0;
	v->pid = 77;
	strcpy(v->comm, "side\033car");
	v->trigger_pid = 4242;
	strcpy(v->trigger_comm, "python3");
	v->limit_usage = 256 * FAKE_MIB;
	v->cgroup_len = 4;
	memcpy(v->cgroup, "/job", 4);
	v = fake_verdict(f, VD_OOM, 6);
	v->phase_kind = PH_SPAN;
	v->phase_label = f->phases[3].label;
	v->cgroup_id = 7;
	v->charge = v->limit_usage = 256 * FAKE_MIB;
	v->cgroup_len = 12;
	memcpy(v->cgroup, "/docker/web\033", 12);
	v->grew_bytes = 120 * (int64_t)FAKE_MIB;
	v->grew_ns = 1100 * FAKE_MS;
	v->sender = (struct ev_sender){.time_ns = 1, .sig = 9, .code = 0x80};
	v->trigger_pid = 4242;
	strcpy(v->trigger_comm, "python3");
	v->held = (struct verdict_held){v->at_ns + 12 * FAKE_MS, 5 * FAKE_MIB, 3 * FAKE_MIB,
					FAKE_MIB / 2, EV_NONE};
}

static void report_golden(const struct fake *f, bool json, bool ascii, const char *name)
{
	struct report_source src = fake_source((struct fake *)f);
	struct report_style style = {.ascii = ascii};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(json ? report_json(&src, NULL, out) : report_text(&src, &style, NULL, out),
			 0);
	fclose(out);
	golden_check(__FILE__, name, text, len);
	free(text);
}

static void reports(void **state)
{
	struct fake *f = malloc(sizeof(*f));

	(void)state;
	assert_non_null(f);
	fake_oom(f);
	report_golden(f, false, false, "report_oom.txt");
	report_golden(f, false, true, "report_oom_ascii.txt");
	report_golden(f, true, false, "report_oom.json");
	free(f);
}

static const char *line(const struct verdict *v, unsigned flags)
{
	static char out[VERDICT_LINE_MAX];
	static const struct verdict_who nobody;
	size_t n = verdict_line(out, v, &nobody, flags);

	assert_int_equal(n, strlen(out));
	return out;
}

static struct verdict killed(void)
{
	struct verdict v = {
	    .kind = VD_SIGNAL,
	    .pid = 42,
	    .traced = true,
	    .comm = "python3",
	    .signal = 9,
	    .limit = EV_NONE,
	    .limit_usage = EV_NONE,
	    .charge = EV_NONE,
	    .phase_kind = PH_SPAN,
	};

	v.members.m[PP_ANON] = 100 * FAKE_MIB;
	v.members.m[PP_FILE] = 4 * FAKE_MIB;
	v.phase_label.len = 10;
	memcpy(v.phase_label.bytes, "load:users", 10);
	return v;
}

static void senders(void **state)
{
	struct verdict v = killed();

	(void)state;
	assert_string_equal(
	    line(&v, 0),
	    "peakphase: killed: pid 42 (python3) in [load:users]: signal 9 (SIGKILL); RSS 104.0 MiB (anon 100.0 file 4.0 shmem 0.0)\n");
	v.sender =
	    (struct ev_sender){.time_ns = 1, .sig = 9, .code = 0, .pid = 7, .comm = "ba\nsh"};
	assert_non_null(strstr(line(&v, 0), "signal 9 (SIGKILL), sent by pid 7 (ba\\nsh);"));
	v.sender.pid = 42;
	assert_non_null(strstr(line(&v, 0), ", sent by itself;"));
	v.sender.pid = 0;
	assert_non_null(strstr(line(&v, 0), ", sent from outside this pid namespace;"));
	v.sender.code = 0x80;
	assert_non_null(strstr(line(&v, 0), ", sent by the kernel;"));
	assert_null(strstr(line(&v, 0), "OOM"));
	v.signal = 64;
	assert_non_null(strstr(line(&v, 0), ": signal 64, sent"));
	assert_true(verdict_is_news(&v));
	v.signal = SIGPIPE;
	assert_false(verdict_is_news(&v));
}

static void crossings(void **state)
{
	struct verdict v = killed();

	(void)state;
	v.kind = VD_CEILING;
	v.signal = 0;
	v.threshold = 104 * FAKE_MIB;
	v.grew_bytes = -3 * (int64_t)FAKE_MIB;
	v.grew_ns = 2000 * FAKE_MS;
	assert_string_equal(
	    line(&v, 0),
	    "peakphase: ceiling 104.0 MiB crossed: pid 42 (python3) in [load:users]: no limit on its memory; RSS 104.0 MiB (anon 100.0 file 4.0 shmem 0.0), grew -3.0 MiB in the last 2.00 s\n");
	v.kind = VD_HEADROOM;
	v.threshold = 64 * FAKE_MIB;
	v.limit = 256 * FAKE_MIB;
	v.limit_usage = 192 * FAKE_MIB;
	v.limit_level = 2;
	v.grew_ns = 0;
	v.phase_kind = PH_AFTER;
	assert_string_equal(
	    line(&v, 0),
	    "peakphase: headroom below 64.0 MiB: pid 42 (python3) in (after), since [load:users]: limit 256.0 MiB of the cgroup 2 levels up, charge 192.0 MiB, left 64.0 MiB; RSS 104.0 MiB (anon 100.0 file 4.0 shmem 0.0)\n");
	v.phase_kind = PH_STARTUP;
	v.phase_label.len = 0;
	v.limit_level = 0;
	assert_non_null(strstr(line(&v, 0), " in (startup): limit 256.0 MiB of its own cgroup,"));
}

static void machine(void **state)
{
	struct verdict v = killed();
	char text[VERDICT_TEXT_MAX];

	(void)state;
	v.kind = VD_OOM;
	assert_non_null(
	    strstr(line(&v, 0), ": the machine was out of memory, no cgroup at its limit; RSS"));
	/* Nothing was read: charge - RSS, of the limit's owner. */
	assert_int_equal(verdict_held(text, &v, 0), 0);
	v.limit = 128 * FAKE_MIB;
	v.limit_usage = 127 * FAKE_MIB;
	verdict_held(text, &v, TEXT_ASCII);
	assert_string_equal(text, "the charge held besides: charge - RSS = 23.0 MiB");
}

/* The longest of everything, hostile: one line all the same. */
static void longest(void **state)
{
	struct verdict v = killed();
	const char *text;

	(void)state;
	v.kind = VD_OOM;
	v.traced = false;
	memset(v.comm, '\033', 16);
	memset(v.trigger_comm, '\n', 16);
	v.phase_label.len = PP_LABEL_MAX;
	memset(v.phase_label.bytes, '\001', PP_LABEL_MAX);
	v.limit = v.limit_usage = UINT64_MAX - 1;
	v.cgroup_len = EV_CGROUP_MAX;
	memset(v.cgroup, '\r', EV_CGROUP_MAX);
	text = line(&v, 0);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	v.cgroup_len = UINT32_MAX;
	line(&v, TEXT_ASCII);
}

static int find_grower(struct fake *f, const struct verdict *v, struct grower *g)
{
	const struct report_source src = fake_source(f);
	struct around a;
	int found;

	assert_int_equal(around_load(&a, &src), 0);
	found = grower_find(&a, v, g);
	around_free(&a);
	return found;
}

/* Of spans within one another the innermost that grew by at least half. */
static void grower(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	struct verdict v;
	struct grower g;

	(void)state;
	assert_non_null(f);
	fake_pipeline(f);
	v = *fake_verdict(f, VD_OOM, 10);
	assert_int_equal(find_grower(f, &v, &g), 1);
	assert_int_equal(g.ph.label.len, strlen("join"));
	f->phases[5].grew_bytes = f->phases[3].grew_bytes / 2 - FAKE_MIB;
	assert_int_equal(find_grower(f, &v, &g), 1);
	assert_int_equal(g.ph.label.len, strlen("transform:memberships"));
	assert_int_equal(g.bytes, f->phases[3].grew_bytes);
	v.mm_id = 2;
	assert_int_equal(find_grower(f, &v, &g), 0);
	v.mm_id = 1;
	f->fail = -EIO;
	assert_int_equal(find_grower(f, &v, &g), -EIO);
	free(f);
}

static void collect(void *arg, const char *text)
{
	char *all = arg;

	strcat(strcat(all, text), "\n");
}

static const char *more(struct fake *f, const struct verdict *v)
{
	static char all[8 * VERDICT_MORE_MAX];
	const struct report_source src = fake_source(f);
	struct around a;

	all[0] = '\0';
	assert_int_equal(around_load(&a, &src), 0);
	assert_int_equal(verdict_more(&a, v, 0, collect, all), 0);
	around_free(&a);
	return all;
}

/*
 * A quiet victim, and in the same cgroup below the limit's owner one that grows, before and after
 * the kill; beside it a larger one that has nothing to do with that limit, one that had ended, and
 * one that came later.
 */
static struct verdict *fake_culprit(struct fake *f)
{
	static const char *const paths[] = {"/pod/a", "/pod/b/c", "/podium"};
	struct process *p;
	struct verdict *v;

	fake_init(f);
	for (size_t i = 0; i < 3; i++) {
		f->cgroups[i].id = i + 1;
		strcpy(f->cgroups[i].path, paths[i]);
	}
	f->ncgroups = 3;
	p = fake_process(f, 10, "quiet", 0, 1000);
	p->cgroup_id = 1;
	p->limit = 200 * FAKE_MIB;
	fake_phase(f, PH_SPAN, "outer", 0, 2, 0, 1000, 1, 61, 61);
	fake_phase(f, PH_SPAN, "quiet", 1, 2, 1, 1000, 1, 61, 61);
	v = fake_verdict(f, VD_OOM, 2);
	v->phase_kind = PH_SPAN;
	v->phase_label = f->phases[1].label;
	v->cgroup_id = 1;
	v->limit_usage = 200 * FAKE_MIB;
	v->trigger_pid = 11;
	strcpy(v->trigger_comm, "python3");
	v->cgroup_len = 4;
	memcpy(v->cgroup, "/pod", 4);
	p = fake_process(f, 11, "greedy", 0, 2000);
	p->cgroup_id = 2;
	fake_phase(f, PH_SPAN, "greedy", 0, 2, 0, 2000, 0, 280, 280);
	p->grew_bytes = 280 * FAKE_MIB;
	p = fake_process(f, 12, "elsewhere", 0, 2000);
	p->cgroup_id = 3;
	fake_phase(f, PH_SPAN, "elsewhere", 0, 2, 0, 2000, 0, 900, 900);
	p->grew_bytes = 900 * FAKE_MIB;
	p = fake_process(f, 13, "over", 0, 900);
	p->cgroup_id = 2;
	fake_phase(f, PH_SPAN, "over", 0, 2, 0, 900, 0, 800, 800);
	p->grew_bytes = 800 * FAKE_MIB;
	p = fake_process(f, 14, "later", 1001, 2000);
	p->cgroup_id = 2;
	fake_phase(f, PH_SPAN, "later", 0, 2, 1001, 2000, 0, 800, 800);
	p->grew_bytes = 800 * FAKE_MIB;
	p = fake_process(f, 15, "sh", 0, 2000);
	p->cgroup_id = 1;
	fake_phase(f, PH_STARTUP, NULL, 0, 2, 0, 2000, 0, 1, 1);
	return v;
}

static void culprit(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	struct verdict *v;

	(void)state;
	assert_non_null(f);
	v = fake_culprit(f);
	assert_non_null(strstr(
	    line(v, 0),
	    "OOM kill: pid 10 (python3) in [quiet], when pid 11 (python3) wanted memory: limit "));
	assert_string_equal(more(f, v), "the charge held besides: charge − RSS = 139.0 MiB\n"
					"grew most: [greedy] by 140.0 MiB, pid 11 (python3)\n"
					"phases open: [outer], [quiet]\n"
					"others: pid 11 (python3) in [greedy]\n");
	report_golden(f, false, false, "report_culprit.txt");
	report_golden(f, true, false, "report_culprit.json");
	/* The machine's memory: everyone has his part in it. */
	v->limit = v->limit_usage = EV_NONE;
	assert_string_equal(
	    more(f, v), "grew most: [elsewhere] by 450.0 MiB, pid 12 (python3)\n"
			"phases open: [outer], [quiet]\n"
			"others: pid 11 (python3) in [greedy]; pid 12 (python3) in [elsewhere]\n");
	/* Its own limit is nobody else's. */
	v->kind = VD_CEILING;
	assert_string_equal(more(f, v), "phases open: [outer], [quiet]\n");
	free(f);
}

/* A process in a container, and whose its limit is. */
static void containers(void **state)
{
	struct cgroup c = {
	    .path = "/pod12/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    .runtime = "docker",
	    .container = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    .name = "api-1"};
	struct verdict_who who = {.ns_pid = 1, .in = &c};
	char text[VERDICT_TEXT_MAX];
	struct verdict v = killed();

	(void)state;
	v.kind = VD_OOM;
	v.limit = v.limit_usage = 200 * FAKE_MIB;
	verdict_what(text, &v, &who, 0);
	assert_string_equal(text, "OOM kill: pid 42 (python3, 1 in docker api-1) in [load:users]");
	v.cgroup_len = (uint32_t)strlen(c.path);
	memcpy(v.cgroup, c.path, v.cgroup_len);
	verdict_why(text, &v, &who, 0);
	assert_string_equal(text, "limit 200.0 MiB of docker api-1 hit, charge 200.0 MiB");
	/* The pod's, not the container's. */
	v.cgroup_len = 6;
	v.limit_level = 1;
	verdict_why(text, &v, &who, 0);
	assert_string_equal(text, "limit 200.0 MiB of /pod12 hit, charge 200.0 MiB");
	/* Another container's around it, of which no name is known. */
	strcpy(c.container, "bbbb");
	v.cgroup_len = (uint32_t)strlen(c.path);
	verdict_why(text, &v, &who, 0);
	assert_non_null(strstr(text, " aaaaaaaaaaaa) hit"));
	who.in = NULL;
	verdict_what(text, &v, &who, 0);
	assert_string_equal(text, "OOM kill: pid 42 (python3, 1 in its container) in [load:users]");
	who.ns_pid = 42;
	verdict_what(text, &v, &who, 0);
	assert_string_equal(text, "OOM kill: pid 42 (python3) in [load:users]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reports), cmocka_unit_test(senders),    cmocka_unit_test(crossings),
	    cmocka_unit_test(machine), cmocka_unit_test(longest),    cmocka_unit_test(grower),
	    cmocka_unit_test(culprit), cmocka_unit_test(containers),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return EXIT_FAILURE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
