/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A memory cgroup that traced processes were in. Events have its number (struct process,
 * cgroup_id); its names come from whoever looked them up while it was there. Plain values; names
 * are any bytes up to a NUL, cut at their room; "": not known, or none.
 */
#ifndef PEAKPHASE_MODEL_CGROUP_H
#define PEAKPHASE_MODEL_CGROUP_H

#include <stdint.h>

#define CGROUP_PATH_ROOM 1024
#define CGROUP_NAME_ROOM 256

struct cgroup {
	uint64_t id;
	char path[CGROUP_PATH_ROOM]; /* within its hierarchy: "/docker/3f2a…" */
	/* of the container that it belongs to; runtime "": to none that is known */
	/* "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc", "container" */
	char runtime[16];
	char container[65];
	char name[CGROUP_NAME_ROOM];
	char pod[CGROUP_NAME_ROOM], ns[CGROUP_NAME_ROOM]; /* of Kubernetes */
};

#endif
