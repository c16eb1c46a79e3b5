# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Kedro plugin, called as Kedro's runners call it, without Kedro (tests/real/kedro.bats has the real one)."""

import os
import sys
import threading
import types
import unittest
from unittest import mock


def hook_impl(**options):
    def mark(function):
        function.options = options
        return function

    return mark


class Node:
    def __init__(self, name, inputs, outputs, func=lambda: None):
        self.name, self.inputs, self.outputs, self.func = name, inputs, outputs, func


class Pipeline:
    def __init__(self, *nodes):
        self.nodes = nodes


def generator():
    yield


class Plugin(unittest.TestCase):
    def setUp(self):
        kedro = {name: types.ModuleType(name) for name in ("kedro", "kedro.framework", "kedro.framework.hooks")}
        kedro["kedro.framework.hooks"].hook_impl = hook_impl
        with mock.patch.dict(sys.modules, kedro):
            sys.modules.pop("peakphase.kedro_hooks", None)
            import peakphase.kedro_hooks as module
        self.module, self.traced, self.open, self.log = module, True, {}, []
        module.begin, module.end, module.enabled = self._begin, self._end, lambda: self.traced
        self.hooks = module.Hooks()

    def _begin(self, label):
        token = len(self.log) + 1
        self.open[token] = label
        self.log.append("+" + label)
        return token

    def _end(self, token):
        self.log.append("-" + self.open.pop(token))

    def load(self, node):
        for name in node.inputs:
            self.hooks.before_dataset_loaded(name, node)
            self.hooks.after_dataset_loaded(name, node)

    def save(self, node):
        for name in node.outputs:
            self.hooks.before_dataset_saved(name, node)
            self.hooks.after_dataset_saved(name, node)

    def run_node(self, node):
        self.load(node)
        self.hooks.before_node_run(node)
        self.hooks.after_node_run(node)
        self.save(node)

    def test_a_node(self):
        self.run_node(Node("n", ["a", "b"], ["c", "d"]))
        self.assertEqual(
            self.log,
            ["+node:n", "+load:n:a", "-load:n:a", "+load:n:b", "-load:n:b", "+run:n", "-run:n",
             "+save:n:c", "-save:n:c", "+save:n:d", "-save:n:d", "-node:n"],
        )  # fmt: skip
        self.assertEqual(self.hooks._tasks, [])

    def test_nodes_without_inputs_or_outputs(self):
        self.run_node(Node("n", [], []))
        self.run_node(Node("n", [], ["a"]))
        self.assertEqual(self.log, ["+node:n", "+run:n", "-run:n", "-node:n",
                                    "+node:n", "+run:n", "-run:n", "+save:n:a", "-save:n:a", "-node:n"])  # fmt: skip

    def test_order_among_plugins(self):
        """Last before an operation, first behind it."""
        for name, function in vars(self.module.Hooks).items():
            if hasattr(function, "options"):
                self.assertEqual(function.options, {"trylast": True} if name.startswith("before_") else {"tryfirst": True})

    def test_generator_ends_with_the_next_node_of_its_thread(self):
        chunks = Node("g", ["a"], ["c"], generator)
        self.load(chunks)
        self.hooks.before_node_run(chunks)
        self.hooks.after_node_run(chunks)
        for _ in range(3):
            self.save(chunks)
        self.assertNotIn("-node:g", self.log)
        self.run_node(Node("n", ["c"], []))
        self.assertLess(self.log.index("-node:g"), self.log.index("+node:n"))
        self.assertEqual(self.log.count("+save:g:c"), 3)
        self.assertEqual(self.open, {})

    def test_generator_ends_with_its_pipeline(self):
        chunks, other = Node("g", [], ["c"], generator), Node("other", ["x"], [])
        self.run_node(chunks)
        thread = threading.Thread(target=self.hooks.before_dataset_loaded, args=("x", other))
        thread.start()
        thread.join()
        self.hooks.after_pipeline_run(Pipeline(chunks))
        self.assertEqual(sorted(self.open.values()), ["load:other:x", "node:other"])  # another run's
        self.hooks.on_pipeline_error(Pipeline(other))
        self.assertEqual(self.open, {})

    def test_failures(self):
        node = Node("n", ["a"], ["c"])
        self.load(node)
        self.hooks.before_node_run(node)
        self.hooks.on_node_error(node)
        self.assertEqual(self.open, {})
        self.hooks.before_dataset_loaded("a", node)
        self.hooks.on_pipeline_error(Pipeline(node))
        self.assertEqual(self.open, {})
        # A worker hears of no pipeline's end: its next node ends the failed one.
        self.hooks.before_dataset_loaded("a", node)
        self.run_node(Node("m", ["b"], []))
        self.assertEqual(self.open, {})
        self.hooks.before_dataset_loaded("a", node)
        self.run_node(node)  # the same once more
        self.assertEqual(self.open, {})

    def test_asynchronous_loads_belong_to_one_node(self):
        node = Node("n", ["a", "b", "c"], ["d"])
        begun = threading.Barrier(4)

        def load(name):
            self.hooks.before_dataset_loaded(name, node)
            begun.wait(10)
            self.hooks.after_dataset_loaded(name, node)

        threads = [threading.Thread(target=load, args=(name,)) for name in node.inputs]
        [t.start() for t in threads]
        begun.wait(10)
        [t.join() for t in threads]
        self.hooks.before_node_run(node)
        self.hooks.after_node_run(node)
        self.save(node)
        self.assertEqual(self.log.count("+node:n"), 1)
        self.assertEqual(self.log[-1], "-node:n")
        self.assertEqual(self.open, {})

    def test_the_same_node_of_two_runs_at_once(self):
        node, go = Node("n", ["a"], ["b"]), threading.Barrier(2)

        def run():
            self.load(node)
            go.wait(10)
            self.hooks.before_node_run(node)
            go.wait(10)
            self.hooks.after_node_run(node)
            go.wait(10)
            self.save(node)

        threads = [threading.Thread(target=run) for _ in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        for label in "node:n", "load:n:a", "run:n", "save:n:b":
            self.assertEqual((self.log.count("+" + label), self.log.count("-" + label)), (2, 2), label)
        self.assertEqual(self.hooks._tasks, [])

    def test_without_a_tracer_and_with_one_that_comes_late(self):
        node = Node("n", ["a"], ["c"])
        self.traced = False
        self.run_node(node)
        self.assertEqual(self.log, [])
        self.load(node)
        self.traced = True
        self.hooks.before_node_run(node)
        self.traced = False
        self.hooks.after_node_run(node)
        self.save(node)
        self.assertEqual(self.log, ["+node:n", "+run:n", "-run:n", "+save:n:c", "-save:n:c", "-node:n"])

    def test_a_forked_worker_begins_anew(self):
        node = Node("n", ["a"], [])
        self.hooks.before_dataset_loaded("a", node)
        pid = os.fork()
        if pid == 0:
            os._exit(len(self.hooks._tasks) or self.hooks._lock.locked())
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(len(self.hooks._tasks), 1)


if __name__ == "__main__":
    unittest.main()
