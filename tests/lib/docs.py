# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs what the documentation shows: python3 docs.py run|links|options ...

    run BUILD PAGE...      executes the pages' blocks; each page has a folder of its own
    links PAGE...          files and headings that links lead to
    options MANPAGE        options of `--help` on stdin against those of the man page

A page is run from top to bottom. A block is looked at by the first word after its ```:

    console   lines that begin as the first one does, with "$ " or "# ", are commands (a "\\" at the
              end goes on); the lines behind them are what they print, both streams. A line "..." stands for any lines,
              "..." in a line for any text. Numbers, times, sizes and paths of the machine count by
              their shape only. Lines of the tracer and lines of the program are compared each in
              their order: which come first is up to the machine. A status other than 0 fails, but
              not where the output says "error:" or the next command is "echo $?".
    sql       a query; sqlite3 has to accept it on a recording
    text, json, sh, or nothing      not executed
    c, cpp, python, ...             a file; its first line, a comment, is its name. A console block
                                    has to use it.

"needs=PROGRAM" behind the word skips, with a note, where that program (or file, or needs=python:MODULE) is not installed. The commands of
`<!-- before: ... -->`, not shown to readers, run before the next console block, in its shell.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = {"", "text", "json", "sh", "make"}
SECONDS = 60  # for one block
MARK = "\x01"


class Failed(Exception):
    pass


class Block:
    def __init__(self, line, words, body, before):
        self.line, self.kind, self.body, self.before = line, words[0] if words else "", body, before
        self.needs = [w[6:] for w in words if w.startswith("needs=")]


def blocks_of(page):
    """The fenced blocks of a page, with the hidden commands before them."""
    found, before, fence = [], [], None
    for n, line in enumerate(page.read_text().splitlines(), 1):
        hidden = re.match(r"<!-- before: (.*) -->$", line)
        if fence is not None:
            if line.strip() == "```":
                found.append(Block(fence[0], fence[1], body, before))
                if found[-1].kind == "console":
                    before = []
                fence = None
            else:
                body.append(line)
        elif line.startswith("```"):
            fence, body = (n, line[3:].split()), []
        elif hidden:
            before = before + [hidden[1]]
    if fence is not None:
        raise Failed(f"{page.name}:{fence[0]}: a block without an end")
    return found


def commands_of(body):
    """[(command, [expected lines])]; what comes before the first command is an error."""
    out, goes_on, prompt = [], False, body[0][:2] if body and body[0][:2] in ("$ ", "# ") else None
    for line in body:
        if goes_on:
            out[-1][0] += "\n" + line
        elif line[:2] == prompt:
            out.append([line[2:], []])
        elif not out:
            raise Failed(f"output before any command: {line!r}")
        else:
            out[-1][1].append(line)
            continue
        goes_on = line.endswith("\\")
    return out


WHERE = re.compile(r"^\s*N % .*\(of N faults? sampled, N in N\)$")


def shape(line, paths):
    for path, name in paths:
        line = line.replace(path, name)
    line = re.sub(r"(?<![\w.])-?\d[\d.,]*(?:e[-+]?\d+)?[kMG]?(?!\w)", "N", line)
    line = re.sub(r"\d+(?:\.\d+)?", "N", line)
    line = re.sub(r"\bN (ns|us|ms|s|min|h)\b", "TIME", line)
    return re.sub(r"\s+", " ", re.sub(r"[-─]{2,}", "--", line)).strip()


def is_tracers(line):
    return line.startswith(("peak RSS [", "peakphase:"))


def fits(expected, actual):
    """Lists of lines; "..." as a line is any number of lines, in a line any text."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(fits(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].split("..."))
    return bool(re.fullmatch(pattern, actual[0])) and fits(expected[1:], actual[1:])


def compare(expected, actual, paths):
    """Raises with both texts where they differ."""
    want, have = [[shape(line, paths) for line in lines] for lines in (expected, actual)]
    want, have = [[line for line in lines if line] for lines in (want, have)]
    # Which mappings took the faults is a sample, and no row need have one.
    sampled = [any(WHERE.match(line) for line in lines) for lines in (want, have)]
    if sampled[0] and not sampled[1]:
        raise Failed("no row has the mappings of its faults")
    want, have = [[line for line in lines if not WHERE.match(line)] for lines in (want, have)]
    for tracers in (True, False):
        w = [line for line in want if line == "..." or is_tracers(line) == tracers]
        h = [line for line in have if is_tracers(line) == tracers]
        # "..." of the other stream is allowed to match nothing of this one, but not to hide a line.
        if not fits(w, h):
            raise Failed("expected, in shape:\n  " + "\n  ".join(w) + "\nbut it printed:\n  " + "\n  ".join(h))


def environment(build, folder):
    """As after `make install`, but of the build tree."""
    env = dict(os.environ)
    env.update(
        PATH=f"{build}:/usr/bin:/bin:/usr/sbin:/sbin:" + env.get("PATH", ""),
        CPATH=f"{ROOT}/include",
        LIBRARY_PATH=str(build),
        LD_LIBRARY_PATH=str(build),
        PYTHONPATH=f"{build}/python",
        PYTHONDONTWRITEBYTECODE="1",
        LC_ALL="C.UTF-8",
        TMPDIR=str(folder),
        NO_COLOR="1",
        PEAKPHASE_BUILD=str(build),
    )
    env.pop("MAKEFLAGS", None)
    return env


def run_shell(script, folder, env):
    """What it printed, by MARK; its whole process group is ended with it."""
    out = folder / ".out"
    with open(out, "w") as f:
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=f, stderr=f, start_new_session=True
        )
        try:
            shell.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"not over after {SECONDS} s: " + out.read_text(errors="replace"))
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
    return out.read_text(errors="replace")


def run_console(block, build, folder, env):
    # `make demo` of this build, without compiling: other recipes are no commands of a page.
    prelude = f'make() {{ [ "$*" = demo ] || return 2; (cd {ROOT} && tools/demo.sh {build}); }}\n'
    prelude += "".join(f"{{ {c}\n}} >/dev/null 2>&1\n" for c in block.before)
    commands = commands_of(block.body)
    script = prelude + "".join(
        f"printf '\\n\\001%s\\n' {i}\n{command}\nstatus=$?; printf '\\n\\001status %s\\n' $status; (exit $status)\n"
        for i, (command, _) in enumerate(commands)
    )
    parts = run_shell(script, folder, env).split("\n" + MARK)[1:]
    if len(parts) != 2 * len(commands):
        raise Failed("the shell ended early:\n" + "\n".join(parts))
    paths = [(str(build) + "/", "build/"), (str(folder) + "/", ""), (str(ROOT) + "/", "")]
    for i, (command, expected) in enumerate(commands):
        printed = parts[2 * i].split("\n")[1:]
        status = int(parts[2 * i + 1].split()[1])
        told = any("error:" in line for line in expected) or (
            i + 1 < len(commands) and commands[i + 1][0].strip() == "echo $?"
        )
        if status and not told:
            raise Failed(f"{command}: status {status}\n" + "\n".join(printed))
        try:
            compare(expected, printed, paths)
        except Failed as e:
            raise Failed(f"{command}\n{e}") from None


def run_sql(block, folder, env):
    if not (folder / ".sql.peak").exists():
        run_shell("peakphase run -q -o .sql.peak -- true", folder, env)
    query = subprocess.run(
        ["sqlite3", "-readonly", folder / ".sql.peak"], input="\n".join(block.body), capture_output=True, text=True, env=env
    )
    if query.returncode or query.stderr:
        raise Failed(f"sqlite3 refuses the query: {query.stderr}")


def save(block, folder):
    """The file that a block of code is; its name."""
    name = re.match(r"(?:/\*|//|#)\s*([\w.-]+\.\w+)\b", block.body[0] if block.body else "")
    if not name:
        raise Failed("a block of code without its file's name in the first line")
    (folder / name[1]).write_text("\n".join(block.body) + "\n")
    return name[1]


def is_there(need, env):
    if need.startswith("python:"):
        python = shutil.which("python", path=env["PATH"])
        return bool(python) and subprocess.run([python, "-c", f"import {need[7:]}"], env=env, stderr=subprocess.DEVNULL).returncode == 0
    return os.path.exists(need) or bool(shutil.which(need, path=env["PATH"]))


def run_page(page, build):
    blocks = blocks_of(page)
    counts = {"run": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="peakphase-docs-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        shutil.copytree(ROOT / "examples", folder / "examples")
        env = environment(build, folder)
        for i, block in enumerate(blocks):
            try:
                if not all(is_there(need, env) for need in block.needs):
                    counts["skipped"] += 1
                    print(f"# {page.name}:{block.line}: not run, no {' '.join(block.needs)} here")
                elif block.kind == "console":
                    run_console(block, build, folder, env)
                    counts["run"] += 1
                elif block.kind == "sql":
                    run_sql(block, folder, env)
                    counts["run"] += 1
                elif block.kind not in SHOWN:
                    name = save(block, folder)
                    if not any(b.kind == "console" and name in "\n".join(b.body) for b in blocks[i:]):
                        raise Failed(f"{name} is used by no console block behind it")
            except Failed as e:
                raise Failed(f"{page.name}:{block.line}: {e}") from None
    return counts


def slug(heading):
    """As the sites that show Markdown make anchors of headings."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def check_links(page):
    bad = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            bad.append(f"{page.name}: {target}: there is no such file")
        elif anchor and anchor not in {slug(h) for h in re.findall(r"^#+ (.*)$", to.read_text(), re.M)}:
            bad.append(f"{page.name}: {target}: there is no such heading")
    if bad:
        raise Failed("\n".join(bad))


def options_of_help(text):
    heads = [re.split(r"\s{2,}", line.strip())[0] for line in text.splitlines() if re.match(r"\s+-", line)]
    return {o for head in heads for o in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", head)}


def options_of_man(text):
    section = re.search(r"^\.SH OPTIONS\n(.*?)(?=^\.SH)", text, re.M | re.S)
    tags = re.findall(r"^\.TP\n(.*)$|^\.TQ\n(.*)$", section[1] if section else "", re.M)
    return {o for a, b in tags for o in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", (a or b).replace("\\-", "-"))}


def check_options(page, help_text):
    man, said = options_of_man(page.read_text()), options_of_help(help_text)
    if not said or man != said:
        raise Failed(f"{page.name}: only in --help: {sorted(said - man)}; only in the man page: {sorted(man - said)}")


def main(how, *args):
    if how == "run":
        build = pathlib.Path(args[0]).resolve()
        for page in args[1:]:
            print(json.dumps({page: run_page(pathlib.Path(page).resolve(), build)}))
    elif how == "links":
        for page in args:
            check_links(pathlib.Path(page).resolve())
    else:
        check_options(pathlib.Path(args[0]), sys.stdin.read())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failed as e:
        sys.exit(str(e))
