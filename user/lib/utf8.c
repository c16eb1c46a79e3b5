/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Also a part of liblogrss.so, which has no libc: nothing here calls anything. */
#include "lib/text.h"

struct range {
	uint32_t first, last;
};

/*
 * Characters that move the cursor, turn the direction of the text, end a line, or show nothing, so
 * that two different labels would look alike: C1, Bidi_Control, Zl, Zp, and
 * Default_Ignorable_Code_Point (Unicode 15) but for the variation selectors FE00..FE0F, which
 * ordinary emoji carry. Noncharacters are tested apart.
 */
static const struct range hidden[] = {
    {0x0080, 0x009f},	{0x00ad, 0x00ad},   {0x034f, 0x034f},	{0x061c, 0x061c}, {0x115f, 0x1160},
    {0x17b4, 0x17b5},	{0x180b, 0x180f},   {0x200b, 0x200f},	{0x2028, 0x202e}, {0x2060, 0x206f},
    {0x3164, 0x3164},	{0xfdd0, 0xfdef},   {0xfeff, 0xfeff},	{0xffa0, 0xffa0}, {0xfff0, 0xfffb},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool text_is_hidden(uint32_t cp)
{
	if (cp < 0x80)
		return cp < 0x20 || cp == 0x7f;
	if ((cp & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && cp >= hidden[i].first; i++)
		if (cp <= hidden[i].last)
			return true;
	return false;
}

size_t text_utf8_next(const char *bytes, size_t len, uint32_t *cp)
{
	const unsigned char *b = (const unsigned char *)bytes;
	uint32_t c = b[0], least;
	size_t n;

	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf) {
		n = 2, least = 0x80, c &= 0x1f;
	} else if (c >= 0xe0 && c <= 0xef) {
		n = 3, least = 0x800, c &= 0x0f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		n = 4, least = 0x10000, c &= 0x07;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}
