/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes of one record → an event. Total: any bytes give an event or an error, nothing is read
 * outside [data, data + size), nothing is allocated, no I/O. Thread-safe.
 */
#ifndef PEAKPHASE_DECODE_DECODE_H
#define PEAKPHASE_DECODE_DECODE_H

#include "decode/event.h"

/*
 * page_size: bytes of a page of the host that wrote the record; a power of two.
 * Returns 0; -EBADMSG for a record that is too short, too long, or holds a value that its kind
 * cannot have; -ENOTSUP for a kind this program does not know.
 */
int decode_record(const void *data, size_t size, uint32_t page_size, struct event *out);

/*
 * The same of a record on the ring of the output: what was written, in place. decode_record() knows
 * no such record, this function no other.
 */
int decode_output(const void *data, size_t size, struct ev_output *out);

#endif
