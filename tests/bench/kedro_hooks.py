# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the Kedro plugin's hooks cost without a tracer, each called as Kedro's plugin manager calls it: by itself.

kedro_hooks.py [ROUNDS]: prints ns_per_hook=N slowest=N. Kedro need not be installed."""

import sys
import timeit
import types

for name in ("kedro", "kedro.framework", "kedro.framework.hooks"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["kedro.framework.hooks"].hook_impl = lambda **options: lambda function: function

from peakphase.kedro_hooks import Hooks  # noqa: E402


class Node:
    name, inputs, outputs, func = "combine", ["a"], ["c"], print


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    hooks, node = Hooks(), Node()
    calls = [
        lambda: hooks.before_dataset_loaded("a", node),
        lambda: hooks.after_dataset_loaded("a", node),
        lambda: hooks.before_node_run(node),
        lambda: hooks.after_node_run(node),
        lambda: hooks.before_dataset_saved("c", node),
        lambda: hooks.after_dataset_saved("c", node),
        lambda: hooks.after_pipeline_run(node),
    ]
    ns = [sorted(timeit.repeat(call, number=rounds, repeat=7))[3] / rounds * 1e9 for call in calls]
    print(f"ns_per_hook={sum(ns) / len(ns):.0f} slowest={max(ns):.0f}")


if __name__ == "__main__":
    main()
