# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Datasets, nodes and pipelines of known sizes, for a project that `kedro new` made."""

import os
import time

from kedro.framework.hooks import hook_impl
from kedro.io import AbstractDataset
from kedro.pipeline import Pipeline, node

MIB = 1 << 20


def hog(mib):
    """mib MiB that are really touched, in a mapping of their own."""
    block = bytearray(mib * MIB)
    for i in range(0, len(block), 4096):
        block[i] = 1
    return block


class Copied(AbstractDataset):
    """load() makes mib MiB, and returns a second copy of them."""

    def __init__(self, mib):
        self._mib = mib

    def load(self):
        first = hog(self._mib)
        return bytearray(first)

    def save(self, data):
        raise NotImplementedError

    def _describe(self):
        return {"mib": self._mib}


class CopyingFile(AbstractDataset):
    """save() copies the data once, and gives the copy back; the file outlives the process."""

    def __init__(self, filepath):
        self._filepath = filepath

    def load(self):
        with open(self._filepath, "rb", buffering=0) as file:
            block = bytearray(os.fstat(file.fileno()).st_size)
            file.readinto(block)
            return block

    def save(self, data):
        copy = bytearray(data)
        with open(self._filepath, "wb", buffering=0) as file:
            file.write(copy)

    def _describe(self):
        return {"filepath": self._filepath}


class Broken(AbstractDataset):
    """load() fails with mib MiB in its hands; so does save()."""

    def __init__(self, mib):
        self._mib = mib

    def load(self):
        block = hog(self._mib)
        raise OSError(f"no more than {len(block)}")

    def save(self, data):
        self.load()

    def _describe(self):
        return {"mib": self._mib}


class Slow(AbstractDataset):
    def __init__(self, mib, seconds):
        self._mib, self._seconds = mib, seconds

    def load(self):
        block = hog(self._mib)
        time.sleep(self._seconds)
        return block

    def save(self, data):
        copy = bytearray(data)
        time.sleep(self._seconds)
        del copy

    def _describe(self):
        return {"mib": self._mib}


class Nothing(AbstractDataset):
    def load(self):
        return None

    def save(self, data):
        pass

    def _describe(self):
        return {}


class Hungry:
    """Another plugin, with work of its own before and behind each operation."""

    @hook_impl
    def before_dataset_loaded(self):
        hog(150)

    @hook_impl
    def after_dataset_loaded(self):
        hog(150)

    @hook_impl(trylast=True)
    def before_node_run(self):
        hog(150)

    @hook_impl(tryfirst=True)
    def after_node_run(self):
        hog(150)

    @hook_impl
    def before_dataset_saved(self):
        hog(150)

    @hook_impl
    def after_dataset_saved(self):
        hog(150)


def combine(a, b):
    first = hog(200)
    second = bytearray(first)
    del first
    new = hog(100)
    del second
    return new


def read(c):
    return len(c)


def left(seed):
    block = hog(200)
    time.sleep(0.6)
    return len(block)


def right(seed):
    block = hog(100)
    time.sleep(0.3)
    return len(block)


def worker(slow):
    block = hog(60)
    return bytearray(block)


def chunks(seed):
    for n in (1, 2, 3):
        block = hog(60 * n)
        size = len(block)
        del block
        yield size


def count(chunk):
    return 0


def fail(b):
    block = hog(120)
    raise ValueError(len(block))


def size(data):
    return bytearray(len(data) // 2)


CATALOG = {
    "a": {"type": "memory.cases.Copied", "mib": 200},
    "b": {"type": "memory.cases.Copied", "mib": 100},
    "c": {"type": "memory.cases.CopyingFile", "filepath": "c.bin"},
    "seed": {"type": "memory.cases.Nothing"},
    "broken": {"type": "memory.cases.Broken", "mib": 80},
    "unsaved": {"type": "memory.cases.Broken", "mib": 70},
    "slow1": {"type": "memory.cases.Slow", "mib": 50, "seconds": 0.4},
    "slow2": {"type": "memory.cases.Slow", "mib": 30, "seconds": 0.4},
    "saved": {"type": "memory.cases.Slow", "mib": 40, "seconds": 0.2},
    "companies": {"type": "memory.cases.Copied", "mib": 40},
    "data_science.evaluation.regression_model_metrics": {"type": "memory.cases.Nothing"},
    "left_out": {"type": "memory.cases.Nothing"},
    "right_out": {"type": "memory.cases.Nothing"},
    "read_out": {"type": "memory.cases.Nothing"},
    "chunk": {"type": "memory.cases.Nothing"},
    "one": {"type": "memory.cases.Nothing"},
    "two": {"type": "memory.cases.Nothing"},
}


def both(slow1, slow2):
    return bytearray(len(slow1))


def register_pipelines():
    f1 = Pipeline([node(combine, ["a", "b"], "c", name="combine"), node(read, "c", "read_out", name="read")])
    return {
        "__default__": f1,
        "f1": f1,
        "threads": Pipeline([node(left, "seed", "left_out", name="left"), node(right, "seed", "right_out", name="right")]),
        "workers": Pipeline([node(worker, "slow1", "one", name="one"), node(worker, "slow2", "two", name="two")]),
        "generator": Pipeline([node(chunks, "seed", "chunk", name="chunks"), node(count, "chunk", "read_out", name="count")]),
        "async": Pipeline([node(both, ["slow1", "slow2"], "saved", name="both")]),
        "long": Pipeline([
            node(worker, "companies", "preprocessed_companies", name="preprocess_companies_node"),
            node(count, "preprocessed_companies", "data_science.evaluation.regression_model_metrics",
                 name="data_science.evaluation.compute_regression_metrics_node"),
        ]),
        "bad_load": Pipeline([node(read, "broken", "read_out", name="read")]),
        "bad_node": Pipeline([node(fail, "b", "read_out", name="fail")]),
        "bad_save": Pipeline([node(size, "b", "unsaved", name="halve")]),
    }
