# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every mark that was made has been heard, or lies in a time that the report calls unheard.

heard.py REPORT CALLS [PATTERN]     CALLS: lines `called pid=… at_ns=… label=…` of the workload
                                    late; all of labels that begin with PATTERN must be heard

Prints `calls=N heard=N unheard=N`; status 1 where a mark is missing and nothing says so.
"""

import json
import sys


def calls_of(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("called "):
                pid, at, label = (part.split("=", 1)[1] for part in line.split()[1:4])
                yield int(pid), int(at), label


def main(report, calls, must=None):
    with open(report, encoding="utf-8") as f:
        r = json.load(f)
    ends = {}
    for p in r["processes"]:
        for ph in p["phases"]:
            if ph["kind"] == "checkpoint":
                ends.setdefault((p["pid"], ph["label"]), []).append(ph["end_ns"])
    for at in ends.values():
        at.sort(reverse=True)
    heard = unheard = bad = 0
    # From the last one back: what is missing of a label's calls are the first ones.
    for pid, at, label in sorted(calls_of(calls), reverse=True):
        found = ends.get((pid, label))
        if found and found[0] >= at:
            found.pop(0)
            heard += 1
            continue
        unheard += 1
        if must is not None and label.startswith(must):
            print(f"not heard: {label} at {at} in pid {pid}")
            bad = 1
        if not any(u["pid"] == pid and u["from_ns"] <= at <= u["to_ns"] for u in r["unheard"]):
            print(f"missing, and nothing says so: {label} at {at} in pid {pid}; {r['unheard']}")
            bad = 1
    left = sum(len(v) for v in ends.values())
    if left:
        print(f"{left} marks were heard that nobody made: {ends}")
    print(f"calls={heard + unheard} heard={heard} unheard={unheard}")
    return 1 if bad or left or not heard + unheard else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
