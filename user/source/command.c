/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/say.h"
#include "source/command_fail.h"
#include "source/signals.h"

/* Where the child failed, with its errno: what it sends when it could not become the command. */
struct failure {
	int step, error;
};

/* Whom it runs as; resolved before the fork, since the child must not read databases. */
struct account {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int ngroups;
	bool privileged; /* we may change our groups */
	char *name, *home, *shell;
};

struct command {
	pid_t pid;
	int pidfd;
	int gate;    /* written once to let the child go; closed: it ends */
	int failure; /* the child's failure, or end of file once it is executed */
	bool reaped;
	int status;
	unsigned int interrupts;
	struct signals signals;
	char *const *argv;
	const char *user;
};

void command_inherit_save(struct command_inherit *in)
{
	memset(in, 0, sizeof(*in));
	pthread_sigmask(SIG_SETMASK, NULL, &in->mask);
	for (int s = 1; s <= 64; s++) {
		struct sigaction sa;

		if (!sigaction(s, NULL, &sa) && sa.sa_handler == SIG_IGN)
			in->ignored |= 1ull << (s - 1);
	}
	getrlimit(RLIMIT_NOFILE, &in->files);
	getrlimit(RLIMIT_MEMLOCK, &in->memlock);
}

/* Handlers fall to the default by themselves at exec; what is ignored does not. */
void command_inherit_restore(const struct command_inherit *in)
{
	for (int s = 1; s <= 64; s++) {
		bool ignored = in->ignored >> (s - 1) & 1;
		struct sigaction sa;

		if (sigaction(s, NULL, &sa) || (sa.sa_handler == SIG_IGN) == ignored)
			continue;
		sa.sa_handler = ignored ? SIG_IGN : SIG_DFL;
		sa.sa_flags = 0;
		sigaction(s, &sa, NULL);
	}
	setrlimit(RLIMIT_NOFILE, &in->files);
	setrlimit(RLIMIT_MEMLOCK, &in->memlock);
	pthread_sigmask(SIG_SETMASK, &in->mask, NULL);
}

static void account_free(struct account *a)
{
	free(a->groups);
	free(a->name);
	free(a->home);
	free(a->shell);
}

static int account_groups(struct account *a)
{
	int n = 32, err = -ENOMEM;

	for (int tries = 0; tries < 3; tries++) {
		gid_t *more = reallocarray(a->groups, (size_t)n, sizeof(gid_t));

		if (!more)
			return -ENOMEM;
		a->groups = more;
		a->ngroups = n;
		if (getgrouplist(a->name, a->gid, a->groups, &a->ngroups) >= 0)
			return 0;
		n = a->ngroups;
		err = -E2BIG;
	}
	return err;
}

static int account_find(struct account *a, const char *user)
{
	struct passwd *pw = getpwnam(user);
	char *end;
	unsigned long uid = strtoul(user, &end, 10);

	if (!pw && *user >= '0' && *user <= '9' && !*end && uid < (uid_t)-1)
		pw = getpwuid((uid_t)uid);
	if (!pw)
		return -EINVAL;
	a->uid = pw->pw_uid;
	a->gid = pw->pw_gid;
	a->name = strdup(pw->pw_name);
	a->home = strdup(pw->pw_dir);
	a->shell = strdup(*pw->pw_shell ? pw->pw_shell : "/bin/sh");
	if (!a->name || !a->home || !a->shell)
		return -ENOMEM;
	return account_groups(a);
}

static int account_resolve(struct account *a, const char *user)
{
	int err = account_find(a, user);

	if (err == -EINVAL) {
		command_say_user(user, "there is no such user");
		say_remedy("give a name or a number that `getent passwd` knows");
		return err;
	}
	if (err) {
		command_say_user(user, strerror(-err));
		return err;
	}
	/* Without the right to change groups one can still "become" oneself. */
	a->privileged = geteuid() == 0;
	if (!a->privileged && (a->uid != getuid() || a->uid != geteuid())) {
		command_say_user(user, "only root may run a command as another user");
		say_remedy("use sudo, or leave -u away");
		return -EPERM;
	}
	return 0;
}

/* Returns the step that failed, with errno. The order is that of su(1): groups while still root. */
static int account_become(const struct account *a)
{
	if (a->privileged && setgroups((size_t)a->ngroups, a->groups))
		return COMMAND_STEP_GROUPS;
	if (a->privileged &&
	    (setresgid(a->gid, a->gid, a->gid) || setresuid(a->uid, a->uid, a->uid)))
		return COMMAND_STEP_USER;
	/* As runuser(1) and su(1) without a login: the rest of the environment stays. */
	if (setenv("HOME", a->home, 1) || setenv("USER", a->name, 1) ||
	    setenv("LOGNAME", a->name, 1) || setenv("SHELL", a->shell, 1))
		return COMMAND_STEP_USER;
	return 0;
}

static void __attribute__((noreturn))
child_main(int gate, int failure, const struct command_options *opts,
	   const struct command_inherit *in, const struct account *a)
{
	struct failure f = {COMMAND_STEP_EXEC, 0};
	ssize_t n;
	char go;

	do {
		n = read(gate, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1) /* the tracer is gone, or has given up */
		_exit(COMMAND_NOT_FOUND);
	for (int i = 0; opts->stdio && i < 3; i++)
		if (opts->stdio[i] != i)
			dup2(opts->stdio[i], i);
	if (a)
		f.step = account_become(a);
	if (!a || !f.step) {
		f.step = COMMAND_STEP_EXEC;
		command_inherit_restore(in);
		execvp(opts->argv[0], opts->argv);
	}
	f.error = errno;
	/* Smaller than PIPE_BUF: whole or not at all. */
	n = write(failure, &f, sizeof(f));
	_exit(n == (ssize_t)sizeof(f) ? COMMAND_NOT_FOUND : COMMAND_NOT_RUNNABLE);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int command_spawn(struct command **out, const struct command_options *opts)
{
	struct command *c = calloc(1, sizeof(*c));
	int gate[2] = {-1, -1}, failure[2] = {-1, -1}, err;
	struct command_inherit now;
	struct account a = {0};

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->pid = c->pidfd = c->gate = c->failure = c->signals.fd = -1;
	c->argv = opts->argv;
	c->user = opts->user;
	if (opts->user) {
		err = account_resolve(&a, opts->user);
		if (err)
			goto out;
	}
	if (!opts->inherit)
		command_inherit_save(&now);
	err = 0;
	/* A socket for the gate: writing to a child that was killed at it must not be a SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) || pipe2(failure, O_CLOEXEC))
		err = -errno;
	if (err)
		goto said;
	c->pid = fork();
	if (!c->pid) {
		/* Its own copy of the writing end would keep the gate open for ever. */
		close(gate[1]);
		close(failure[0]);
		child_main(gate[0], failure[1], opts, opts->inherit ? opts->inherit : &now,
			   opts->user ? &a : NULL);
	}
	if (c->pid < 0) {
		err = -errno;
		goto said;
	}
	c->gate = gate[1];
	c->failure = failure[0];
	gate[1] = failure[0] = -1;
	/* A raw call: wrappers came with glibc 2.36. It sets close-on-exec by itself. */
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	err = c->pidfd < 0 ? -errno : 0;
said:
	if (err)
		say_error("cannot start a process for the command: %s", strerror(-err));
out:
	close_fd(&gate[0]);
	close_fd(&gate[1]);
	close_fd(&failure[0]);
	close_fd(&failure[1]);
	account_free(&a);
	if (err)
		command_free(&c);
	*out = c;
	return err;
}

int command_start(struct command *c, int *status)
{
	struct failure f = {0};
	ssize_t n;
	int err, ignored;

	/* The child may have been killed at the gate: that is its end, not an error of ours. */
	do {
		n = send(c->gate, "g", 1, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	close_fd(&c->gate);
	do {
		n = read(c->failure, &f, sizeof(f));
	} while (n < 0 && errno == EINTR);
	close_fd(&c->failure);
	if (n != (ssize_t)sizeof(f))
		return 0; /* close-on-exec closed it */
	err = f.error ? -f.error : -EIO;
	*status = command_say_failure(c->argv[0], c->user, f.step, f.error);
	command_reap(c, &ignored);
	return err;
}

pid_t command_pid(const struct command *c)
{
	return c->pid;
}

int command_pidfd(const struct command *c)
{
	return c->pidfd;
}

int command_reap(struct command *c, int *status)
{
	pid_t pid;

	if (c->reaped)
		return -ECHILD;
	do {
		pid = waitpid(c->pid, &c->status, 0);
	} while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return -errno;
	c->reaped = true;
	*status = c->status;
	return 0;
}

int command_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_signal_setup(struct command *c)
{
	return signals_open(&c->signals);
}

int command_signal_fd(const struct command *c)
{
	return c->signals.fd;
}

/* By pidfd: the pid may have been reaped and given to someone else. */
static void forward(struct command *c, int signo)
{
	if (!c->reaped)
		syscall(SYS_pidfd_send_signal, c->pidfd, signo, NULL, 0);
}

/* The terminal signals its whole foreground group: is the command (still) in ours? */
static bool reached_it(const struct command *c, const struct signalfd_siginfo *si)
{
	return si->ssi_code == SI_KERNEL && getpgid(c->pid) == getpgrp();
}

int command_handle_signals(struct command *c)
{
	struct signalfd_siginfo si;
	int n, seen = 0;

	while ((n = signals_next(&c->signals, &si)) > 0) {
		int signo = (int)si.ssi_signo;

		seen++;
		if (signo == SIGINT && ++c->interrupts > 1)
			forward(c, SIGKILL);
		else if (!reached_it(c, &si))
			forward(c, signo);
	}
	return n < 0 ? n : seen;
}

void command_free(struct command **cp)
{
	struct command *c = *cp;
	bool at_gate;

	*cp = NULL;
	if (!c)
		return;
	at_gate = c->gate >= 0;
	close_fd(&c->gate);
	if (at_gate && !c->reaped)
		waitpid(c->pid, NULL, 0);
	close_fd(&c->failure);
	close_fd(&c->pidfd);
	signals_close(&c->signals);
	free(c);
}
