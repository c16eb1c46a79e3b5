/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where objects go: a folder, or S3. One thread. */
#ifndef PEAKPHASE_SINK_OUTLET_H
#define PEAKPHASE_SINK_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "sink/place.h"

#define OUTLET_WHY_MAX 512

enum outlet_result {
	OUTLET_DONE,  /* it is durable there */
	OUTLET_LATER, /* trying again may help */
	OUTLET_NEVER, /* it would not */
};

struct outlet {
	void *ctx;
	enum outlet_result (*put)(void *ctx, const char *key, const void *data, size_t len,
				  const char *type, char why[static OUTLET_WHY_MAX]);
	void (*close)(void *ctx);
	/* What may be sent at most as one object; 0: no bound. */
	unsigned long long most;
};

/* stop: asked for while a transfer lasts; true ends it. 0 or -errno, said. */
int outlet_open(struct outlet *o, const struct place *p, bool (*stop)(void *ctx), void *stop_ctx);
void outlet_close(struct outlet *o);

/* Of outlet_open(). */
int outlet_open_folder(struct outlet *o, const struct place *p);
int outlet_open_s3(struct outlet *o, const struct place *p, bool (*stop)(void *ctx),
		   void *stop_ctx);

#endif
