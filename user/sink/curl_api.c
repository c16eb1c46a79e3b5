/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/curl_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "lib/say.h"

int curl_api_load(struct curl_api *api)
{
	static const char *const names[] = {
	    "curl_global_init",	 "curl_easy_init",	"curl_easy_reset",   "curl_easy_cleanup",
	    "curl_easy_setopt",	 "curl_easy_perform",	"curl_easy_getinfo", "curl_easy_strerror",
	    "curl_slist_append", "curl_slist_free_all",
	};
	void *lib = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL),
	     *found[sizeof(names) / sizeof(*names)];

	_Static_assert(sizeof(*api) == sizeof(found), "one name for each");
	for (size_t i = 0; lib && i < sizeof(names) / sizeof(*names); i++) {
		found[i] = dlsym(lib, names[i]);
		if (!found[i])
			lib = NULL;
	}
	if (!lib) {
		say_error("s3:// needs libcurl: %s", dlerror());
		say_remedy("install it (Debian: libcurl4), or name a folder");
		return -ENOENT;
	}
	memcpy(api, found, sizeof(found));
	api->global_init(CURL_GLOBAL_DEFAULT);
	return 0;
}
