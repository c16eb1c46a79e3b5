# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Wraps functions of modules while they are imported.

A function of a Python source is wrapped where it is defined: a decorator is put innermost into the
syntax tree. So whatever the module does with it meanwhile (registers it, pickles it by name, hands it
to other decorators) has the wrapped one, and line numbers stay. Modules without a source, and those that
were imported before, are changed afterwards.
"""

import _frozen_importlib  # type: ignore[import-not-found]
import ast
import builtins
import sys
import types
from importlib.machinery import SourceFileLoader
from typing import Any, List, Optional

from ._phase import hide_frame
from ._targets import Targets, wrap_members

# Where the tree's decorator finds us, whichever globals the code runs with.
DECORATOR = "__peakphase__"
# Decorators that compile the source of what they decorate would compile our wrapper.
COMPILERS = {"jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc", "script"}


class _Decorate(ast.NodeVisitor):
    """Adds the decorator to functions and methods; functions within functions are left alone."""

    def __init__(self, targets: Targets, module: str) -> None:
        self.targets, self.module = targets, module
        self.classes: List[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.classes.append(node.name)
        self.generic_visit(node)
        self.classes.pop()

    def visit_FunctionDef(self, node: Any) -> None:
        qualname = ".".join(self.classes + [node.name])
        names = {getattr(d, "attr", getattr(d, "id", None)) for d in map(_called, node.decorator_list)}
        if names & COMPILERS or self.targets.find(self.module, qualname) is None:
            return
        call = ast.parse(f"{DECORATOR}({self.module!r}, {qualname!r})", mode="eval").body
        for part in ast.walk(call):
            ast.copy_location(part, node)
        node.decorator_list.append(call)

    visit_AsyncFunctionDef = visit_FunctionDef


def _called(decorator: Any) -> Any:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def compiled(targets: Targets, source: bytes, filename: str, module: str) -> types.CodeType:
    """In one frame of ours, so that a SyntaxError is told as it is without us."""
    if not targets.of_module(module):
        return compile(source, filename, "exec", dont_inherit=True)
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    _Decorate(targets, module).visit(tree)
    return compile(tree, filename, "exec", dont_inherit=True)


class _Loader:
    """Stands in for a module's loader until the module is executed."""

    def __init__(self, targets: Targets, spec: Any) -> None:
        self._targets, self._spec, self._loader = targets, spec, spec.loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def _wrapping_code(self, name: str) -> Optional[types.CodeType]:
        """None where there is no source, or none that can be compiled: the loader itself says why."""
        # Exactly this one: others (of test runners, of bundles) have ways of their own to make code.
        if type(self._loader) is not SourceFileLoader:
            return None
        try:
            path = self._loader.get_filename(name)
            return compiled(self._targets, self._loader.get_data(path), path, name)
        except (SyntaxError, OSError, ImportError):
            return None

    def get_code(self, name: str) -> Any:
        """Also what runpy asks for, to run the module as a program."""
        self._spec.loader = self._loader
        return self._wrapping_code(name) or self._loader.get_code(name)

    def create_module(self, spec: Any) -> Any:
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create else None

    def exec_module(self, module: Any) -> None:
        name = self._spec.name
        module.__loader__ = module.__spec__.loader = self._spec.loader = self._loader
        try:
            code = self._wrapping_code(name)
            if code is not None:
                # By the function whose callers Python leaves out of tracebacks.
                _frozen_importlib._call_with_frames_removed(exec, code, module.__dict__)
            else:
                self._loader.exec_module(module)
        except BaseException as error:
            hide_frame(error)
            raise
        wrap_members(self._targets, sys.modules.get(name, module), name)


class _Finder:
    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if not self._targets.of_module(name):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(self._targets, spec)
                return spec
        return None


def install(targets: Targets) -> None:
    def decorator(module: str, qualname: str) -> Any:
        target = targets.find(module, qualname)
        targets.note(module, qualname)
        return target.wrapping(module, qualname) if target else lambda function: function

    setattr(builtins, DECORATOR, decorator)
    sys.meta_path.insert(0, _Finder(targets))  # type: ignore[arg-type]
    for name, module in list(sys.modules.items()):
        if name != "__main__" and isinstance(module, types.ModuleType) and targets.of_module(name):
            wrap_members(targets, module, name)
