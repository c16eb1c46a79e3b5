# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Spans around blocks and calls."""

import functools
import inspect
import sys
from types import TracebackType
from typing import Any, Callable, List, Optional, Tuple, Type, TypeVar, Union

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Begin = Callable[[Any], int]
_End = Callable[[int], None]


class Phase:
    """Made by peakphase.phase(label)."""

    __slots__ = ("label", "_begin", "_end", "_open")

    def __init__(self, label: Union[str, bytes], begin: _Begin, end: _End) -> None:
        self.label = label
        self._begin = begin
        self._end = end
        # Open uses of this object: (frame of the with statement, token). A with statement
        # enters and exits from one frame, so uses that interleave, of generators, tasks and threads, are
        # told apart without asking what kind of concurrency it is. Frames only by id: a
        # reference would keep the caller's variables, the very memory that is measured.
        self._open: List[Tuple[int, int]] = []

    def __enter__(self) -> "Phase":
        try:
            self._open.append((id(sys._getframe(1)), self._begin(self.label)))
        except Exception:
            pass
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        try:
            self._end(self._take(id(sys._getframe(1))))
        except Exception:
            pass

    def _take(self, frame: int) -> int:
        """Token of the latest use from this frame; of the latest of all (ExitStack) if none."""
        uses = self._open
        for use in reversed(uses[:]):
            if use[0] == frame:
                uses.remove(use)
                return use[1]
        return uses.pop()[1]

    def __call__(self, function: _Function) -> _Function:
        return _wrapped(function, self.label, self._begin, self._end)


def phase_of(label: Any, begin: _Begin, end: _End) -> Any:
    if callable(label) and not isinstance(label, (str, bytes)):
        return _wrapped(label, getattr(label, "__qualname__", str(label)), begin, end)
    return Phase(label, begin, end)


def _wrapped(function: Any, label: Any, begin: _Begin, end: _End) -> Any:
    """What has no calls to wrap (a class would lose its identity) is given back unchanged."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_wrapped(function.__func__, label, begin, end))
    if isinstance(function, type) or not callable(function):
        return function
    return functools.wraps(function)(kind_of(function)(function, label, begin, end))


def kind_of(function: Any) -> Callable[[Any, Any, _Begin, _End], Any]:
    """What makes a span of each call of such a function, and is such a function itself."""
    if inspect.isasyncgenfunction(function):
        return _async_generator
    if inspect.iscoroutinefunction(function):
        return _coroutine
    return _generator if inspect.isgeneratorfunction(function) else _call


def hide_frame(error: BaseException) -> None:
    """Take the caller's frame out of error's traceback, before the caller raises it again.

    A bare "raise" adds no frame, and since Python 3.11 takes the traceback that the exception has by
    then. Before, the caller's frame stays in it.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def _call(function: Any, label: Any, begin: _Begin, end: _End) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = begin(label)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            hide_frame(error)
            raise
        finally:
            end(token)

    return wrapper


def _coroutine(function: Any, label: Any, begin: _Begin, end: _End) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = begin(label)
        try:
            return await function(*args, **kwargs)
        except BaseException as error:
            hide_frame(error)
            raise
        finally:
            end(token)

    return wrapper


def _generator(function: Any, label: Any, begin: _Begin, end: _End) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = begin(label)
        try:
            return (yield from function(*args, **kwargs))
        except BaseException as error:
            hide_frame(error)
            raise
        finally:
            end(token)

    return wrapper


def _async_generator(function: Any, label: Any, begin: _Begin, end: _End) -> Any:
    """There is no "yield from" for these: what is sent and thrown in is passed on by hand."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = begin(label)
        inner = function(*args, **kwargs)
        try:
            step = inner.__anext__()
            while True:
                try:
                    value = await step
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
                else:
                    step = inner.asend(sent)
        except BaseException as error:
            hide_frame(error)
            raise
        finally:
            end(token)

    return wrapper
