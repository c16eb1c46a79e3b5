# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`python -m peakphase PROGRAM` without a tracer: what the program is and does is what it is without."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

# Imports `steps` while the library's functions say what they get: on stdout, in one line each.
SPY = """
import peakphase, peakphase._targets as t
def tell(kind):
    def function(*args):
        print(kind, *args)
        return 7
    return function
t.log_rss, t.begin, t.end = tell("mark"), tell("begin"), tell("end")
from peakphase.__main__ import main
main()
"""

STEPS = '''
import functools, sys
REGISTRY = {}

def registered(function):
    REGISTRY[function.__name__] = function
    return function

@registered
def load_users(n, *, deep=False):
    "the docs"
    if deep:
        raise ValueError("deep")
    return n

class Users:
    @staticmethod
    def load_static():
        return "static"

    @classmethod
    def load_class(cls):
        return cls.__name__

    @property
    def load_property(self):
        return "property"

    def transform(self):
        def load_inner():
            return self
        return load_inner()

async def load_coroutine():
    return 3

def load_generator():
    yield (yield 1)

async def load_stream():
    yield 1
    yield 2

@functools.lru_cache(None)
def load_cached():
    return "cached"

def njit(function):
    return function.__code__.co_argcount

@njit
def load_compiled(a, b):
    return a + b

load_lambda = lambda: "lambda"

def log(label, level=0):
    return label
'''


class Program(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.write("steps.py", STEPS)

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as file:
            file.write(textwrap.dedent(text))

    def python(self, *args, **kwargs):
        return subprocess.run([sys.executable, *args], cwd=self.dir, capture_output=True, text=True, **kwargs)

    def spied(self, text, *options):
        """Lines that the library's functions got, and that the program printed."""
        self.write("program.py", text)
        run = self.python("-c", SPY, *options, "program.py")
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def same(self, *program, options=("--span", "*:load_*"), returncode=0, **kwargs):
        """The program behaves as it does without, also on stderr."""
        plain = self.python(*program, **kwargs)
        run = self.python("-m", "peakphase", *options, *program, **kwargs)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(plain.returncode, returncode, plain.stderr)
        return plain

    def test_spans_of_each_kind(self):
        lines = self.spied(
            """
            import asyncio, steps
            from steps import *
            async def stream():
                return [x async for x in load_stream()]
            u = Users()
            print(load_users(1), Users.load_static(), Users.load_class(), u.load_property, u.transform() is u)
            print(asyncio.run(load_coroutine()), list(load_generator()), asyncio.run(stream()))
            print(load_cached(), load_cached(), load_compiled, load_lambda())
            """,
            "--span", "steps:*load_*",
        )  # fmt: skip
        spans = [line[6:] for line in lines if line.startswith("begin ")]
        self.assertEqual(
            spans,
            ["steps:load_users", "steps:Users.load_static", "steps:Users.load_class", "steps:Users.load_property",
             "steps:load_coroutine", "steps:load_generator", "steps:load_stream", "steps:load_cached", "steps:load_lambda"],
        )  # fmt: skip
        self.assertEqual(lines.count("end 7"), len(spans))
        self.assertIn("1 static Users property True", lines)
        self.assertIn("3 [1, None] [1, 2]", lines)
        self.assertIn("cached cached 2 lambda", lines)

    def test_marks_take_the_first_argument(self):
        lines = self.spied(
            """
            from steps import log
            class Log:
                def write(self, text): pass
            log("a"); log(level=3, label="b"); log(label=4); Log().write("c")
            try: log()
            except TypeError as error: print(error)
            """,
            "--mark", "steps:log", "--mark=program:Log.write",
        )  # fmt: skip
        self.assertEqual(
            lines,
            ["mark a", "mark b", "mark 4", "mark c", "mark (no label)", "log() missing 1 required positional argument: 'label'"],
        )

    def test_marked_functions_stay_what_they_are(self):
        """Coroutines and generators are marked when they begin to run."""
        self.write(
            "kinds.py",
            """
            async def load_coroutine(label):
                return label
            def load_generator(label):
                try:
                    got = yield label
                except KeyError:
                    got = "thrown"
                yield got
                return "returned"
            async def load_stream(label):
                try:
                    yield (yield label)
                finally:
                    print("closed")
            """,
        )
        lines = self.spied(
            """
            import asyncio, inspect, types
            from kinds import *
            for f in load_coroutine, load_generator, load_stream:
                print(f.__name__, inspect.iscoroutinefunction(f), inspect.isgeneratorfunction(f), inspect.isasyncgenfunction(f), inspect.signature(f))
            print(asyncio.run(load_coroutine("c")))
            g = load_generator(label="g")
            print("made", type(g) is types.GeneratorType)
            print(next(g), g.send(4))
            try: next(g)
            except StopIteration as end: print(end.value)
            g = load_generator("h")
            print(next(g), g.throw(KeyError))
            async def stream():
                s = load_stream("s")
                print(await s.asend(None), await s.asend(5), inspect.isasyncgen(s))
                await s.aclose()
            asyncio.run(stream())
            try: load_generator(); next(load_generator())
            except TypeError as error: print(error)
            """,
            "--mark", "kinds:load_*",
        )  # fmt: skip
        self.assertEqual(
            lines,
            ["load_coroutine True False False (label)", "load_generator False True False (label)", "load_stream False False True (label)",
             "mark c", "c", "made True", "mark g", "g 4", "returned", "mark h", "h thrown", "mark s", "s 5 True", "closed",
             "mark (no label)", "load_generator() missing 1 required positional argument: 'label'"],
        )  # fmt: skip

    def test_the_program_itself(self):
        text = "def load(n): return n\nclass C:\n    def f(self): load(1)\nC().f()\n"
        self.write("program.py", text)
        self.write("pkg.py", text)
        for options, label in (
            (("--span", "__main__:load", "program.py"), "__main__:load"),
            (("--span", "program:*", "program.py"), "program:load"),
            (("--span", "__main__:load", "-m", "pkg"), "__main__:load"),
            (("--span", "pkg:load", "-mpkg"), "pkg:load"),
        ):
            lines = self.python("-c", SPY, *options).stdout.splitlines()
            self.assertIn("begin " + label, lines)

    def test_identity(self):
        """Names, signatures, sources, pickles, registries, reloads."""
        self.write(
            "program.py",
            """
            import asyncio, importlib.util, inspect, pickle, sys, steps
            f = steps.load_users
            print(f.__name__, f.__qualname__, f.__module__, f.__doc__, inspect.signature(f), f(2), f(2, deep=False))
            print(inspect.getsource(f), inspect.getsourcelines(f)[1], inspect.getsourcelines(steps.load_coroutine)[1])
            print(pickle.loads(pickle.dumps(f)) is f is steps.REGISTRY["load_users"])
            print(inspect.iscoroutinefunction(steps.load_coroutine), inspect.isgeneratorfunction(steps.load_generator))
            print(inspect.isasyncgenfunction(steps.load_stream), type(steps.Users.__dict__["load_static"]))
            print(type(steps.__loader__), steps.__spec__.origin, type(steps.__spec__.loader), steps.__file__, steps.__cached__)
            print(sorted(vars(steps)), sorted(globals()))
            print(importlib.reload(steps).load_users(3), steps.load_lambda.__name__)
            print(importlib.util.find_spec("steps").origin, inspect.getmodule(f))
            """,
        )
        self.same("program.py", options=("--span", "steps:*"))

    def test_arguments_path_and_names(self):
        self.write("program.py", "import sys\nprint(sys.argv, sys.path, __name__, __file__, __spec__, __package__, __doc__)\n")
        self.same("program.py", "--span", "x", "-m", "y", options=())
        self.same("./program.py", options=())
        self.same(os.path.join(self.dir, "program.py"), "--", options=())
        os.mkdir(os.path.join(self.dir, "app"))
        self.write("app/__init__.py", "")
        self.write("app/__main__.py", "import sys\nprint(sys.argv[1:], sys.path[0], __spec__.name if __spec__ else None)\n")
        self.same("-m", "app", "-x", options=())
        self.same("app", "-x", options=())
        os.symlink("app/__main__.py", os.path.join(self.dir, "link.py"))
        self.same("link.py", options=())

    def test_standard_input(self):
        text = "import sys, steps\ndef load(n): return n\nprint(load(1), sys.argv, sys.path[:1], __name__, __loader__, __spec__,"
        text += "sorted(globals()), repr(sys.stdin.read()), steps.load_users(2))\n"
        self.assertIn("'x', '--mark'", self.same("-", "x", "--mark", options=("--span", "__main__:load"), input=text).stdout)
        lines = self.python("-c", SPY, "--span", "__main__:load", "-", input=text).stdout.splitlines()
        self.assertEqual(lines[:2], ["begin __main__:load", "end 7"])
        self.same("-", input="", options=())
        self.same("-", input="import sys; sys.exit(3)", options=(), returncode=3)
        self.same("-", input="x = )", options=(), returncode=1)
        self.same("-", input="1 / 0", options=(), returncode=1)

    def test_ends(self):
        for code, returncode in (
            ("import sys; sys.exit(3)", 3),
            ("import sys; sys.exit('said')", 1),
            ("raise SystemExit", 0),
            ("import os; os._exit(4)", 4),
            ("raise KeyboardInterrupt", -signal.SIGINT),
            ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
            ("import atexit; atexit.register(lambda: print(later))\nlater = 'there'", 0),
            ("import threading, time\nthreading.Thread(target=lambda: (time.sleep(.1), print(later))).start()\nlater = 'there'", 0),
            ("import sys; sys.excepthook = lambda *error: print(*error[:2]); 1 / 0", 1),
            ("import sys; print(sys.stdin.read())", 0),
            ("x = )", 1),
        ):
            self.write("program.py", code)
            self.same("program.py", options=(), returncode=returncode)
            self.same("-m", "program", options=(), returncode=returncode)
        self.same("missing.py", options=(), returncode=2)
        self.same("-m", "missing", options=(), returncode=1)

    @unittest.skipIf(sys.version_info < (3, 11), "the frame of the wrapper can be hidden since Python 3.11")
    def test_tracebacks(self):
        self.write(
            "program.py",
            """
            import asyncio, traceback, sys
            from steps import load_users
            async def load_task():
                load_users(1, deep=True)
            def load_some():
                yield load_users(1, deep=True)
            async def load_more():
                yield load_users(1, deep=True)
            async def more():
                async for _ in load_more(): pass
            def load_nothing(a): pass
            for call in lambda: asyncio.run(load_task()), lambda: list(load_some()), lambda: asyncio.run(more()), load_nothing:
                try: call()
                except Exception: traceback.print_exc()
            for name, text in ("bad_syntax", "x = ("), ("bad_import", "import nothing"), ("bad", "def load(): 1 / 0\\nload()"):
                with open(name + ".py", "w") as file: file.write(text)
                try: __import__(name)
                except Exception: traceback.print_exc()
            try: load_users(1, deep=True)
            except ValueError as error: raise KeyError("outer") from error
            """,
        )
        self.assertIn("in load_some", self.same("program.py", returncode=1).stderr)
        self.same("program.py", returncode=1, options=("--mark", "program:load_*", "--mark", "steps:load_*"))
        self.assertIn("in load_some", self.same("-m", "program", returncode=1).stderr)

    def test_start_methods(self):
        self.write(
            "program.py",
            """
            import multiprocessing, sys
            def load(n): return n * 2
            if __name__ == "__main__":
                for method in "fork", "spawn", "forkserver":
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(pool.map(load, [1, 2]))
            """,
        )
        self.same("program.py", options=("--span", "program:load"))

    def test_what_does_not_fit_is_said(self):
        self.write("program.py", "import steps\n")
        run = self.python("-m", "peakphase", "--span", "steps:lod", "--mark", "steps:log", "program.py")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertEqual(run.stderr, "peakphase: --span steps:lod: no module that was imported has such a function\n")
        for options in ((), ("--span",), ("--span", "x"), ("--span=:x", "a.py"), ("--spam", "a.py"), ("-m",)):
            run = self.python("-m", "peakphase", *options)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertRegex(run.stderr, "^peakphase: .*\nusage: ")
        self.assertIn("--mark", self.python("-m", "peakphase", "--help").stdout)
        self.assertRegex(self.python("-m", "peakphase", "--version").stdout, "^peakphase [0-9.]+\n$")


if __name__ == "__main__":
    unittest.main()
