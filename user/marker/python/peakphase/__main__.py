# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a Python program whose functions become phases, without a change to it."""

import atexit
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types
from typing import Any, List, Tuple

from . import __version__
from ._importing import compiled, install
from ._targets import Target, Targets

USAGE = """\
usage: python -m peakphase [--span MODULE:GLOB] [--mark MODULE:FUNCTION] SCRIPT|- [ARGUMENTS...]
       python -m peakphase [--span MODULE:GLOB] [--mark MODULE:FUNCTION] -m MODULE [ARGUMENTS...]
"""
HELP = """
Runs a Python program whose functions are phases for peakphase; without a tracer it just runs.

  --span MODULE:GLOB       each call of these functions is a span, labelled MODULE:FUNCTION. Methods are
                           CLASS.METHOD. MODULE may be a glob too; the program's own is __main__, or the
                           name of its file
  --mark MODULE:FUNCTION   each call of this function is a checkpoint, labelled by its first argument
  -h, --help, --version

Both can be given more than once; - is a program on standard input. The program has the arguments, exit status, signals and tracebacks
that it has without this.
"""


class Usage(Exception):
    pass


def options(argv: List[str]) -> Tuple[List[Target], bool, List[str]]:
    """(targets, whether the program is a module, the program and its arguments)"""
    targets, rest = [], list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in ("--span", "--mark"):
            if not equals and not rest:
                raise Usage(f"{name} wants MODULE:FUNCTION")
            try:
                targets.append(Target(name, value if equals else rest.pop(0)))
            except ValueError as error:
                raise Usage(str(error)) from None
        elif word in ("-h", "--help"):
            print(USAGE + HELP, end="")
            sys.exit(0)
        elif word == "--version":
            print(f"peakphase {__version__}")
            sys.exit(0)
        elif word == "-m" or (word.startswith("-m") and not word.startswith("--")):
            rest = ([word[2:]] if word != "-m" else []) + rest
            if not rest:
                raise Usage("-m wants a module")
            return targets, True, rest
        elif word == "--":
            break
        elif word.startswith("-") and word != "-":
            raise Usage(f"unknown option {word}")
        else:
            return targets, False, [word] + rest
    if not rest:
        raise Usage("no program to run")
    return targets, False, rest


def _new_main() -> Any:
    """The module in which the program runs, for good: it is there for threads, atexit and pickle, too."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    return main


def run_module(targets: Targets, name: str) -> None:
    targets.program = (name, name + ".__main__")
    _new_main()
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _own_folder() -> bool:
    """Python before 3.11 has no safe_path; with it, or isolated, no folder of ours is in front."""
    return not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


def run_stdin(targets: Targets) -> None:
    main = _new_main()
    main.__dict__.update(__file__="<stdin>", __cached__=None, __loader__=importlib.machinery.BuiltinImporter)
    if _own_folder():
        sys.path[0] = ""
    code = compiled(targets, sys.stdin.buffer.read(), "<stdin>", "__main__")
    exec(code, main.__dict__)


def run_script(targets: Targets, path: str) -> None:
    main = _new_main()
    shown = os.path.join(os.getcwd(), path) if sys.version_info >= (3, 9) else path
    own_folder = _own_folder()
    if pkgutil.get_importer(path) is not None:  # a folder or an archive with a __main__.py
        sys.path[: 1 if own_folder else 0] = [shown]
        return runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
    try:
        with io.open_code(path) if hasattr(io, "open_code") else open(path, "rb") as file:
            code = pkgutil.read_code(file)  # type: ignore[arg-type]
            file.seek(0)
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {shown!r}: "
              f"[Errno {error.errno}] {error.strerror}", file=sys.stderr)  # fmt: skip
        sys.exit(2)
    if own_folder:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main.__dict__.update(
        __file__=shown,
        __cached__=None,
        __loader__=importlib.machinery.SourceFileLoader("__main__", shown),
    )
    if code is None:
        name = os.path.splitext(os.path.basename(path))[0]
        targets.program = (name,)
        code = compiled(targets, source, shown, name)
    del source
    exec(code, main.__dict__)


def _without_our_frames(hook: Any) -> Any:
    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        rest = step = traceback
        while step is not None:
            if step.tb_frame.f_code.co_filename in (__file__, compiled.__code__.co_filename):
                rest = step.tb_next
            step = step.tb_next
        error.__traceback__ = sys.last_traceback = rest
        hook(kind, error, rest)

    return excepthook


def _say_unused(targets: Targets, pid: int) -> None:
    for target in targets.unused() if os.getpid() == pid else ():
        print(f"peakphase: {target.option} {target.text}: no module that was imported has such a function", file=sys.stderr)


def main() -> None:
    try:
        wanted, is_module, program = options(sys.argv[1:])
    except Usage as error:
        print(f"peakphase: {error}\n{USAGE}", end="", file=sys.stderr)
        sys.exit(2)
    targets = Targets(wanted)
    sys.argv[:] = program
    install(targets)
    atexit.register(_say_unused, targets, os.getpid())
    try:
        if is_module:
            run_module(targets, program[0])
        elif program[0] == "-":
            run_stdin(targets)
        else:
            run_script(targets, program[0])
    except SystemExit:
        raise
    except BaseException:
        sys.excepthook = _without_our_frames(sys.excepthook)
        raise


if __name__ == "__main__":
    main()
