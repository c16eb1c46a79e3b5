/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session_iter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

int session_iter(struct bpf_program *prog, pid_t tid)
{
	union bpf_iter_link_info info = {.task.tid = (uint32_t)tid};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(prog, tid ? &opts : NULL);
	char buf[64];
	int fd, err = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		ssize_t n;

		/* To its end. */
		do {
			n = read(fd, buf, sizeof(buf));
		} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
		if (n < 0)
			err = -errno;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}
