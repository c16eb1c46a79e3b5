/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes of every length and at every place where one may lie, each within a span of its own; prints
 * what has to come out: `note LABEL LENGTH CHECKSUM WHOLE`, the checksum FNV-1a of the text.
 *
 *   notes [flood N]    also N notes of 1 MiB after each other, in the span `flood`
 *   notes pace MS      rest that long after each note, for a reader that is emulated
 */
#include <sys/mman.h>

#include "work.h"

#define MAX (1u << 20)
#define PAGE 4096u

static unsigned int pace_ms;

static uint64_t fnv(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return h;
}

static void told(const char *label, const char *text, size_t len, int whole)
{
	say("note %s %zu %016llx %d\n", label, len, (unsigned long long)fnv(text, len), whole);
}

static void send(const char *label, const char *text)
{
	uint64_t token = log_rss_begin(label);

	log_rss_note(text);
	log_rss_end(token);
	if (pace_ms)
		sleep_ms(pace_ms);
}

/* A text of len bytes at that offset of a page; a different one for each. */
static void text_at(char *pages, size_t offset, size_t len)
{
	char label[32], *text = pages + offset;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('!' + (i * 31 + len + offset + i / 97) % 90);
	text[len] = 0;
	snprintf(label, sizeof(label), "at:%zu:%zu", offset, len);
	send(label, text);
	told(label, text, len, 1);
}

static void lengths_and_places(char *pages)
{
	static const size_t offsets[] = {0,	     1,		 511,	   PAGE - 513,
					 PAGE - 512, PAGE - 511, PAGE - 2, PAGE - 1};
	static const size_t lengths[] = {0,    1,    2,	       510,  511,      512,   513,
					 1022, 1023, PAGE - 1, PAGE, PAGE + 1, 100000};

	for (size_t o = 0; o < sizeof(offsets) / sizeof(*offsets); o++)
		for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
			text_at(pages, offsets[o], lengths[l]);
}

/* The last byte before an unmapped page: a NUL, or not. */
static void at_the_edge(void)
{
	char *edge = (char *)mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
		     PAGE;

	munmap(edge, PAGE);
	memset(edge - 700, 'e', 700);
	send("unterminated", edge - 700);
	told("unterminated", edge - 700, 700, 0);
	edge[-1] = 0;
	send("terminated", edge - 700);
	told("terminated", edge - 700, 699, 1);
	send("null", NULL);
	told("null", "", 0, 0);
	send("wild", (const char *)0x1000);
	told("wild", "", 0, 0);
}

/* Pages of a file that nobody has touched in this mapping. */
static void not_resident(char *pages)
{
	char path[] = "/tmp/peakphase-notes-XXXXXX";
	int fd = mkstemp(path);
	const char *cold;

	memset(pages, 'c', 3 * PAGE);
	pages[3 * PAGE - 1] = 0;
	if (fd < 0 || write(fd, pages, 3 * PAGE) != 3 * PAGE)
		die(path);
	unlink(path);
	cold = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (cold == MAP_FAILED)
		die("mmap");
	madvise((void *)(uintptr_t)cold, 3 * PAGE, MADV_RANDOM);
	send("cold", cold);
	told("cold", pages, 3 * PAGE - 1, 1);
	close(fd);
}

int main(int argc, char **argv)
{
	char *pages =
	    mmap(NULL, MAX + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		die("mmap");
	if (argc == 3 && !strcmp(argv[1], "pace"))
		pace_ms = (unsigned int)atoi(argv[2]);
	lengths_and_places(pages);
	at_the_edge();
	not_resident(pages);
	text_at(pages, 0, MAX - 2 * 512);
	if (argc == 3 && !pace_ms) {
		uint64_t token = log_rss_begin("flood");

		for (int n = atoi(argv[2]); n > 0; n--)
			log_rss_note(pages);
		log_rss_end(token);
	}
	memset(pages, 'l', MAX + PAGE);
	pages[MAX + PAGE] = 0;
	send("long", pages);
	return 0;
}
