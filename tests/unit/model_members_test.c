/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The most of each kind of memory that a phase saw: each at its own instant. */
#include "events.h"

static void own_instants(void **state)
{
	struct sim s = {.ns = 5000 * MS};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	sim_base(&s, &m, 1, 10, PP_BY_EXEC, 20 * MIB);
	sim_begin(&s, &m, 10, "outer", 1);
	sim_begin(&s, &m, 10, "maps", 2);
	sim_grow(&s, &m, 10, PP_FILE, 100 * MIB, MS); /* the peak: 120 */
	sim_grow(&s, &m, 10, PP_FILE, -90 * (int64_t)MIB, MS);
	sim_end(&s, &m, 10, 2);
	sim_begin(&s, &m, 10, "computes", 3);
	sim_hog(&s, &m, 10, 60); /* 80 + 10 of files */
	sim_hog(&s, &m, 10, -60);
	sim_end(&s, &m, 10, 3);
	sim_mark(&s, &m, 10, "rest");
	sim_end(&s, &m, 10, 1);
	sim_exit(&s, &m, 10, 0);
	sim_run(&s, &g, model);
	for (size_t i = 0; i < g.n; i++) {
		const struct phase *p = &g.ph[i];

		switch (p->label.len ? p->label.bytes[0] : 0) {
		case 'm':
			assert_int_equal(p->peak.bytes, 120 * MIB);
			assert_int_equal(p->anon_peak, 20 * MIB);
			assert_int_equal(p->file_peak, 100 * MIB);
			break;
		case 'c': /* what it began with counts */
			assert_int_equal(p->peak.bytes, 90 * MIB);
			assert_int_equal(p->anon_peak, 80 * MIB);
			assert_int_equal(p->file_peak, 10 * MIB);
			break;
		case 'o':
		case 'r':
			assert_int_equal(p->peak.bytes, 120 * MIB);
			assert_int_equal(p->peak.members.m[PP_ANON], 20 * MIB);
			assert_int_equal(p->anon_peak, 80 * MIB);
			assert_int_equal(p->file_peak, 100 * MIB);
			break;
		default:
			assert_int_equal(p->anon_peak, 20 * MIB);
		}
	}
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
