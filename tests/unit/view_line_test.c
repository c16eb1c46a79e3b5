/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live line of a finished phase, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/text.h"
#include "view/best.h"
#include "view/line.h"
#include "view/small.h"
#include "view_fake.h"

static void assert_line(const struct process *p, const struct phase *ph, unsigned flags,
			const char *expected)
{
	char line[LINE_TEXT_MAX];

	size_t len = line_format(line, p, ph, flags);

	assert_int_equal(len, strlen(line));
	assert_string_equal(line, expected);
}

static struct fake *pipeline(struct process **p, struct phase **ph)
{
	struct fake *f = malloc(sizeof(*f));

	assert_non_null(f);
	fake_init(f);
	*p = fake_process(f, 4242, "python3|etl.py", 0, 13000);
	*ph = fake_phase(f, PH_SPAN, "transform:users", 1, 2, 310, 1550, 72, 280, 285);
	return f;
}

static void as_people_print_it(void **state)
{
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);

	(void)state;
	ph->peak.bytes = 298529587; /* 284.7 MiB */
	ph->grew_bytes = 222612685;
	assert_line(
	    p, ph, 0,
	    "peak RSS [transform:users]: ~284.7 MB  (grew 212.3, kept 208.0, now 280.0; 1.24 s)\n");
	assert_line(
	    p, ph, LINE_PID,
	    "peak RSS [transform:users]: ~284.7 MB  (grew 212.3, kept 208.0, now 280.0; 1.24 s)  pid 4242\n");
	free(f);
}

static void how_it_ended(void **state)
{
	static const struct {
		enum phase_ended by;
		const char *text;
	} ends[] = {{PH_BY_END, ""},
		    {PH_BY_MARK, ""},
		    {PH_BY_EXIT, ", open at exit"},
		    {PH_BY_EXEC, ", ended by exec"},
		    {PH_BY_SIGNAL, ", open when killed"},
		    {PH_BY_OOM, ", open at the OOM kill"},
		    {PH_BY_TRACE, ", open when the tracing ended"}};
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);
	char expected[256];

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		ph->ended_by = ends[i].by;
		snprintf(
		    expected, sizeof(expected),
		    "peak RSS [transform:users]: ~285.0 MB  (grew 213.0, kept 208.0, now 280.0; 1.24 s%s)\n",
		    ends[i].text);
		assert_line(p, ph, 0, expected);
	}
	/* Nobody left "(after)" open: it ends with the process by nature. */
	ph->kind = PH_AFTER;
	ph->ended_by = PH_BY_EXIT;
	assert_line(p, ph, 0,
		    "peak RSS [(after)]: ~285.0 MB  (grew 213.0, kept 208.0, now 280.0; 1.24 s)\n");
	free(f);
}

static void how_sure_it_is(void **state)
{
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);

	(void)state;
	ph->exact = false;
	assert_line(
	    p, ph, 0,
	    "peak RSS [transform:users]: ~285.0 MB (inexact)  (grew 213.0, kept 208.0, now 280.0; 1.24 s)\n");
	ph->lost = 1;
	assert_line(
	    p, ph, 0,
	    "peak RSS [transform:users]: ~285.0 MB (1 mark lost)  (grew 213.0, kept 208.0, now 280.0; 1.24 s)\n");
	ph->lost = 3;
	p->error_bytes = 2 * FAKE_MIB;
	assert_line(
	    p, ph, 0,
	    "peak RSS [transform:users]: ~285.0 ±2.0 MB (3 marks lost)  (grew 213.0, kept 208.0, now 280.0; 1.24 s)\n");
	assert_line(
	    p, ph, LINE_ASCII,
	    "peak RSS [transform:users]: ~285.0 +-2.0 MB (3 marks lost)  (grew 213.0, kept 208.0, now 280.0; 1.24 s)\n");
	free(f);
}

static void assert_label(const struct phase *ph, unsigned flags, const char *expected)
{
	char label[VIEW_LABEL_MAX];

	size_t len = view_label(label, ph, flags);

	assert_int_equal(len, strlen(label));
	assert_string_equal(label, expected);
}

static void labels(void **state)
{
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);
	char label[VIEW_LABEL_MAX];

	(void)state;
	fake_label(ph, "", 0);
	assert_label(ph, 0, "\"\"");
	ph->label.flags = PP_LABEL_NULL;
	assert_label(ph, 0, "(null)");
	ph->label.flags = PP_LABEL_UNREADABLE;
	assert_label(ph, 0, "(unreadable)");
	fake_label(ph, "load:us", 7);
	assert_label(ph, 0, "load:us…(unreadable)");
	assert_label(ph, TEXT_ASCII, "load:us...(unreadable)");
	ph->label.flags = 0;
	fake_label(ph, "(startup)", 9);
	assert_label(ph, 0, "\"(startup)\"");
	fake_label(ph, "\"\"", 2);
	assert_label(ph, 0, "\"\"\"\"");
	fake_label(ph, "a\0b", 3);
	assert_label(ph, 0, "a\\x00b");
	ph->label.flags = PP_LABEL_CUT;
	ph->label.hash = 0x123456781a2b3c4d;
	ph->label.len = 3;
	memcpy(ph->label.bytes, "ab\xe6", 3);
	assert_label(ph, 0, "ab…#1a2b3c4d");
	assert_label(ph, TEXT_ASCII, "ab...#1a2b3c4d");
	/* The longest there can be: every byte becomes four, quoted and cut. */
	memset(ph->label.bytes, 0xff, PP_LABEL_MAX);
	ph->label.bytes[0] = '"';
	ph->label.len = PP_LABEL_MAX;
	assert_int_equal(view_label(label, ph, 0), 1 + 2 + 254 * 4 + strlen("…#1a2b3c4d"));
	/* A length that no decoder lets through is held to what there is. */
	ph->label.len = UINT16_MAX;
	assert_int_equal(view_label(label, ph, 0), 1 + 2 + 254 * 4 + strlen("…#1a2b3c4d"));
	free(f);
}

/* Any bytes as a label give one line, printable to its end. */
static void always_one_line(void **state)
{
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);
	char line[LINE_TEXT_MAX];
	uint32_t x = 12345, cp;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		ph->label.len = (uint16_t)(round % (PP_LABEL_MAX + 1));
		for (uint16_t i = 0; i < ph->label.len; i++) {
			x = x * 1664525 + 1013904223;
			ph->label.bytes[i] = (char)(x >> 24);
		}
		ph->label.flags = (uint16_t)(round & 7);
		size_t len = line_format(line, p, ph, round & 8 ? LINE_ASCII : 0);

		assert_int_equal(line[len - 1], '\n');
		for (size_t i = 0, n; i < len - 1; i += n) {
			n = text_utf8_next(line + i, len - 1 - i, &cp);
			assert_true(n > 0);
			assert_false(text_is_hidden(cp));
		}
		assert_non_null(strstr(line, " s)\n"));
	}
	free(f);
}

static void commands(void **state)
{
	struct process *p;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);
	char s[VIEW_COMMAND_MAX];

	(void)state;
	view_command(s, p, 0);
	assert_string_equal(s, "python3 etl.py");
	memset(p->args, '\x9b', PP_ARGS_MAX);
	p->args_len = PP_ARGS_MAX;
	view_command(s, p, 0);
	assert_int_equal(strlen(s), 4 * PP_ARGS_MAX + strlen("…"));
	p->args_len = 0;
	memcpy(p->comm, "a\033b", 4);
	view_command(s, p, 0);
	assert_string_equal(s, "[a\\x1bb]");
	free(f);
}

/* Ten a second of processes that did nothing of note; whatever is marked, killed or long is shown.
 */
static void small_processes(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	struct small s = {0};
	struct process *p;
	struct phase *ph;
	char text[SMALL_TEXT_MAX];

	(void)state;
	assert_non_null(f);
	fake_init(f);
	p = fake_process(f, 7, "true", 0, 5);
	ph = fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 5, 1, 1, 3);
	ph->ended_by = PH_BY_EXIT;
	for (int i = 0; i < 30; i++, ph->end_ns += FAKE_MS)
		assert_int_equal(small_folds(&s, p, ph), i >= SMALL_EACH_SECOND);
	assert_int_equal(s.folded, 20);
	small_format(&s, text);
	assert_string_equal(text, "20 more processes of less than a second without marks: "
				  "largest peak 3.0 MB");
	ph->ended_by = PH_BY_SIGNAL;
	assert_false(small_folds(&s, p, ph));
	ph->ended_by = PH_BY_MARK;
	assert_false(small_folds(&s, p, ph));
	ph->ended_by = PH_BY_EXEC;
	assert_true(small_folds(&s, p, ph));
	ph->end_ns = ph->start_ns + 1000 * FAKE_MS;
	assert_false(small_folds(&s, p, ph));
	/* The next second begins anew. */
	ph->start_ns = p->start_ns += 2000 * FAKE_MS;
	ph->end_ns = ph->start_ns + FAKE_MS;
	assert_false(small_folds(&s, p, ph));
	ph->kind = PH_AFTER;
	assert_false(small_folds(&s, p, ph));
	free(f);
}

static void the_answer(void **state)
{
	struct process *p, *child;
	struct phase *ph;
	struct fake *f = pipeline(&p, &ph);
	char text[BEST_TEXT_MAX];
	struct best b = {0};

	(void)state;
	child = fake_process(f, 4243, "work", 1000, 9000);
	best_process(&b, p);
	best_process(&b, child);
	best_phase(&b, p, ph);
	ph = fake_phase(f, PH_SPAN, "join", 2, 3, 1500, 2500, 10, 20, 300);
	ph->peak.at_ns = FAKE_T0 + 2000 * FAKE_MS;
	best_phase(&b, child, ph);
	best_format(&b, text, 0);
	/* From the first process on, as in reports. */
	assert_string_equal(text, "peak 300.0 MiB in [join]   pid 4243 python3   at +2.00 s");
	/* What was there when it began was not its doing. */
	b.phase.start_bytes = 299 * FAKE_MIB;
	best_format(&b, text, 0);
	assert_string_equal(
	    text,
	    "peak 300.0 MiB in [join]   pid 4243 python3   at +2.00 s, with 299.0 when that phase began");
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(small_processes), cmocka_unit_test(as_people_print_it),
	    cmocka_unit_test(how_it_ended),    cmocka_unit_test(how_sure_it_is),
	    cmocka_unit_test(labels),	       cmocka_unit_test(always_one_line),
	    cmocka_unit_test(commands),	       cmocka_unit_test(the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
