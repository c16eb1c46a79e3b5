/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checks of doctor: one table, which text, JSON and exit status are made of. Needs no
 * privilege: what cannot be asked without it is unknown, and says so.
 */
#ifndef PEAKPHASE_CMD_DOCTOR_H
#define PEAKPHASE_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "source/abilities.h"
#include "source/try_load.h"

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

#define DOCTOR_PROGRAMS_MAX 64

struct doctor_program {
	char name[48], section[64], why[200];
	bool optional;
	int error;
};

/* All that the checks look at. */
struct doctor_facts {
	struct abilities abilities;
	bool tried; /* programs were loaded; false: not allowed to */
	unsigned int nprograms;
	struct doctor_program program[DOCTOR_PROGRAMS_MAX];
	int calibration_error;
	struct probe_calibration calibration;
};

struct doctor_finding {
	enum answer answer;
	char detail[320]; /* one line, printable */
};

struct doctor_check {
	const char *name;  /* for programs: stays */
	const char *title; /* for people */
	bool needed;	   /* no: cannot trace here */
	void (*run)(const struct doctor_facts *f, struct doctor_finding *out);
	const char *consequence;
	const char *(*remedy)(const struct doctor_facts *f);
};

extern const struct doctor_check doctor_checks[];
extern const size_t ndoctor_checks;

void doctor_facts_get(struct doctor_facts *f);
/* Every check that is needed says yes. */
bool doctor_can_trace(const struct doctor_facts *f);

#endif
