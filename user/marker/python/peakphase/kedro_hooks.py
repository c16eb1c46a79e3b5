# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Kedro plugin: what nodes load, run and save as phases. Installed, it is active (entry point kedro.hooks).

    node:N      from the first load of the node N until its last save has returned
    load:N:DS   catalog.load() of the dataset DS
    run:N       the node's function
    save:N:DS   catalog.save()

Hooks are called last before the operation and first behind it, so that what other plugins' hooks do is in
none of the inner spans. They ask for no argument that came or went between Kedro 0.19 and 1.x.
Without a tracer a hook asks whether there is one, and that is all.

Kedro says when an operation begins, and when it ends well, but of failures only those of a node's function and of the
whole pipeline; and of a generator's node not which save is its last. So a node that is still open ends at
the latest when its thread begins another one, when the pipeline ends, or with the process.
"""

import inspect
import os
import threading
from typing import Any, Dict, List, Optional, Set, Tuple

from kedro.framework.hooks import hook_impl  # type: ignore[import-not-found]

from . import begin, enabled, end

Inner = Tuple[str, str]  # ("load", dataset), ("run", ""), ("save", dataset)


class _Task:
    """One run of a node."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.thread = threading.get_ident()
        self.loaded: Set[str] = set()
        self.running = False
        self.unsaved: Optional[Set[str]] = None  # None: a generator's, saved in chunks
        self.inner: Dict[Inner, int] = {}
        self.token = begin("node:" + name)

    def begin(self, key: Inner) -> None:
        kind, dataset = key
        self.finish(key)
        self.inner[key] = begin(f"{kind}:{self.name}:{dataset}" if dataset else f"{kind}:{self.name}")

    def finish(self, key: Inner) -> None:
        token = self.inner.pop(key, None)
        if token is not None:
            end(token)


class Hooks:
    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Spans that are open at a fork are the parent's."""
        self._lock = threading.Lock()
        self._tasks: List[_Task] = []

    # Which task a hook is about. Loads of an asynchronous run come from threads of their own, and two runs
    # in one process may have tasks of the same name.

    def _find(self, name: str) -> Optional[_Task]:
        mine = threading.get_ident()
        same = [task for task in self._tasks if task.name == name]
        return next((task for task in same if task.thread == mine), same[-1] if same else None)

    def _begun(self, name: str, dataset: Optional[str] = None) -> _Task:
        """The task that loads this dataset, or runs now: one that did neither before, or a new one."""
        mine = threading.get_ident()
        for task in self._tasks:
            if task.name == name and not task.running and dataset not in task.loaded:
                break
        else:
            for over in [task for task in self._tasks if task.thread == mine]:
                self._close(over)
            task = _Task(name)
            self._tasks.append(task)
        return task

    def _close(self, task: _Task) -> None:
        for key in list(task.inner):
            task.finish(key)
        end(task.token)
        self._tasks.remove(task)

    @hook_impl(trylast=True)
    def before_dataset_loaded(self, dataset_name: str, node: Any) -> None:
        if enabled():
            with self._lock:
                task = self._begun(node.name, dataset_name)
                task.loaded.add(dataset_name)
                task.begin(("load", dataset_name))

    @hook_impl(tryfirst=True)
    def after_dataset_loaded(self, dataset_name: str, node: Any) -> None:
        self._finish(node, ("load", dataset_name))

    @hook_impl(trylast=True)
    def before_node_run(self, node: Any) -> None:
        if enabled():
            with self._lock:
                task = self._begun(node.name)
                task.running, task.thread = True, threading.get_ident()
                if not inspect.isgeneratorfunction(node.func):
                    task.unsaved = set(node.outputs)
                task.begin(("run", ""))

    @hook_impl(tryfirst=True)
    def after_node_run(self, node: Any) -> None:
        self._finish(node, ("run", ""))

    @hook_impl(tryfirst=True)
    def on_node_error(self, node: Any) -> None:
        if self._tasks:
            with self._lock:
                task = self._find(node.name)
                if task:
                    self._close(task)

    @hook_impl(trylast=True)
    def before_dataset_saved(self, dataset_name: str, node: Any) -> None:
        if self._tasks:
            with self._lock:
                task = self._find(node.name)
                if task:
                    task.begin(("save", dataset_name))

    @hook_impl(tryfirst=True)
    def after_dataset_saved(self, dataset_name: str, node: Any) -> None:
        self._finish(node, ("save", dataset_name))

    def _finish(self, node: Any, key: Inner) -> None:
        if self._tasks:
            with self._lock:
                task = self._find(node.name)
                if task:
                    task.finish(key)
                    if key[0] == "save" and task.unsaved:
                        task.unsaved.discard(key[1])
                    if task.running and key[0] != "load" and task.unsaved == set():
                        self._close(task)

    @hook_impl(tryfirst=True)
    def after_pipeline_run(self, pipeline: Any) -> None:
        self._pipeline_over(pipeline)

    @hook_impl(tryfirst=True)
    def on_pipeline_error(self, pipeline: Any) -> None:
        self._pipeline_over(pipeline)

    def _pipeline_over(self, pipeline: Any) -> None:
        if self._tasks:
            names = {node.name for node in pipeline.nodes}
            with self._lock:
                for task in [task for task in self._tasks if task.name in names]:
                    self._close(task)


hooks = Hooks()
