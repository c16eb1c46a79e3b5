#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Golden screens of `peakphase top RECORDING`, key by key, as any user: run.py BUILD [--update] [NAME...]

Each case is a recording of scenes.c and a sequence of keys. It is shown in a tmux of its own, in several
sizes, in UTF-8 and ASCII; every screen has to be what golden/NAME-SIZE-CHARSET.txt says, line by line.
Ends with `screens: N passed, N failed, N skipped`.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SLOW = float(os.environ.get("PEAKPHASE_SLOW", "1"))
SECONDS = 15 * SLOW  # for a screen to come

# Keys as tmux names them; each line is a step, after which the screen is compared.
CASES = {
    "pipeline": ["", "p", "+ +", "Enter", "Down Down", "Enter", "Escape", "Escape", "g", "] ]", "f", "s s s", "r",
                 "/ j o i Enter", "Escape Escape", "?", "x"],
    "tree": ["", "Down Down", "t", "t", "p", "<", "G", "n", "n", "c", "Home Down Down Down Down Down Enter"],
    "labels": ["", "f", "s", "Down Down Enter", "Escape", "End"],
    "nothing": ["", "Down", "Enter", "f", "p"],
}
SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
CHARSETS = {"utf8": [], "ascii": ["--ascii"]}
# Sizes past what the golden ones show: nothing has to break there.
ODD_SIZES = [(10, 4), (300, 100), (1, 1), (25, 6)]


class Tmux:
    def __init__(self, directory):
        self.directory, self.n, self.base = directory, 0, []
        self.env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        self.env.pop("TMUX", None)
        self.env.pop("NO_COLOR", None)

    def run(self, *args, check=True):
        return subprocess.run([*self.base, *args], env=self.env, check=check, capture_output=True, text=True).stdout

    def start(self, cols, rows, command):
        self.base = ["tmux", "-S", str(self.directory / f"tmux-{self.n}"), "-f", "/dev/null"]
        self.run("new-session", "-d", "-x", str(cols), "-y", str(rows), command)
        self.run("set", "-g", "status", "off")
        self.run("set", "-g", "escape-time", "0")
        self.run("resize-window", "-x", str(cols), "-y", str(rows))

    def screen(self):
        lines = [line.rstrip() for line in self.run("capture-pane", "-p").splitlines()]
        return "\n".join(lines).rstrip("\n") + "\n"

    def status(self):
        """Of the command, once it has ended."""
        try:
            return self.status_file().read_text().strip()
        except FileNotFoundError:
            return ""

    def status_file(self):
        return self.directory / f"status-{self.n}"

    def top(self, cols, rows, build, args):
        """Shows it, and keeps the terminal when it has ended."""
        self.n += 1  # a server that was just stopped may still have its socket
        done = self.status_file()
        self.start(cols, rows, f"cd {self.directory} && {build}/peakphase top {args}; echo $? >{done}.tmp; mv {done}.tmp {done}; sleep 600")

    def stop(self):
        self.run("kill-server", check=False)


def settled(tmux, before):
    """The screen once it has stopped changing, for --update."""
    until, last, same = time.monotonic() + SECONDS, None, 0
    while time.monotonic() < until and same < 4:
        time.sleep(0.1)
        now = tmux.screen()
        same = same + 1 if now == last and ("recording" in now or "of" in now or before is not None) else 0
        last = now
    return last


def wanted(tmux, expected):
    """The screen once it is the expected one, or what it was when the time was up."""
    until = time.monotonic() + SECONDS
    while True:
        now = tmux.screen()
        if now == expected or time.monotonic() > until:
            return now
        time.sleep(0.05)


def split(text):
    """A golden file → the screens of its steps."""
    steps, current = [], None
    for line in text.splitlines():
        if line.startswith("=== "):
            current = []
            steps.append(current)
        elif current is not None:
            current.append(line)
    return ["\n".join(s).rstrip("\n") + "\n" for s in steps]


def run_case(tmux, build, name, size, charset, update):
    golden = HERE / "golden" / f"{name}-{size[0]}x{size[1]}-{charset}.txt"
    expected = split(golden.read_text()) if golden.exists() and not update else []
    got, failed = [], None
    tmux.top(*size, build, " ".join([*CHARSETS[charset], f"{name}.peak"]))
    try:
        for i, keys in enumerate(CASES[name]):
            if keys:
                tmux.run("send-keys", *keys.split())
            if update:
                got.append(settled(tmux, got[-1] if got else None))
                continue
            want = expected[i] if i < len(expected) else ""
            now = wanted(tmux, want)
            if now != want:
                failed = f"after {keys!r} (step {i}) expected\n{want}\nbut the screen was\n{now}"
                break
        tmux.run("send-keys", "q")
        until = time.monotonic() + SECONDS
        while not tmux.status() and time.monotonic() < until:
            time.sleep(0.05)
        if tmux.status() != "0" and not failed:
            failed = f"did not end well after q: status {tmux.status()!r}"
    finally:
        tmux.stop()
    if update:
        golden.write_text("".join(f"=== {k}\n{s}" for k, s in zip(CASES[name], got)))
    return failed


def odd_sizes(tmux, build):
    """It is drawn in any size, keeps to it, and goes through a storm of resizing."""
    tmux.top(80, 24, build, "tree.peak")
    try:
        for cols, rows in ODD_SIZES * 2:
            tmux.run("resize-window", "-x", str(cols), "-y", str(rows))
            for keys in ("Down", "Enter", "Escape", "f", "f", "+", "-", "?", "?"):
                tmux.run("send-keys", keys)
            time.sleep(0.1)
            if tmux.status():
                return f"ended at {cols}x{rows}: status {tmux.status()}"
        for i in range(200):
            tmux.run("resize-window", "-x", str(10 + i * 37 % 290), "-y", str(4 + i * 13 % 96))
        tmux.run("resize-window", "-x", "80", "-y", "24")
        until = time.monotonic() + SECONDS
        while "processes" not in tmux.screen():
            if time.monotonic() > until:
                return f"not drawn again after the storm:\n{tmux.screen()}"
            time.sleep(0.1)
    finally:
        tmux.stop()
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--update", action="store_true", help="write what comes out as golden; then read it")
    p.add_argument("names", nargs="*")
    opt = p.parse_intermixed_args()
    build, names = pathlib.Path(opt.build).resolve(), opt.names or [*CASES, "odd"]
    if not shutil.which("tmux"):
        print("screens: no tmux: tools/deps.sh installs it\nscreens: 0 passed, 1 failed, 0 skipped")
        return 1
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="peakphase-screens-") as name:
        directory = pathlib.Path(name)
        subprocess.run([build / "screens/scenes", directory], check=True)
        tmux = Tmux(directory)
        todo = [(f"{n}-{s[0]}x{s[1]}-{c}", (lambda n=n, s=s, c=c: run_case(tmux, build, n, s, c, opt.update)))
                for n in names if n in CASES for s in SIZES for c in CHARSETS]
        if "odd" in names:
            todo.append(("odd sizes", lambda: odd_sizes(tmux, build)))
        for title, run in todo:
            why = run()
            passed, failed = passed + (why is None), failed + (why is not None)
            if why:
                print(f"screens: FAILED {title}: {why}")
    print(f"screens: {passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
