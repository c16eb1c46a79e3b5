/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/pump.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "sink/pump_private.h"

int pump_begin(struct pump *p, const char *path, const struct place *place, struct outlet *outlet)
{
	uint64_t now = clock_mono_ns();

	*p = (struct pump){.path = path, .place = place, .outlet = outlet};
	p->dice = (uint32_t)(now ^ (now >> 32) ^ (uint64_t)getpid() << 16) | 1;
	backoff_begin(&p->backoff, now);
	if (!gather_begin(&p->gather))
		return 0;
	say_error("no memory for the sink");
	gather_end(&p->gather);
	return -ENOMEM;
}

void pump_end(struct pump *p)
{
	gather_end(&p->gather);
}

void pump_read(struct pump *p, bool final)
{
	uint64_t until = final ? UINT64_MAX : clock_mono_ns() - PUMP_SETTLE_NS;
	struct recording *r;
	int err;

	if (p->never || p->unread || gather_ready(&p->gather))
		return;
	err = recording_open_as_written(&r, p->path);
	if (!err)
		err = gather_read(&p->gather, r, until, final);
	recording_close(&r);
	if (err == -ENOMEM)
		say_error("no memory for the sink");
	p->unread = err != 0;
}

static void say_never(struct pump *p, const char *why)
{
	p->never = true;
	say_error("sink %s: %s", p->place->text, why);
}

/* Once, when it begins: how it ends is said in the end. */
static void say_later(struct pump *p, const char *why)
{
	if (!p->troubled)
		say_warning("sink %s: %s; trying again", p->place->text, why);
	p->troubled = true;
}

bool pump_put(struct pump *p, const char *key, const void *data, size_t len, const char *type)
{
	char why[OUTLET_WHY_MAX] = "";
	enum outlet_result result = OUTLET_NEVER;

	if (p->outlet->most && len > p->outlet->most)
		snprintf(why, sizeof(why), "%s is larger than 5 GiB, the most that one PUT takes",
			 key);
	else
		result = p->outlet->put(p->outlet->ctx, key, data, len, type, why);
	switch (result) {
	case OUTLET_DONE:
		backoff_success(&p->backoff, clock_mono_ns());
		p->objects++;
		p->bytes += len;
		return true;
	case OUTLET_LATER:
		p->dice = p->dice * 1664525u + 1013904223u;
		backoff_failure(&p->backoff, clock_mono_ns(), p->dice);
		say_later(p, why);
		return false;
	case OUTLET_NEVER:
		say_never(p, why);
		break;
	}
	return false;
}

const char *pump_type(const char *key)
{
	size_t len = strlen(key);

	return len > 5 && !strcmp(key + len - 5, ".json") ? "application/json" : "text/plain";
}

static bool send_open(struct pump *p, enum gather_kind kind, uint64_t now, bool final)
{
	struct object o;
	bool sent;

	if (!final && now - p->open_sent_ns[kind] < PUMP_OPEN_NS)
		return true;
	if (gather_open(&p->gather, kind, &o) <= 0)
		return true;
	sent = pump_put(p, o.key, o.data, o.len, pump_type(o.key));
	object_free(&o);
	if (sent) {
		gather_open_sent(&p->gather, kind);
		p->open_sent_ns[kind] = now;
	}
	return sent;
}

#define IDLE_MS 300

unsigned int pump_send(struct pump *p, bool final)
{
	uint64_t now = clock_mono_ns(), wait = backoff_wait(&p->backoff, now);
	struct object *o;
	bool sent = true;

	if (p->never)
		return IDLE_MS;
	while (!wait && sent && (o = gather_ready(&p->gather))) {
		sent = pump_put(p, o->key, o->data, o->len, pump_type(o->key));
		if (sent)
			gather_sent(&p->gather);
	}
	for (int i = 0; i < GATHER_KINDS && !wait && sent; i++)
		sent = send_open(p, i, now, final && p->gather.all);
	if (wait || !sent) {
		wait = backoff_wait(&p->backoff, clock_mono_ns());
		return (unsigned int)(wait / 1000000) + 1;
	}
	return p->gather.all || p->unread ? IDLE_MS : 0;
}
