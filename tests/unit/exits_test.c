/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where functions end: of functions in assembly, as compilers make them, which this program finds
 * in its own file. Labels without a type say where the exits have to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolve/exits.h"
#include "resolve/functions.h"

#if defined(__x86_64__)

#define BEGIN(name) ".text\n.type " #name ", @function\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n"

__asm__(BEGIN(t_plain) "endbr64\n"
		       "nopl 0(%rax,%rax,1)\n"
		       "plain_entry: push %rbx\n"
		       "test %edi, %edi\n"
		       "je 1f\n"
		       "pop %rbx\n"
		       "plain_ret1: ret\n"
		       "1: pop %rbx\n"
		       "plain_ret2: rep ret\n" END(t_plain));

/* The end of a loop goes back to the beginning. */
__asm__(BEGIN(t_loop) "loop_entry: dec %edi\n"
		      "jg t_loop\n"
		      "loop_ret: ret\n" END(t_loop));

/* Ends in another function, of which a part lies elsewhere. */
__asm__(BEGIN(t_cold) "nop\n"
		      "jmp 2f\n" END(t_cold)

			  BEGIN(t_callee) "cmp $1, %edi\n"
					  "ja t_cold\n"
					  "2: nop\n"
					  "callee_ret: ret\n" END(t_callee)

					      BEGIN(t_tail) "tail_entry: mov $3, %edi\n"
							    "jmp t_callee\n" END(t_tail));

/* The jump of a switch stays within; its cases end where they end. */
__asm__(BEGIN(t_switch) "cmp $1, %edi\n"
			"ja 3f\n"
			"lea 4f(%rip), %rdx\n"
			"mov %edi, %edi\n"
			"movslq (%rdx,%rdi,4), %rax\n"
			"add %rdx, %rax\n"
			"jmp *%rax\n"
			"5: mov $7, %eax\n"
			"switch_ret1: ret\n"
			"6: mov $8, %eax\n"
			"switch_ret2: ret\n"
			"3: xor %eax, %eax\n"
			"switch_ret3: ret\n" END(t_switch) ".section .rodata\n"
							   ".balign 4\n"
							   "4: .long 5b - 4b, 6b - 4b\n"
							   ".text\n");

/* By a pointer, which nobody knows; of an object's table; by a variable that may change. */
__asm__(BEGIN(t_pointer) "pointer_jmp: jmp *%rax\n" END(t_pointer)

	    BEGIN(t_virtual) "mov (%rdi), %rax\n"
			     "virtual_jmp: jmp *16(%rax)\n" END(t_virtual)

				 BEGIN(t_variable) "variable_jmp: jmp *variable(%rip)\n" END(
				     t_variable) ".data\n"
						 ".balign 8\n"
						 "variable: .quad t_callee\n"
						 ".text\n");

/* Functions of the C library: such as throw nothing, and another one. */
__asm__(BEGIN(t_free) "free_jmp: jmp free@plt\n" END(t_free)

	    BEGIN(t_free_got) "free_got_jmp: jmp *free@GOTPCREL(%rip)\n" END(t_free_got)

		BEGIN(t_puts) "puts_jmp: jmp puts@plt\n" END(t_puts)

		    BEGIN(t_maybe) "test %edi, %edi\n"
				   "je puts@plt\n"
				   "maybe_ret: ret\n" END(t_maybe));

/* Never returns; is no code. */
__asm__(BEGIN(t_abort) "call abort@plt\n"
		       "ud2\n" END(t_abort)

			   BEGIN(t_data) ".byte 0x06, 0x07, 0x0e\n"
					 "ret\n" END(t_data));

#define PLACE(name) extern const char name[] __attribute__((visibility("hidden")))
PLACE(t_plain);
PLACE(plain_entry);
PLACE(plain_ret1);
PLACE(plain_ret2);
PLACE(loop_entry);
PLACE(loop_ret);
PLACE(callee_ret);
PLACE(tail_entry);
PLACE(switch_ret1);
PLACE(switch_ret2);
PLACE(switch_ret3);
PLACE(pointer_jmp);
PLACE(virtual_jmp);
PLACE(variable_jmp);
PLACE(free_jmp);
PLACE(free_got_jmp);
PLACE(puts_jmp);
PLACE(maybe_ret);

struct fixture {
	int fd;
	struct functions *f;
	uintptr_t base; /* where the file's address 0 lies */
	struct exits e;
};

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(functions_open(&x->f, x->fd), 0);
	x->base = (uintptr_t)t_plain - functions_named(x->f, "t_plain")->at;
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	functions_free(&x->f);
	assert_null(x->f);
	close(x->fd);
	free(x);
	return 0;
}

static int find(struct fixture *x, const char *name)
{
	const struct function *fn = functions_named(x->f, name);

	assert_non_null(fn);
	return exits_find(x->f, fn, &x->e);
}

static void has(const struct fixture *x, enum exit_kind kind, const char *place)
{
	for (unsigned int i = 0; i < x->e.n; i++)
		if (x->e.site[i].at == (uintptr_t)place - x->base) {
			assert_int_equal(x->e.site[i].kind, kind);
			return;
		}
	fail_msg("no exit at %p", (const void *)place);
}

static void begins(const struct fixture *x, const char *place)
{
	assert_int_equal(x->e.entry, (uintptr_t)place - x->base);
}

static void test_returns(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_plain"), 0);
	begins(x, plain_entry);
	assert_int_equal(x->e.n, 2);
	has(x, EXIT_RETURN, plain_ret1);
	has(x, EXIT_RETURN, plain_ret2);
	assert_false(x->e.again || x->e.tails || x->e.unknown);
}

static void test_loop_to_the_beginning(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_loop"), 0);
	begins(x, loop_entry);
	assert_true(x->e.again);
	assert_int_equal(x->e.n, 1);
	has(x, EXIT_RETURN, loop_ret);
}

static void test_tail_call(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_tail"), 0);
	begins(x, tail_entry);
	assert_true(x->e.tails && !x->e.again);
	assert_int_equal(x->e.n, 1);
	has(x, EXIT_RETURN, callee_ret);
	assert_int_equal(find(x, "t_callee"), 0);
	assert_int_equal(x->e.n, 1);
	assert_int_equal(x->e.unknown, 0);
}

static void test_switch(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_switch"), 0);
	assert_int_equal(x->e.n, 3);
	has(x, EXIT_RETURN, switch_ret1);
	has(x, EXIT_RETURN, switch_ret2);
	has(x, EXIT_RETURN, switch_ret3);
	assert_int_equal(x->e.unknown, 0);
}

static void test_jumps_to_who_knows(void **state)
{
	static const struct {
		const char *name, *place;
	} jump[] = {{"t_pointer", pointer_jmp},
		    {"t_virtual", virtual_jmp},
		    {"t_variable", variable_jmp},
		    {"t_puts", puts_jmp}};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(jump) / sizeof(jump[0]); i++) {
		assert_int_equal(find(x, jump[i].name), 0);
		assert_int_equal(x->e.n, 1);
		has(x, EXIT_JUMP, jump[i].place);
		assert_int_equal(x->e.unknown, 1);
		assert_true(x->e.tails);
	}
	/* A probe on a conditional jump would be hit also where it does not jump. */
	assert_int_equal(find(x, "t_maybe"), 0);
	assert_int_equal(x->e.n, 1);
	has(x, EXIT_RETURN, maybe_ret);
	assert_int_equal(x->e.unknown, 1);
}

static void test_library(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_free"), 0);
	assert_int_equal(x->e.n, 1);
	has(x, EXIT_LIBRARY, free_jmp);
	assert_int_equal(find(x, "t_free_got"), 0);
	assert_int_equal(x->e.n, 1);
	has(x, EXIT_LIBRARY, free_got_jmp);
	assert_int_equal(x->e.unknown, 0);
}

static void test_no_end_and_no_code(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(find(x, "t_abort"), 0);
	assert_int_equal(x->e.n, 0);
	assert_int_equal(find(x, "t_data"), -EILSEQ);
}

static void test_list(void **state)
{
	struct fixture *x = *state;
	const struct function *fn, *at;
	size_t n;

	fn = functions_list(x->f, &n);
	assert_true(n > 15);
	for (size_t i = 1; i < n; i++)
		assert_true(fn[i - 1].at <= fn[i].at);
	at = functions_at(x->f, (uintptr_t)plain_ret2 - x->base);
	assert_non_null(at);
	assert_string_equal(at->name, "t_plain");
	/* Labels are no functions. */
	assert_null(functions_named(x->f, "plain_ret2"));
	assert_null(functions_at(x->f, UINT64_MAX));
	assert_false(functions_is_go(x->f, at->at));
	assert_true(functions_x86_64(x->f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_returns, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_loop_to_the_beginning, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_tail_call, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_switch, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_jumps_to_who_knows, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_library, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_end_and_no_code, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0; /* where functions end is known of x86-64 alone */
}

#endif
