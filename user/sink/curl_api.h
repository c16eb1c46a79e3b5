/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libcurl, loaded when a sink needs it: linking it would cost every start of peakphase 11 ms for
 * the two dozen libraries behind it.
 */
#ifndef PEAKPHASE_SINK_CURL_API_H
#define PEAKPHASE_SINK_CURL_API_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

struct curl_api {
	CURLcode (*global_init)(long flags);
	CURL *(*init)(void);
	void (*reset)(CURL *);
	void (*cleanup)(CURL *);
	CURLcode (*setopt)(CURL *, CURLoption, ...);
	CURLcode (*perform)(CURL *);
	CURLcode (*getinfo)(CURL *, CURLINFO, ...);
	const char *(*strerror)(CURLcode);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

/* It stays loaded. 0 or -ENOENT, said. */
int curl_api_load(struct curl_api *api);

#endif
