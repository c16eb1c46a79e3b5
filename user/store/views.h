/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SQL views for people, kept in every recording; peakphase itself never reads them. */
#ifndef PEAKPHASE_STORE_VIEWS_H
#define PEAKPHASE_STORE_VIEWS_H

extern const char *const views_sql[]; /* ends with NULL */

#endif
