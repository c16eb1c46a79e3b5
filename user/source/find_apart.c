/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/find_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/proc.h"

#define LEFT_MAX 2	/* words that are waited for in vain */
#define LATE_MAX 10	/* times the patience for one that computes all the time */
#define LIST_MAX 65536u /* as many as a process can map */

/* From the process that searches. */
struct message {
	uint32_t step;
	char path[PATH_MAX]; /* "": the step begins */
};

#define MESSAGE_MIN (offsetof(struct message, path) + 1)

struct searching {
	uint32_t step;
	int fd;
};

static int tell(const struct searching *s, const char *path)
{
	struct message m = {.step = s->step};
	size_t len = strnlen(path, sizeof(m.path) - 1);

	memcpy(m.path, path, len);
	return send(s->fd, &m, MESSAGE_MIN + len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void on_step(void *ctx, unsigned int step)
{
	struct searching *s = ctx;

	s->step = step;
	tell(s, "");
}

static int on_found(void *ctx, const char *path)
{
	return tell(ctx, path);
}

/* Nothing that somebody may wait for stays open here, nor the gate of the command. */
static void __attribute__((noreturn)) search_for(int fd, find_command_fn search, char *const *argv,
						 const struct find_env *env, unsigned int first)
{
	const struct find_steps steps = {first, on_step};
	struct searching s = {first, STDIN_FILENO};

	if (dup2(fd, s.fd) < 0)
		_exit(1);
	close_range(STDIN_FILENO + 1, ~0u, 0);
	open("/dev/null", O_RDWR);
	open("/dev/null", O_RDWR);
	_exit(search(argv, env, &steps, on_found, &s) ? 1 : 0);
}

static int append(struct find_list *list, const char *path)
{
	char **more, *copy;

	if (list->n >= LIST_MAX)
		return 0;
	more = reallocarray(list->path, list->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	list->path = more;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	list->path[list->n++] = copy;
	return 0;
}

static int append_found(void *ctx, const char *path)
{
	return append(ctx, path);
}

void find_list_free(struct find_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->path[i]);
	free(list->path);
	*list = (struct find_list){0};
}

/* Does it wait for something? On a busy machine it may only not have come to run. */
static bool waits(pid_t pid)
{
	struct proc_stat st;

	return proc_stat("/proc", pid, &st) || st.state != 'R';
}

/* 0: all has been told; -ETIMEDOUT; -ENOMEM. */
static int listen_to(int fd, pid_t pid, struct find_list *list, unsigned int *step, int patience_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct message m;
	int err = 0, n, late = 0;

	while (!err) {
		n = poll(&p, 1, patience_ms);
		if (!n && ++late < LATE_MAX && !waits(pid))
			continue;
		if (!n)
			return -ETIMEDOUT;
		if (n < 0 || recv(fd, &m, sizeof(m), 0) < (ssize_t)MESSAGE_MIN)
			return 0;
		*step = m.step;
		late = 0;
		err = *m.path ? append(list, m.path) : 0;
	}
	return err;
}

/* One that waits for a file system stays, until it is answered. */
static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	for (int i = 0; i < 10 && !waitpid(pid, NULL, WNOHANG); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* As listen_to(); -EIO: it failed. Where no process can be made we look ourselves: better than not
 * at all. */
static int search_apart(struct find_list *list, find_command_fn search, char *const *argv,
			const struct find_env *env, unsigned int *step, int patience_ms)
{
	int ends[2] = {-1, -1}, status = 0, err;
	pid_t pid = -1;

	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		pid = fork();
	if (!pid)
		search_for(ends[1], search, argv, env, *step);
	close(ends[1]);
	if (pid > 0) {
		err = listen_to(ends[0], pid, list, step, patience_ms);
		if (err)
			end(pid);
		else
			waitpid(pid, &status, 0);
		err = !err && status ? -EIO : err;
	} else {
		err = search(argv, env, NULL, append_found, list);
	}
	close(ends[0]);
	return err;
}

static void say_left(char *const *argv, unsigned int step, bool rest, int err)
{
	char shown[PATH_MAX];

	if (step < FIND_PLACES)
		text_escape(shown, sizeof(shown), argv[step], strlen(argv[step]));
	else
		strcpy(shown, "where Python packages are");
	say_warning("%s was not looked at for markers%s: %s", shown,
		    rest ? ", nor the arguments after it" : "",
		    err == -ETIMEDOUT ? "its file system does not answer" : "looking at it failed");
}

int find_apart(struct find_list *list, find_command_fn search, char *const *argv,
	       const struct find_env *env, int patience_ms)
{
	unsigned int step = 0, left = 0;
	int err;

	*list = (struct find_list){0};
	for (;;) {
		err = search_apart(list, search, argv, env, &step, patience_ms);
		if (!err || err == -ENOMEM)
			break;
		left++;
		say_left(argv, step, left == LEFT_MAX && step < FIND_PLACES && argv[step + 1], err);
		if (step >= FIND_PLACES || left > LEFT_MAX)
			return 0;
		step = left < LEFT_MAX ? step + 1 : FIND_PLACES;
	}
	if (err)
		find_list_free(list);
	return err;
}
