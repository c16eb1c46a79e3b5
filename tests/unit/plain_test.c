/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text without a terminal's control sequences, and the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/plain.h"

#define LINK "\033]8;id=1;file:///a.py\033\\"
#define UNLINK "\033]8;;\033\\"

static void sequences_go_and_text_stays(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
	    {"", ""},
	    {"plain [31m", "plain [31m"},
	    {"\033[31mred\033[0m", "red"},
	    {"load:\033[38;5;208mcompanies\033[0m.", "load:companies."},
	    {"\033[1;35;48:2::1:2:3mx\033[m", "x"},
	    {"\033[2K\033[1Gx\033[?25l\033[0 q", "x"},
	    {LINK "a.py" UNLINK ":" LINK "12" UNLINK, "a.py:12"},
	    {"\033]0;title\ax", "x"},
	    {"\033P1$r\033\\x\033_y\033\\", "x"},
	    {"\033(B\033[mx\0337\0338\033=\033M", "x"},
	    {"\xc3\xa9\033[0m\xff", "\xc3\xa9\xff"},
	    /* No end, or not before the line's. */
	    {"x\033", "x\033"},
	    {"x\033[", "x\033["},
	    {"x\033[31", "x\033[31"},
	    {"x\033]8;;y", "x\033]8;;y"},
	    {"x\033]8;;\ny\a", "x\033]8;;\ny\a"},
	    {"x\033]8;;\033[0my", "x\033]8;;y"},
	    {"x\033(", "x\033("},
	    /* No sequence. */
	    {"x\033\xff\033\ny\033\033[0mz", "x\033\xff\033\ny\033z"},
	    {"\033[3\x01m", "\033[3\x01m"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = strlen(cases[i].text), len;
		/* Neither reads behind the end nor writes behind it. */
		char *text = malloc(n + 1), *out = malloc(n + 1);

		memcpy(text, cases[i].text, n);
		len = plain_copy(out, text, n);
		out[len] = '\0';
		assert_string_equal(out, cases[i].plain);
		/* The end of each byte is behind that very byte. */
		for (size_t k = 1; k <= len; k++) {
			size_t end = plain_end(text, n, k);

			assert_true(end >= k && end <= n);
			assert_int_equal(text[end - 1], out[k - 1]);
			assert_true(end > plain_end(text, n, k - 1));
		}
		assert_int_equal(plain_end(text, n, 0), 0);
		free(text);
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sequences_go_and_text_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
