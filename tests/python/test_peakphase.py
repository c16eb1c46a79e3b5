# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Python package without a tracer. Run with the package on PYTHONPATH:

    PYTHONPATH=build/python python3 -m unittest discover -s tests/python
"""

import asyncio
import contextlib
import functools
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import timeit
import unittest

import peakphase
from peakphase import begin, end, enabled, log_rss, note, phase


class Recorded(unittest.TestCase):
    """Puts a list in the place of the library: what would have been marked."""

    def setUp(self):
        self.events = []
        self.tokens = iter(range(1, 1000))
        saved = peakphase._mark, peakphase._begin, peakphase._end
        peakphase._mark = lambda label: self.events.append(("mark", label))
        peakphase._begin = self._begin
        peakphase._end = lambda token: self.events.append(("end", token))
        self.addCleanup(self._restore, saved)

    def _restore(self, saved):
        peakphase._mark, peakphase._begin, peakphase._end = saved

    def _begin(self, label):
        token = next(self.tokens)
        self.events.append(("begin", label, token))
        return token

    def spans(self):
        """label → tokens begun, after checking that each was ended exactly once, later."""
        begun = {}
        for event in self.events:
            if event[0] == "begin":
                begun[event[2]] = event[1]
            elif event[0] == "end":
                self.assertIn(event[1], begun)
        ends = [event[1] for event in self.events if event[0] == "end"]
        self.assertEqual(sorted(ends), sorted(begun))
        labels = {}
        for token, label in begun.items():
            labels.setdefault(label, []).append(token)
        return labels


class Labels(Recorded):
    def test_what_is_sent(self):
        class Unprintable:
            def __str__(self):
                raise RuntimeError("no")

        for label, sent in (
            ("load:users", b"load:users"),
            ("größe ✓", "größe ✓".encode()),
            (b"\xff\xfe", b"\xff\xfe"),
            (os.fsdecode(b"caf\xe9"), b"caf\xe9"),
            ("\ud800", b"\\ud800"),  # a surrogate that stands for no byte
            ("", b""),
            ("a\0b", b"a\\0b"),
            (b"a\0", b"a\\0"),
            (bytearray(b"ba"), b"ba"),
            (memoryview(b"mv"), b"mv"),
            (42, b"42"),
            (None, b"None"),
            (Unprintable(), b"(label of type Unprintable)"),
            ("x" * 10000, b"x" * 10000),
        ):
            self.events.clear()
            self.assertIsNone(log_rss(label))
            token = begin(label)
            with phase(label):
                pass
            end(token)
            self.assertEqual(self.events[0], ("mark", sent))
            self.assertEqual(self.events[1], ("begin", sent, token))
            self.assertEqual(self.events[2], ("begin", sent, token + 1))

    def test_nothing_raises(self):
        def broken(*_):
            raise RuntimeError("the library is broken")

        peakphase._mark = peakphase._begin = peakphase._end = broken
        log_rss("x")
        end(begin("x"))
        with phase("x"):
            pass
        self.assertEqual(phase("x")(lambda: 7)(), 7)

    def test_bad_tokens_to_the_library(self):
        self.doCleanups()
        for token in (0, -1, 2**64, 2**200, None, "x", 1.5, object()):
            self.assertIsNone(end(token))


class Blocks(Recorded):
    def test_exception_passes_and_closes(self):
        error = ValueError("mine")
        with self.assertRaises(ValueError) as caught:
            with phase("boom"):
                raise error
        self.assertIs(caught.exception, error)
        self.assertEqual(self.spans(), {b"boom": [1]})

    def test_nested_use_of_one_object(self):
        p = phase("p")

        def recurse(depth):
            with p:
                if depth:
                    recurse(depth - 1)

        with p:
            with p:
                recurse(2)
        self.assertEqual([e[1] for e in self.events if e[0] == "end"], [5, 4, 3, 2, 1])

    def test_interleaved_generators_share_one_object(self):
        p = phase("p")

        def use():
            with p:
                yield

        first, second = use(), use()
        next(first), next(second)
        first.close()  # began first, ends first: a stack would have ended the second's token
        second.close()
        self.assertEqual([e[1] for e in self.events if e[0] == "end"], [1, 2])

    def test_exit_stack(self):
        p = phase("p")
        with contextlib.ExitStack() as stack:
            stack.enter_context(p)
            stack.enter_context(p)
        self.assertEqual(self.spans(), {b"p": [1, 2]})

    def test_exit_without_enter(self):
        phase("p").__exit__(None, None, None)
        self.assertEqual(self.events, [])

    def test_threads_share_one_object(self):
        p, barrier, seen = phase("p"), threading.Barrier(8), []

        def work():
            for _ in range(10):
                with p:
                    barrier.wait(10)
                    seen.append(threading.get_ident())

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(len(self.spans()[b"p"]), 80)
        self.assertEqual(p._open, [])

    def test_token_ends_on_another_thread(self):
        token = begin("moved")
        thread = threading.Thread(target=end, args=(token,))
        thread.start()
        thread.join()
        self.assertEqual(self.spans(), {b"moved": [1]})

    def test_tasks_end_out_of_order(self):
        p, order = phase("p"), []

        async def work(name, rounds):
            with p:
                mine = self.events[-1][2]
                for _ in range(rounds):
                    await asyncio.sleep(0)
            order.append((name, mine, self.events[-1]))

        async def main():
            await asyncio.gather(work("A", 1), work("B", 5), work("C", 10))

        asyncio.run(main())
        self.assertEqual([name for name, _, _ in order], ["A", "B", "C"])
        for _, mine, ended in order:
            self.assertEqual(ended, ("end", mine))


class Decorated(Recorded):
    def test_function(self):
        @phase("f")
        def add(a, *, b):
            "docs"
            return a + b

        self.assertEqual(add(1, b=2), 3)
        self.assertEqual((add.__name__, add.__doc__), ("add", "docs"))
        self.assertEqual(self.spans(), {b"f": [1]})

    def test_recursion_has_a_span_per_call(self):
        @phase("fact")
        def fact(n):
            return n * fact(n - 1) if n else 1

        self.assertEqual(fact(4), 24)
        self.assertEqual([e[1] for e in self.events if e[0] == "end"], [5, 4, 3, 2, 1])

    def test_methods_in_either_order(self):
        class C:
            @phase("s")
            @staticmethod
            def s():
                return "s"

            @phase("c")
            @classmethod
            def c(cls):
                return cls

            @classmethod
            @phase("d")
            def d(cls):
                return cls

        self.assertEqual((C.s(), C().c(), C.d()), ("s", C, C))
        self.assertEqual(self.spans(), {b"s": [1], b"c": [2], b"d": [3]})

    def test_bare_and_odd_targets(self):
        @phase
        def named():
            return 1

        class Kept:
            pass

        self.assertEqual(named(), 1)
        self.assertIs(phase("x")(Kept), Kept)
        self.assertEqual(phase("x")(3), 3)
        self.assertEqual(phase("partial")(functools.partial(int, "7"))(), 7)
        labels = self.spans()
        self.assertEqual(len(labels), 2)
        self.assertTrue([label for label in labels if label.endswith(b"named")])

    def test_coroutine(self):
        @phase("co")
        async def work(x):
            await asyncio.sleep(0)
            return x

        self.assertTrue(inspect.iscoroutinefunction(work))

        async def main():
            return await asyncio.gather(work(1), work(2))

        self.assertEqual(asyncio.run(main()), [1, 2])
        self.assertEqual(self.spans(), {b"co": [1, 2]})

    def test_cancelled_task_closes(self):
        @phase("co")
        async def work():
            await asyncio.sleep(60)

        async def main():
            task = asyncio.ensure_future(work())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        self.assertEqual(self.spans(), {b"co": [1]})

    def test_generator_from_first_next_to_end(self):
        @phase("gen")
        def gen():
            try:
                got = yield 1
            except KeyError:
                got = "thrown"
            yield got
            return "result"

        self.assertTrue(inspect.isgeneratorfunction(gen))
        g = gen()
        self.assertEqual(self.events, [])
        self.assertEqual((next(g), g.send("sent")), (1, "sent"))
        self.assertEqual(len(self.events), 1)
        with self.assertRaises(StopIteration) as stop:
            next(g)
        self.assertEqual(stop.exception.value, "result")
        thrown = gen()
        next(thrown)
        self.assertEqual(thrown.throw(KeyError()), "thrown")
        thrown.close()
        gen().close()  # never started: no span
        self.assertEqual(self.spans(), {b"gen": [1, 2]})

    def test_async_generator(self):
        log = []

        @phase("agen")
        async def gen():
            try:
                try:
                    log.append((yield 1))
                except KeyError:
                    log.append("thrown")
                yield 2
            finally:
                log.append("closed")

        self.assertTrue(inspect.isasyncgenfunction(gen))

        async def main():
            self.assertEqual([x async for x in gen()], [1, 2])
            g = gen()
            self.assertEqual(await g.__anext__(), 1)
            self.assertEqual(await g.asend("sent"), 2)
            await g.aclose()
            g = gen()
            await g.__anext__()
            self.assertEqual(await g.athrow(KeyError()), 2)
            with self.assertRaises(OSError):
                await g.athrow(OSError())

        asyncio.run(main())
        self.assertEqual(log, [None, "closed", "sent", "closed", "thrown", "closed"])
        self.assertEqual(self.spans(), {b"agen": [1, 2, 3]})


class Notes(Recorded):
    def setUp(self):
        super().setUp()
        saved = peakphase._note, peakphase._enabled
        self.traced, self.made = 1, 0
        peakphase._note = lambda token, text: self.events.append(("note", token, text))
        peakphase._enabled = lambda: self.traced
        self.addCleanup(lambda: setattr(peakphase, "_note", saved[0]))
        self.addCleanup(lambda: setattr(peakphase, "_enabled", saved[1]))

    def make(self):
        self.made += 1
        self.events.append("made")
        return "plan"

    def notes(self):
        return [e[1:] for e in self.events if e[0] == "note"]

    def test_what_is_sent(self):
        token = begin("x")
        for text in ("größe", b"\xff", "a\0b", 42, self.make):
            note(text)
        note("of x", token)
        self.assertEqual(self.notes(), [(0, "größe".encode()), (0, b"\xff"), (0, b"a\\0b"), (0, b"42"), (0, b"plan"), (token, b"of x")])

    def test_with_a_phase(self):
        with phase("a", note=self.make):
            with phase("b", note="text"):
                pass
        self.assertEqual([e if e == "made" else e[0] for e in self.events], ["made", "begin", "note", "begin", "note", "end", "end"])
        self.assertEqual(self.notes(), [(1, b"plan"), (2, b"text")])

        @phase("f", note=self.make)
        def f():
            return 3

        self.assertEqual((f(), f(), self.made), (3, 3, 3))

    def test_nothing_is_made_without_a_tracer(self):
        self.traced = 0
        note(self.make)
        with phase("a", note=self.make):
            note("text")
        self.assertEqual((self.made, self.notes()), (0, []))
        self.assertEqual(self.spans(), {b"a": [1]})

    def test_a_callable_that_fails_is_nobodys_concern(self):
        note(lambda: 1 / 0)
        with phase("a", note=lambda: 1 / 0):
            note(lambda: None)
        self.assertEqual(self.notes(), [])
        self.assertEqual(self.spans(), {b"a": [1]})


class Library(unittest.TestCase):
    """The real liblogrss.so, and what happens without one."""

    def test_tokens(self):
        self.assertFalse(enabled())
        tokens = [begin("x") for _ in range(1000)]
        self.assertEqual(len(set(tokens)), 1000)
        self.assertTrue(all(0 < token < 2**64 for token in tokens))
        self.assertNotIn(1, tokens)  # 1 is what comes without the library
        for token in tokens:
            end(token)

    def test_survives_fork(self):
        result = subprocess.run(
            [sys.executable, "-c", "import os, peakphase as p; t = p.begin('x'); pid = os.fork();"
             " p.end(t); p.log_rss('y'); pid and os.waitpid(pid, 0)"],
            capture_output=True,
        )  # fmt: skip
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))

    def test_log(self):
        """PEAKPHASE_LOG=1: with the library, and without one."""
        code = "import peakphase as p; x = bytearray(b'x' * (60 << 20)); del x; p.log_rss('größe \\x1b'); p.end(p.begin('y'))"
        for library in (True, False):
            env = dict(os.environ, PEAKPHASE_LOG="1")
            if not library:
                there = tempfile.mkdtemp()
                self.addCleanup(shutil.rmtree, there)
                shutil.copytree(os.path.dirname(peakphase.__file__), os.path.join(there, "peakphase"), ignore=lambda *_: ["liblogrss.so"])
                env.update(PYTHONPATH=there, PYTHONDONTWRITEBYTECODE="1")
                code = code.replace("import peakphase as p;", "import ctypes; ctypes.PyDLL = None; import peakphase as p;")
            run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, encoding="utf-8")
            self.assertEqual((run.returncode, run.stdout), (0, ""))
            said = re.fullmatch(r"RSS \[größe \\x1b\]: ~([0-9.]+) MB  \(peak ([0-9.]+)\)\n", run.stderr)
            self.assertTrue(said, run.stderr)
            # The bytes and their copy are gone again.
            self.assertGreater(float(said[2]) - float(said[1]), 110)
            run = subprocess.run([sys.executable, "-c", code], env=dict(env, PEAKPHASE_LOG="0"), capture_output=True)
            self.assertEqual(run.stderr, b"")

    def test_log_hides_the_same_without_the_library(self):
        """Every character, and bytes that are none: what the library prints, _print does, too."""
        code = """
import os, peakphase as p
from peakphase._library import _print
near = [c for c in range(0x110000) if c < 0x10000 or c & 0xfff in (0, 0xfff) or c & 0xfffe == 0xfffe
        or 0x1bc9e < c < 0x1bca6 or 0x1d171 < c < 0x1d17d]
text = "".join(chr(c) for c in near if c and not 0xd800 <= c < 0xe000).encode()
labels = [text[i : i + 255] for i in range(0, len(text), 255)]  # cut within characters, too
labels += [b"\\xed\\xa0\\x80 \\xc0\\x80 \\xf5 \\xe2\\x80", bytes(range(0x80, 0x100))]
mark = p.log_rss if "%s" == "library" else _print
for label in labels:
    mark(label)
print(len(labels))
"""
        said = {}
        for by in ("library", "_print"):
            env = dict(os.environ, PEAKPHASE_LOG="1" if by == "library" else "0")
            run = subprocess.run([sys.executable, "-c", code % by], env=env, capture_output=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            said[by] = re.sub(rb"(?m)\]: ~[0-9.]+ MB  \(peak [0-9.]+\)$", b"]", run.stderr)
            self.assertEqual(said[by].count(b"\n"), int(run.stdout))
        self.assertIn(b"\\xe2\\x80\\xae", said["library"])
        self.assertIn("ö".encode(), said["library"])
        self.assertEqual(said["library"], said["_print"])

    def copy_of_package(self, library):
        """Import in a fresh interpreter of a copy with that library beside it."""
        scratch = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, scratch)
        there = os.path.join(scratch, "peakphase")
        shutil.copytree(os.path.dirname(peakphase.__file__), there)
        beside = os.path.join(there, "liblogrss.so")
        os.unlink(beside)
        if library is not None:
            with open(beside, "wb") as file:
                file.write(library)
        code = (
            "import peakphase as p\np.log_rss('x')\nt = p.begin('x')\np.end(t)\n"
            "with p.phase('x'): pass\nprint(p.phase('x')(lambda: 3)(), t != 0, p.enabled())"
        )
        env = dict(os.environ, PYTHONPATH=scratch, PYTHONDONTWRITEBYTECODE="1")
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout, "3 True False\n")

    def test_missing(self):
        self.copy_of_package(None)

    def test_not_a_library(self):
        self.copy_of_package(b"\x7fELF and then nothing")

    def test_another_library(self):
        with open("/proc/self/maps") as maps:
            libc = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
        with open(libc, "rb") as file:
            self.copy_of_package(file.read())

    def test_cost(self):
        """Limit 0.6 us a call; the best of 15, as neighbours on the CPU only ever add to it."""
        rounds = 20000
        cost = min(timeit.repeat(lambda: log_rss("transform:users"), number=rounds, repeat=15)) / rounds
        print(f"# untraced log_rss: {cost * 1e9:.0f} ns", file=sys.stderr)
        self.assertLess(cost, 0.6e-6)

    def test_functions_pickle_by_name(self):
        for function in (log_rss, begin, end, phase):
            self.assertIs(pickle.loads(pickle.dumps(function)), function)


if __name__ == "__main__":
    unittest.main()
