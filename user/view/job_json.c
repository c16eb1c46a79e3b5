/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/job_json.h"

#include "view/columns.h"
#include "view/moment.h"
#include "view/put.h"

static int put_label(void *arg, const struct phase *ph)
{
	label_json(arg, ph);
	return 0;
}

static int put_rows(struct jw *j, const struct report_source *src, const struct moment *m)
{
	int err = 0;

	jw_begin_array(j);
	for (size_t i = 0; i < m->n && !err; i++) {
		jw_begin_object(j);
		put_known(j, "pid", m->rows[i].pid);
		put_known(j, "start_ns", m->rows[i].start_ns);
		if (m->rows[i].bytes != EV_NONE)
			put_known(j, "rss_bytes", m->rows[i].bytes);
		jw_key(j, "phases");
		jw_begin_array(j);
		err = moment_phases(m, &m->rows[i], src, put_label, j);
		jw_end_array(j);
		jw_end_object(j);
	}
	jw_end_array(j);
	return err;
}

int job_json(struct jw *j, const struct report_source *src, uint64_t charge_peak)
{
	const struct job *job = &src->run->job;
	bool known = job->most_live;
	bool charge = known && job->charge_bytes != EV_NONE;
	bool bounded = moment_sum_bounded(src->run);
	struct moment m;
	int err;

	put_known(j, "most_at_once", known ? job->most_live : EV_NONE);
	put_known(j, "rss_sum_peak_bytes", known ? job->sum_bytes : EV_NONE);
	put_known(j, "rss_sum_peak_at_ns", known ? job->sum_at_ns : EV_NONE);
	put_known(j, "rss_sum_error_bytes", bounded ? job->sum_error_bytes : EV_NONE);
	jw_key(j, "rss_sum_open");
	err = moment_of_sum(&m, src);
	if (!err)
		err = put_rows(j, src, &m);
	else
		jw_null(j);
	moment_free(&m);
	put_known(j, "charge_peak_bytes", charge ? job->charge_bytes : charge_peak);
	put_known(j, "charge_peak_at_ns", charge ? job->charge_at_ns : EV_NONE);
	jw_key(j, "charge_open");
	if (err) {
		jw_null(j);
		return err;
	}
	err = moment_of_charge(&m, src);
	if (!err)
		err = put_rows(j, src, &m);
	else
		jw_null(j);
	moment_free(&m);
	return err;
}
