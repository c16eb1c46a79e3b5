/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server on the loopback that answers what it is told to, one request a connection, and keeps
 * what it was asked. */
#ifndef PEAKPHASE_TESTS_LOOPBACK_H
#define PEAKPHASE_TESTS_LOOPBACK_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK_MAX 8

struct loopback {
	const char *answers[LOOPBACK_MAX]; /* "200 OK\r\nHeader: x\r\n\r\nbody"; NULL: hang up */
	char requests[LOOPBACK_MAX][16384];
	int n; /* requests that came */
	int count, fd, port;
	pthread_t thread;
};

/* All of it: up to the end of the headers, and as much as Content-Length says. */
static inline void loopback_read(int fd, char *buf, size_t cap)
{
	size_t len = 0, want = 0;
	char *end = NULL, *length;
	ssize_t n;

	while (len + 1 < cap && (n = read(fd, buf + len, cap - 1 - len)) > 0) {
		len += (size_t)n;
		buf[len] = '\0';
		end = end ? end : strstr(buf, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(buf, "\r\nContent-Length:");
		want = (size_t)(end - buf) + 4 + (length ? strtoul(length + 17, NULL, 10) : 0);
		if (len >= want)
			return;
	}
	buf[len] = '\0';
}

static inline void *loopback_serve(void *arg)
{
	struct loopback *l = arg;

	for (int i = 0; i < l->count; i++) {
		int fd = accept(l->fd, NULL, NULL);
		const char *body;

		if (fd < 0)
			return NULL;
		loopback_read(fd, l->requests[i], sizeof(l->requests[i]));
		l->n = i + 1;
		if (l->answers[i]) {
			body = strstr(l->answers[i], "\r\n\r\n");
			dprintf(fd, "HTTP/1.1 %.*s\r\nConnection: close\r\nContent-Length: %zu%s",
				(int)(body - l->answers[i]), l->answers[i], strlen(body + 4), body);
		}
		close(fd);
	}
	return NULL;
}

static inline void loopback_start(struct loopback *l)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	while (l->count < LOOPBACK_MAX && l->answers[l->count])
		l->count++;
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(l->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(l->fd, 8), 0);
	assert_int_equal(getsockname(l->fd, (struct sockaddr *)&at, &len), 0);
	l->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&l->thread, NULL, loopback_serve, l), 0);
}

static inline void loopback_stop(struct loopback *l)
{
	shutdown(l->fd, SHUT_RDWR);
	pthread_join(l->thread, NULL);
	close(l->fd);
}

/* The value of a header of a request, up to the end of its line; "": it has none. */
static inline const char *loopback_header(const struct loopback *l, int i, const char *name,
					  char out[static 2048])
{
	char want[64];
	const char *at;

	snprintf(want, sizeof(want), "\r\n%s: ", name);
	at = strcasestr(l->requests[i], want);
	at = at ? at + strlen(want) : "\r";
	snprintf(out, 2048, "%.*s", (int)strcspn(at, "\r"), at);
	return out;
}

#endif
