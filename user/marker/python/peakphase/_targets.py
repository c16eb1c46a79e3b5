# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which functions of which modules become spans or marks, and what they are wrapped in."""

import fnmatch
import functools
import inspect
import types
from typing import Any, Callable, List, Optional, Tuple

from . import begin, end, log_rss
from ._phase import hide_frame, kind_of, phase_of

Wrap = Callable[[Any], Any]


class Target:
    """One --span MODULE:GLOB or --mark MODULE:FUNC; both sides are globs."""

    def __init__(self, option: str, text: str) -> None:
        module, colon, name = text.rpartition(":")
        if not (module and colon and name):
            raise ValueError(f"{option} wants MODULE:FUNCTION, not {text!r}")
        self.option, self.text, self.module, self.name = option, text, module, name
        self.exact = not set("*?[") & set(name)
        self.names_module = not set("*?[") & set(module)
        self.used = False

    def wrapping(self, module: str, qualname: str) -> Wrap:
        if self.option == "--mark":
            return marking
        label = f"{self.module if self.names_module else module}:{qualname}"
        return lambda function: phase_of(label, begin, end)(function)


class Targets:
    def __init__(self, targets: List[Target]) -> None:
        self.all = targets
        self.program: Tuple[str, ...] = ()  # what else __main__ is called

    def of_module(self, module: str) -> List[Target]:
        if module.partition(".")[0] == __package__:
            return []
        names = ("__main__", *self.program) if module in self.program else (module,)
        return [t for t in self.all if any(fnmatch.fnmatchcase(n, t.module) for n in names)]

    def find(self, module: str, qualname: str) -> Optional[Target]:
        """The first that fits."""
        fit = [t for t in self.of_module(module) if fnmatch.fnmatchcase(qualname, t.name)]
        return fit[0] if fit else None

    def note(self, module: str, qualname: str) -> None:
        """That function was wrapped: those that it fits have been of use."""
        for target in self.of_module(module):
            target.used = target.used or fnmatch.fnmatchcase(qualname, target.name)

    def unused(self) -> List[Target]:
        return [t for t in self.all if not t.used]


def marking(function: Any) -> Any:
    """function, with a checkpoint before each call: its label is the call's first argument."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(marking(function.__func__))
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    at = 1 if names[:1] in (["self"], ["cls"]) else 0
    name = names[at] if at < len(names) else None

    def mark(args: Any, kwargs: Any) -> None:
        log_rss(args[at] if at < len(args) else kwargs.get(name, "(no label)"))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        mark(args, kwargs)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            hide_frame(error)
            raise

    # What is a coroutine or a generator stays one, for those that look: marked when it begins to run.
    kind = kind_of(function)
    if kind is not kind_of(wrapper):
        return functools.wraps(function)(kind(wrapper, None, lambda label: None, lambda token: None))
    return functools.wraps(function)(wrapper)


def _is_ours(function: Any) -> bool:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and code.co_filename in (__file__, phase_of.__code__.co_filename)


def wrap_members(targets: Targets, module: Any, name: str) -> None:
    """Wraps what could not be wrapped where it was defined: members of a module that is loaded.

    Those that are named exactly, wherever they come from; by a glob those that the module defines.
    """
    for attribute, value in list(vars(module).items()):
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                for inner, method in list(vars(value).items()):
                    if isinstance(method, (types.FunctionType, staticmethod, classmethod)):
                        _wrap_member(targets, value, name, f"{attribute}.{inner}", method)
        elif callable(value):
            own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
            _wrap_member(targets, module, name, attribute, value, only_exact=not own)


def _wrap_member(
    targets: Targets, owner: Any, module: str, qualname: str, value: Any, only_exact: bool = False
) -> None:
    target = targets.find(module, qualname)
    if target is None or _is_ours(value) or (only_exact and not target.exact):
        return
    try:
        setattr(owner, qualname.rpartition(".")[2], target.wrapping(module, qualname)(value))
    except (AttributeError, TypeError):  # an extension type does not let itself be changed
        return
    targets.note(module, qualname)
