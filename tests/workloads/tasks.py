# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Phases of asyncio tasks: NAME:MIB:SECONDS:FREE arguments, gathered on one thread.

Each task hogs within its phase, waits, and gives back what it had before its phase ends (FREE 1)
or after all phases have ended (FREE 0).
"""

import asyncio
import sys

import peakphase
from work import hog

kept = []


async def task(name, mib, seconds, free):
    with peakphase.phase(name):
        block = hog(int(mib))
        await asyncio.sleep(float(seconds))
        if free == "0":
            kept.append(block)
        del block


async def main():
    await asyncio.gather(*(task(*arg.split(":")) for arg in sys.argv[1:]))


if __name__ == "__main__":
    asyncio.run(main())
