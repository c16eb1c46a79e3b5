# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""as_nobody.py COMMAND…: runs it as user and group 65534 and nothing else.

The program is opened before root is given up: build trees may lie where nobody else can go.
"""

import os
import shutil
import sys

program = shutil.which(sys.argv[1]) or sys.argv[1]
fd = os.open(program, os.O_RDONLY)
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
os.execve(fd, sys.argv[1:], os.environ)
