# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs in one process: two sessions after each other, and two at once. Run within the project."""

import inspect
import sys
import threading
from pathlib import Path

from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

OLD = "pipeline_name" in inspect.signature(KedroSession.run).parameters


def run(name):
    with KedroSession.create(project_path=Path.cwd()) as session:
        session.run(**({"pipeline_name": name} if OLD else {"pipeline_names": [name]}))


bootstrap_project(Path.cwd())
for name in sys.argv[1].split(","):
    run(name)
threads = [threading.Thread(target=run, args=(name,)) for name in sys.argv[2].split(",")]
[t.start() for t in threads]
[t.join() for t in threads]
