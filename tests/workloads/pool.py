# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Worker processes: pool.py METHOD WORKERS MIB, METHOD being fork, spawn or forkserver.

Each worker takes MIB in the phase "worker"; the parent waits in "pool" and takes nothing.
"""

import multiprocessing
import sys

import peakphase
from work import hog


def work(barrier, mib):
    with peakphase.phase("worker"):
        block = hog(mib)
        barrier.wait()
        del block


def main(method, workers, mib):
    context = multiprocessing.get_context(method)
    barrier = context.Barrier(workers)
    processes = [context.Process(target=work, args=(barrier, mib)) for _ in range(workers)]
    with peakphase.phase("pool"):
        for p in processes:
            p.start()
        for p in processes:
            p.join()
    return max(p.exitcode for p in processes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
