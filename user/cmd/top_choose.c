/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top without a target: what there is to look at, to choose from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attach_list.h"
#include "cmd/top.h"
#include "lib/say.h"
#include "lib/text.h"
#include "view/top/choose.h"

#define CHOICES_MAX 1000

struct choices {
	char *text[CHOICES_MAX], *container[CHOICES_MAX];
	pid_t pid[CHOICES_MAX];
	size_t n;
};

static int add(void *ctx, const struct attach_choice *a)
{
	struct choices *c = ctx;

	if (c->n == CHOICES_MAX)
		return 0;
	c->text[c->n] = strdup(a->text);
	c->container[c->n] = a->container ? strdup(a->container) : NULL;
	c->pid[c->n] = a->pid;
	if (!c->text[c->n] || (a->container && !c->container[c->n]))
		return -ENOMEM;
	c->n++;
	return 0;
}

/* The chosen container's id lives as long as the options do: the whole run. */
static void take(struct trace_options *opt, struct choices *c, size_t i)
{
	if (c->container[i]) {
		opt->named[opt->nnamed++] = (struct trace_named){TARGET_CONTAINER, c->container[i]};
		c->container[i] = NULL;
	} else {
		opt->pid[opt->npids++] = c->pid[i];
	}
}

static int ask(struct trace_options *opt, struct choices *c)
{
	struct signals sig;
	int err = signals_open(&sig), i;

	if (err)
		return err;
	i = choose("peakphase top: containers, and processes that have markers",
		   (const char *const *)c->text, c->n, opt->ascii || !text_utf8_locale(), sig.fd);
	signals_close(&sig);
	if (i >= 0)
		take(opt, c, (size_t)i);
	return i < 0 ? i : 0;
}

int top_choose(struct trace_options *opt)
{
	struct choices *c;
	int err = screen_check();

	if (err)
		return err;
	c = calloc(1, sizeof(*c));
	err = c ? attach_each_choice(add, c) : -ENOMEM;
	if (!err && !c->n) {
		say_error("nothing to choose from: no container runs, no process has markers");
		say_remedy("give -p PID, a command or a recording: peakphase top --help");
		err = -ENOENT;
	} else if (err) {
		say_error("cannot list what there is: %s", strerror(-err));
	} else {
		err = ask(opt, c);
	}
	for (size_t i = 0; c && i < CHOICES_MAX; i++) {
		free(c->text[i]);
		free(c->container[i]);
	}
	free(c);
	return err;
}
