# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""json_fields.py [--diff | --example] PAGE REPORT...: docs/json.md has the fields of `report --json`, or of `diff --json`, all of them and no others.

Each section of the page is about one object: every key of it, and of what lies in it, stands there in backquotes; and every name in the
first column of its table, or in a paragraph that begins with a bold one, is a key of it. The REPORTs together must show each field
once; a paragraph about something that none of them has is passed over.

--example: the page's example has the objects of the REPORT, which the same commands made: each with the same keys.
"""

import json
import re
import sys

SECTIONS = {"The report": [], "A process": ["processes"], "A phase": ["processes", "phases"], "A verdict": ["verdicts"]}
DIFF = {"Recordings compared": []}
VALUES = {"null"}
NAME = re.compile(r"`([a-z][a-z0-9_]*)`")


def objects(value, path):
    """The objects at a path of keys, through lists."""
    if isinstance(value, list):
        return [o for v in value for o in objects(v, path)]
    if not path:
        return [value]
    return objects(value.get(path[0]), path[1:]) if isinstance(value, dict) else []


def keys(value, stop):
    """Keys of an object and of those within, but not of what a section of its own is about."""
    if isinstance(value, list):
        return set().union(*(keys(v, stop) for v in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    return set(value) | set().union(*(keys(v, stop) for k, v in value.items() if k not in stop), set())


def shape(value, path, found):
    """path → keys of the objects there."""
    for v in value if isinstance(value, list) else [value]:
        if isinstance(v, dict):
            found.setdefault(path, set()).update(v)
            for k in v:
                shape(v[k], f"{path}.{k}".lstrip("."), found)
    return found


def example(page, report):
    """What one of them has nothing of (a limit, a container) is not compared."""
    text = re.search(r"^```json\n(.*?)^```$", section(page, "An example"), re.M | re.S)[1]
    said, real = shape(json.loads(text), "", {}), shape(report, "", {})
    bad = [f"{path or 'report'}: {k} is not in the example" for path in real for k in sorted(real[path] - said.get(path, real[path]))]
    bad += [f"{path or 'report'}: {k} is in the example only" for path in said for k in sorted(said[path] - real.get(path, said[path]))]
    sys.exit("\n".join(bad) or 0)


def section(page, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]


def claimed(text, empty):
    """Names that are said to be fields."""
    first = [m[1] for m in re.finditer(r"^\|([^|]*)\|", text, re.M)]
    bold = re.findall(r"^\*\*.*?(?=^\s*$|\Z)", text, re.M | re.S)
    bold = [b for b in bold if NAME.search(b)[1] not in empty]
    return {n for part in first + bold for n in NAME.findall(part)}


def main(page, *reports):
    sections = SECTIONS
    if page == "--example":
        example(open(reports[0]).read(), json.load(open(reports[1])))
    if page == "--diff":
        sections, page, reports = DIFF, reports[0], reports[1:]
    page = open(page).read()
    reports = [json.load(open(r)) for r in reports]
    stop = {p[-1] for p in sections.values() if p}
    bad = []
    for title, path in sections.items():
        text = section(page, title)
        # What a process's peak looks like is said once, of the report's own.
        known = set(NAME.findall(text)) | set(NAME.findall(section(page, "The report")))
        found = set().union(*(keys(o, stop) for r in reports for o in objects(r, path)))
        empty = {k for k in found if not any(o.get(k) for r in reports for o in objects(r, path))}
        if not found:
            bad.append(f"{title}: none in any report")
        bad += [f"{title}: {k} is not documented" for k in sorted(found - known)]
        bad += [f"{title}: {k} is in no report" for k in sorted(claimed(text, empty) - found - VALUES)]
    sys.exit("\n".join(bad) or 0)


main(*sys.argv[1:])
