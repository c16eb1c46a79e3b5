/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Labels of every kind, one checkpoint each; before each a line with what must be found:
 *   label len=BYTES kind=text|null|unreadable|partial hex=BYTES
 * hex: the bytes that can be read, all of them. A file for labels on cold pages is the argument.
 */
#include "work.h"

static size_t page;

static void expect(const char *kind, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	static char line[64 + 2 * 16384];
	size_t n = (size_t)snprintf(line, 64, "label len=%zu kind=%s hex=", len, kind);
	const unsigned char *b = bytes;

	for (size_t i = 0; i < len; i++) {
		line[n++] = digits[b[i] >> 4];
		line[n++] = digits[b[i] & 15];
	}
	line[n++] = '\n';
	if (write(1, line, n) != (ssize_t)n)
		die("write");
}

static void text(const char *label)
{
	expect("text", label, strlen(label));
	log_rss(label);
}

/* Two pages; the second cannot be read. Returns the address of the border. */
static char *border(void)
{
	char *p = reserve(2 * page, 0);

	if (mprotect(p + page, page, PROT_NONE))
		die("mprotect");
	return p + page;
}

static void texts(void)
{
	static const char *const labels[] = {
	    "plain",
	    "with spaces  in  it ",
	    "übung → 日本語 🎉",
	    "a]b [c] \"q\" \\ %s%n%d",
	    "tab\there",
	    "two\nlines",
	    "",
	    "\r\x1b[31mred\x1b[0m\x07",
	    "<script>alert(1)</script>&amp;'",
	    "\xff\xfe not utf-8 \xc3\x28 \xed\xa0\x80",
	    "half a character \xe2\x82",
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		text(labels[i]);
}

/* Around the wire's limits, and two long ones that differ only in their last byte. */
static void long_ones(void)
{
	static const size_t lengths[] = {62, 63, 64, 65, 254, 255, 256, 257, 4095, 4096, 10000};
	static char buf[16384];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		for (size_t j = 0; j < lengths[i]; j++)
			buf[j] = (char)('a' + j % 26);
		buf[lengths[i]] = '\0';
		text(buf);
	}
	buf[9999] = '!';
	text(buf);
	/* A character of two bytes that the limit cuts in half. */
	memset(buf, 'x', 254);
	memcpy(buf + 254, "\xc3\xbc and more", 12);
	text(buf);
}

static void at_borders(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *edge = border(), *p;

	/* Ends with the page: the next byte cannot be read, and need not be. */
	memcpy(edge - 5, "edge", 5);
	text(edge - 5);
	/* Goes on into the page that cannot be read: never terminated. */
	memcpy(edge - 6, "no end", 6);
	expect("partial", edge - 6, 6);
	log_rss(edge - 6);
	/* Crosses into a good page: to be read in two pieces. */
	p = hog(2 * page, 0);
	strcpy(p + page - 7, "across the border");
	text(p + page - 7);
	/* A page of memory that nobody has touched is empty. */
	expect("text", "", 0);
	log_rss(reserve(page, 0));
	/* A page of a file that nobody has read: the label is there, the page is not. */
	if (fd < 0)
		die(path);
	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	expect("text", "cold page", 9);
	log_rss(p);
	close(fd);
}

static void bad_pointers(void)
{
	/* Volatile: compilers know NULL when they see it. */
	const char *volatile p = NULL;

	expect("null", "", 0);
	log_rss(p);
	p = (const char *)8;
	expect("unreadable", "", 0);
	log_rss(p);
	p = border();
	expect("unreadable", "", 0);
	log_rss(p);
	p = (const char *)0x5a5a5a5a5a5a5a5a;
	expect("unreadable", "", 0);
	log_rss(p);
	p = (const char *)UINTPTR_MAX;
	expect("unreadable", "", 0);
	log_rss(p);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	page = (size_t)sysconf(_SC_PAGESIZE);
	texts();
	long_ones();
	at_borders(argv[1]);
	bad_pointers();
	text("still here");
	return 0;
}
