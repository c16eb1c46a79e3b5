# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""clone_into.py CGROUP COMMAND...: starts it as a child that is born in the v2 cgroup (clone3 with CLONE_INTO_CGROUP), as
container engines do; exits with its status."""
import ctypes
import os
import struct
import sys

CLONE3 = 435
CLONE_INTO_CGROUP = 0x200000000
SIGCHLD = 17

libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
# struct clone_args up to `cgroup` (Linux 5.7): flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls,
# set_tid, set_tid_size, cgroup.
args = struct.pack("=11Q", CLONE_INTO_CGROUP, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, fd)
pid = libc.syscall(CLONE3, args, len(args))
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
if pid < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
