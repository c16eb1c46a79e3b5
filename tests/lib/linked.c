/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* linked GO: marks through the shared library, once the file GO is there. For containers, which
 * have a library of their own. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t log_rss_begin(const char *label);
void log_rss_end(uint64_t token);

int main(int argc, char **argv)
{
	size_t bytes = 25u << 20;
	uint64_t token;
	volatile char *p;

	while (argc > 1 && access(argv[1], F_OK))
		usleep(10000);
	token = log_rss_begin("linked");
	p = malloc(bytes);
	if (!p)
		return 1;
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	log_rss_end(token);
	free((void *)p);
	return 0;
}
