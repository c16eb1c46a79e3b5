# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Mark the phases of a program for peakphase, which says which of them set the memory peak.

    from peakphase import log_rss, phase

    load_users()
    log_rss("load:users")              # a checkpoint: names what has just ended

    with phase("transform:users"):     # a span: nested, overlapping, on any thread or task
        transform()

    @phase("load:groups")              # functions, coroutines, generators: one span per call
    async def load_groups(): ...

    with phase("query", note=query.explain):   # text that is kept with it; called only when a tracer listens
        query.collect()

Without a tracer these cost well under a microsecond, and do nothing; without liblogrss.so too. No
function of this module raises: labels that are neither str nor bytes are turned into str.

Labels are sent as UTF-8; surrogates that came from undecodable bytes (os.fsdecode) become
those bytes again. A NUL would end the label, so it is sent as the two characters \\0.
"""

from ._library import bind as _bind
from ._phase import Phase, phase_of as _phase_of
from typing import Any, Callable, Optional, TypeVar, Union, overload

__all__ = ["log_rss", "begin", "end", "enabled", "note", "phase", "Phase"]
__version__ = "0.1.0"

_Function = TypeVar("_Function", bound=Callable[..., Any])

_mark, _begin, _end, _enabled, _note = _bind()


def _coerced(label: Any) -> bytes:
    """Bytes for any label whatever. Off the fast path."""
    try:
        if isinstance(label, (bytes, bytearray, memoryview)):
            data = bytes(label)
        else:
            text = label if isinstance(label, str) else str(label)
            try:
                data = text.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                data = text.encode("utf-8", "backslashreplace")
    except Exception:
        data = b"(label of type %s)" % type(label).__name__.encode("utf-8", "backslashreplace")
    return data.replace(b"\0", b"\\0")


# Strict first: surrogates are rare, and naming an encoding costs as much as the encoding.
def log_rss(label: Union[str, bytes]) -> None:
    """A checkpoint: label names the interval of this thread that has just ended."""
    try:
        data = label if type(label) is bytes else label.encode()
        if 0 in data:
            data = _coerced(data)
        _mark(data)
    except Exception:
        try:
            _mark(_coerced(label))
        except Exception:  # a deep stack, no memory: not the program's concern
            pass


def begin(label: Union[str, bytes]) -> int:
    """A span begins. Returns the token that ends it, on any thread; never 0."""
    try:
        data = label if type(label) is bytes else label.encode()
        if 0 in data:
            data = _coerced(data)
        return _begin(data)
    except Exception:
        try:
            return _begin(_coerced(label))
        except Exception:
            return 1


def end(token: int) -> None:
    """The span of that token ends. A token that is not open is harmless."""
    try:
        _end(token)
    except Exception:
        pass


def enabled() -> bool:
    """Does a tracer listen now? For skipping the making of an expensive label."""
    try:
        return _enabled() != 0
    except Exception:
        return False


def _note_text(text: Any) -> Optional[bytes]:
    """None where there is nothing to send: no tracer listens, no text, or the callable that makes it failed."""
    try:
        if text is None or not _enabled():
            return None
        if callable(text) and not isinstance(text, (str, bytes)):
            text = text()
        return None if text is None else _coerced(text)
    except Exception:
        return None


def note(text: Union[str, bytes, Callable[[], Any]], token: int = 0) -> None:
    """Text that is kept with a phase, up to 1 MiB: the innermost one of this thread, or the span of the token.

    A callable is called, for the text, only when a tracer listens.
    """
    data = _note_text(text)
    if data is not None:
        try:
            _note(token, data)
        except Exception:
            pass


def _begin_with(text: Any) -> Callable[[Any], int]:
    def begin_with_note(label: Any) -> int:
        data = _note_text(text)  # before the span: what making it needs is not the phase's
        token = begin(label)
        if data is not None:
            note(data, token)
        return token

    return begin_with_note


@overload
def phase(label: Union[str, bytes], note: Union[str, bytes, Callable[[], Any], None] = None) -> Phase: ...
@overload
def phase(label: _Function) -> _Function: ...
def phase(label: Any, note: Any = None) -> Any:
    """A span as context manager or decorator. Reusable, reentrant, for threads and tasks.

    As a decorator each call is a span of its own: of a coroutine while it runs, awaits included,
    of a generator from the first next() to its end or close. Bare, @phase takes the function's name.
    note: text, or a callable that makes it, kept with each of these spans.
    """
    return _phase_of(label, begin if note is None else _begin_with(note), end)
