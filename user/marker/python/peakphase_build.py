# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Build backend (PEP 517) of the package peakphase.

A wheel holds the package and liblogrss.so, compiled here by the C compiler ($CC, cc, gcc, clang)
from the sources of the repository. Without a compiler the wheel is one of pure Python: it looks
for an installed liblogrss.so.1 at run time, and does nothing where there is none.
"""

import base64
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

NAME = "peakphase"
VERSION = "0.1.0"
HERE = os.path.dirname(os.path.abspath(__file__))
# Files beside this one that go into NAME-VERSION.dist-info; `make install` puts them there too.
INFO = ("METADATA", "entry_points.txt")
# path in an sdist → path in the repository
C_SOURCES = {
    "csrc/logrss.c": "../logrss.c",
    "csrc/print.c": "../print.c",
    "csrc/print.h": "../print.h",
    "csrc/lib/utf8.c": "../../lib/utf8.c",
    "csrc/lib/text.h": "../../lib/text.h",
    "csrc/peakphase/log_rss.h": "../../../include/peakphase/log_rss.h",
}
LIBRARY_FLAGS = ["-O2", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector", "-shared", "-nostdlib"]
LIBRARY_FLAGS += ["-Wl,-soname,liblogrss.so.1"]
if platform.machine() == "aarch64":
    LIBRARY_FLAGS.append("-mno-outline-atomics")  # they are functions of libgcc's


def _c_source(name):
    shipped = os.path.join(HERE, name)
    return shipped if os.path.exists(shipped) else os.path.join(HERE, C_SOURCES[name])


def _package_files():
    package = os.path.join(HERE, NAME)
    return [
        (f"{NAME}/{name}", os.path.join(package, name))
        for name in sorted(os.listdir(package))
        if name.endswith((".py", ".typed"))
    ]


def _compile_library(directory):
    """Path of a fresh liblogrss.so in directory, or None where nothing here can compile it."""
    headers = ("csrc/peakphase/log_rss.h", "csrc/lib/text.h")
    includes = ["-I" + os.path.dirname(os.path.dirname(_c_source(name))) for name in headers]
    out = os.path.join(directory, "liblogrss.so")
    compilers = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for compiler in compilers:
        command = shlex.split(compiler) + LIBRARY_FLAGS
        command += [*includes, *(_c_source(name) for name in C_SOURCES if name.endswith(".c")), "-o", out]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return out
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{NAME}: {compiler}: {error}", file=sys.stderr)
    print(f"{NAME}: liblogrss.so not built: markers need an installed one", file=sys.stderr)
    return None


def _add(wheel, record, name, data, mode=0o644):
    info = zipfile.ZipInfo(name)  # a fixed date: equal sources make equal wheels
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}\n")


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{NAME}-{VERSION}.dist-info"
    record = []
    with tempfile.TemporaryDirectory() as scratch:
        library = _compile_library(scratch)
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        tag = f"py3-none-{system if library else 'any'}"
        filename = f"{NAME}-{VERSION}-{tag}.whl"
        wheel_text = (
            f"Wheel-Version: 1.0\nGenerator: {NAME}_build\n"
            f"Root-Is-Purelib: {'false' if library else 'true'}\nTag: {tag}\n"
        )
        with zipfile.ZipFile(os.path.join(wheel_directory, filename), "w") as wheel:
            for name, path in _package_files():
                _add(wheel, record, name, _read(path))
            if library:
                _add(wheel, record, f"{NAME}/liblogrss.so", _read(library), 0o755)
            for name in INFO:
                _add(wheel, record, f"{info}/{name}", _read(os.path.join(HERE, name)))
            _add(wheel, record, f"{info}/WHEEL", wheel_text.encode())
            record.append(f"{info}/RECORD,,\n")
            wheel.writestr(f"{info}/RECORD", "".join(record))
    return filename


def build_sdist(sdist_directory, config_settings=None):
    root = f"{NAME}-{VERSION}"
    filename = f"{root}.tar.gz"
    files = _package_files()
    files += [(name, os.path.join(HERE, name)) for name in ("pyproject.toml", "peakphase_build.py", *INFO)]
    files += [(name, _c_source(name)) for name in C_SOURCES]
    with tarfile.open(os.path.join(sdist_directory, filename), "w:gz") as archive:
        for name, path in files:
            archive.add(path, f"{root}/{name}", recursive=False)
        archive.add(os.path.join(HERE, "METADATA"), f"{root}/PKG-INFO")
    return filename
