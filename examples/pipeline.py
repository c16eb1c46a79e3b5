#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An identity pipeline in small: users are loaded, joined with groups, and pushed in batches.

Each step says its name when it is over, as many pipelines do by hand. Run as it is, the marks do
nothing; run under peakphase, each step has its peak:

    peakphase run -- python3 examples/pipeline.py

The surprise it is made for: the step that needs most memory gives nearly all of it back before it
ends, so that no reading taken between the steps shows it.
"""

import json

from peakphase import log_rss, phase

USERS = 120_000
GROUPS = 400
BATCH = 5_000


def load_users():
    return [
        {"id": i, "mail": f"user{i}@example.org", "groups": [i % GROUPS, i * 7 % GROUPS, i * 13 % GROUPS]}
        for i in range(USERS)
    ]


def transform_users(users):
    names = [user["mail"].partition("@")[0].title() for user in users]
    return {user["id"]: {**user, "name": name} for user, name in zip(users, names)}


def add_memberships(users):
    """Makes a row of every membership first, to keep only a count of each group."""
    pairs = [(group, user["id"]) for user in users.values() for group in user["groups"]]
    rows = [{"group": f"group-{group}", "member": member} for group, member in pairs]
    members = {}
    for row in rows:
        members.setdefault(row["group"], []).append(row["member"])
    return {group: len(ids) for group, ids in members.items()}


def push(users, memberships, where):
    sent = 0
    ids = list(users)
    for i in range(0, len(ids), BATCH):
        body = json.dumps({"to": where, "users": [users[k] for k in ids[i : i + BATCH]]})
        sent += len(body)
    return sent + len(json.dumps(memberships))


def main():
    users = load_users()
    log_rss("load:users")

    users = transform_users(users)
    log_rss("transform:users")

    with phase("hook:PRE_PUSH:add_memberships"):
        memberships = add_memberships(users)
    log_rss("push:before staging")

    sent = push(users, memberships, "staging")
    log_rss("push:staging")
    print(f"pushed {len(users)} users, {len(memberships)} groups, {sent} bytes")


if __name__ == "__main__":
    main()
