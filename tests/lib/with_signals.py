# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""with_signals.py COMMAND…: runs it with four signals ignored and two blocked."""

import os
import signal
import sys

for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
os.execvp(sys.argv[1], sys.argv[1:])
