/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Searches that hang, fail or die in the process made for them: what is found all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "source/find_apart.h"

#define PATIENCE_MS 300

static const struct find_env no_env;

/* Each word tells what becomes of it; else it is found as it is. */
static void do_word(const char *word)
{
	if (!strcmp(word, "hang"))
		for (;;)
			pause();
	if (!strcmp(word, "die"))
		abort();
	if (!strcmp(word, "fail"))
		_exit(1);
	if (!strcmp(word, "slow"))
		usleep(PATIENCE_MS * 1000 / 3);
	if (!strcmp(word, "busy")) /* never asleep: not taken for one that hangs */
		for (uint64_t began = clock_mono_ns();
		     clock_mono_ns() - began < 2000000ull * PATIENCE_MS;)
			;
}

static int search(char *const *argv, const struct find_env *env, const struct find_steps *steps,
		  find_fn fn, void *ctx)
{
	int err = 0;

	assert_ptr_equal(env, &no_env);
	for (unsigned i = 0; !err && i < FIND_WORDS_MAX && argv[i]; i++) {
		if (i < steps->first)
			continue;
		steps->begin(ctx, i);
		do_word(argv[i]);
		err = fn(ctx, argv[i]);
	}
	steps->begin(ctx, FIND_PLACES);
	if (getenv("PLACES"))
		do_word(getenv("PLACES"));
	return err ? err : fn(ctx, "places");
}

/* What is found for the words of `command`, with a space behind each; the time that it took. */
static uint64_t found(char text[static 512], const char *command)
{
	char words[512], *argv[64];
	struct find_list list;
	uint64_t began = clock_mono_ns(), took;
	size_t n = 0;

	strcpy(words, command);
	for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	argv[n] = NULL;
	assert_int_equal(find_apart(&list, search, argv, &no_env, PATIENCE_MS), 0);
	took = clock_mono_ns() - began;
	*text = '\0';
	for (size_t i = 0; i < list.n; i++)
		strcat(strcat(text, list.path[i]), " ");
	find_list_free(&list);
	assert_int_equal(list.n, 0);
	return took / 1000000;
}

static void all_is_found_in_order(void **state)
{
	char text[512];

	(void)state;
	found(text, "a b c");
	assert_string_equal(text, "a b c places ");
	found(text, "");
	assert_string_equal(text, "places ");
}

/* Together longer than the patience for one. */
static void each_word_has_its_own_time(void **state)
{
	char text[512];

	(void)state;
	assert_true(found(text, "slow slow slow slow slow") >= PATIENCE_MS * 5 / 3);
	assert_string_equal(text, "slow slow slow slow slow places ");
	assert_true(found(text, "busy") >= 2 * PATIENCE_MS);
	assert_string_equal(text, "busy places ");
}

static void what_hangs_is_left(void **state)
{
	char text[512];

	(void)state;
	assert_true(found(text, "a hang b") >= PATIENCE_MS);
	assert_string_equal(text, "a b places ");
	found(text, "hang");
	assert_string_equal(text, "places ");
}

static void not_waited_for_again_and_again(void **state)
{
	char text[512];

	(void)state;
	assert_true(found(text, "a hang b hang c hang hang d") >= 2 * PATIENCE_MS);
	assert_string_equal(text, "a b places ");
	setenv("PLACES", "hang", 1);
	found(text, "a b");
	unsetenv("PLACES");
	assert_string_equal(text, "a b ");
}

static void death_is_no_reason_to_stop(void **state)
{
	char text[512];

	(void)state;
	found(text, "a die b");
	assert_string_equal(text, "a b places ");
	found(text, "a fail b");
	assert_string_equal(text, "a b places ");
}

/* More than any socket holds, and names as long as there are. */
static int search_much(char *const *argv, const struct find_env *env,
		       const struct find_steps *steps, find_fn fn, void *ctx)
{
	char path[PATH_MAX];
	int err = 0;

	(void)argv, (void)env;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	steps->begin(ctx, 0);
	for (int i = 0; !err && i < 1000; i++) {
		memcpy(path, (char[]){(char)('a' + i % 26)}, 1);
		err = fn(ctx, path);
	}
	return err;
}

static void any_number(void **state)
{
	struct find_list list;

	(void)state;
	assert_int_equal(
	    find_apart(&list, search_much, (char *[]){"x", NULL}, &no_env, 10 * PATIENCE_MS), 0);
	assert_int_equal(list.n, 1000);
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(strlen(list.path[i]), PATH_MAX - 1);
		assert_int_equal(*list.path[i], 'a' + i % 26);
	}
	find_list_free(&list);
}

/* A process that waits must not keep a pipe's reader waiting, nor what waits at a gate. */
static int search_holding(char *const *argv, const struct find_env *env,
			  const struct find_steps *steps, find_fn fn, void *ctx)
{
	(void)fn, (void)env;
	if (steps->first)
		return 0;
	steps->begin(ctx, 0);
	if (write(atoi(argv[0]), "x", 1) != 1 && errno == EBADF)
		for (;;)
			pause();
	return 0;
}

static void holds_nothing_open(void **state)
{
	char number[16], byte;
	struct find_list list;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(number, sizeof(number), "%d", ends[1]);
	assert_int_equal(
	    find_apart(&list, search_holding, (char *[]){number, NULL}, &no_env, PATIENCE_MS), 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	find_list_free(&list);
}

static void the_real_search(void **state)
{
	char *const argv[] = {"sh", "-c", "true", NULL};
	struct find_env env;
	struct find_list list;
	bool libc = false;

	(void)state;
	find_env_get(&env);
	assert_int_equal(find_apart(&list, find_for_command, argv, &env, 100 * PATIENCE_MS), 0);
	for (size_t i = 0; i < list.n; i++)
		libc |= strstr(list.path[i], "/libc.so") != NULL;
	assert_true(libc);
	find_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_is_found_in_order),
	    cmocka_unit_test(each_word_has_its_own_time),
	    cmocka_unit_test(what_hangs_is_left),
	    cmocka_unit_test(not_waited_for_again_and_again),
	    cmocka_unit_test(death_is_no_reason_to_stop),
	    cmocka_unit_test(any_number),
	    cmocka_unit_test(holds_nothing_open),
	    cmocka_unit_test(the_real_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
