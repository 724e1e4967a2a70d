#!/usr/bin/env python3
"""Runs tests of test262 with a k6-like tool: each as a script of its own, in a process of its own.

    BIN=path/to/tool python3 conformance/public/test262.py FOLDER-OF-TEST262 [--take N] [--jobs N] [--list FILE]

Of `test/language` and `test/built-ins` the first N by SHA-256 of the path are taken (0: all). A test is evaluated as global
code in an iteration, with its harness files; module tests are imported. Tests that need a host object (`$262`) or a
raw or non-blocking host are left out. `--list` writes the paths that fail.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

LIMIT_S = 30
SKIPPED_FLAGS = {"raw", "CanBlockIsTrue", "CanBlockIsFalse", "non-deterministic"}
ALWAYS = ["assert.js", "sta.js"]


def facts(text):
    """Flags, includes, the error expected and the features, from the comment at the top of a test."""
    head = re.search(r"/\*---(.*?)---\*/", text, re.S)
    head = head.group(1) if head else ""

    def several(name):
        if found := re.search(rf"^{name}:\s*\[(.*?)\]", head, re.M | re.S):
            return [word.strip() for word in found.group(1).split(",") if word.strip()]
        if found := re.search(rf"^{name}:\s*\n((?:\s+-.*\n?)+)", head, re.M):
            return re.findall(r"-\s*(\S+)", found.group(1))
        return []

    negative = re.search(r"^negative:\s*\n(?:.*\n)*?\s+type:\s*(\w+)", head, re.M)
    return several("flags"), several("includes"), negative and negative.group(1), several("features")


def wrapped(root, path, text, flags, includes):
    """The script, which prints PASS or what went wrong, and the file it is in."""
    names = ALWAYS + (["doneprintHandle.js"] if "async" in flags else []) + includes
    harness = "\n".join((root / "harness" / name).read_text() for name in names)
    prints = "globalThis.print = function (text) { console.log('PRINT ' + text); };"
    if "module" in flags:
        return (f"{prints}\n(0, eval)({json.dumps(harness)});\n", f"import './harness.js';\nimport {json.dumps(path.as_uri())};\n"
                "console.log('PASS');\nexport default function () {}\n")
    source = ('"use strict";\n' if "onlyStrict" in flags else "") + text
    return None, (f"module.exports.default = function () {{\n{prints}\n(0, eval)({json.dumps(harness)});\ntry {{\n"
                  f"(0, eval)({json.dumps(source)});\nconsole.log('PASS');\n}} catch (error) {{\n"
                  "console.log('THREW ' + (error && error.name) + ' ' + error);\n}\n};\n")


def passes(output, flags, negative):
    if negative:
        return f"THREW {negative} " in output or ("module" in flags and negative in output and "PASS" not in output)
    if "async" in flags:
        return "PRINT Test262:AsyncTestComplete" in output
    return "PASS" in output and "THREW" not in output


def attempt(binary, root, path, text, flags, includes, negative):
    harness, script = wrapped(root, path, text, flags, includes)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "main.js").write_text(script, errors="surrogatepass")
        if harness:
            pathlib.Path(folder, "harness.js").write_text(harness)
        command = [binary, "run", "--quiet", "--no-color", "--no-usage-report", "--summary-mode=disabled", "main.js"]
        env = {"PATH": "/usr/bin:/bin", "HOME": folder}
        try:
            run = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return False
    return passes((run.stdout + run.stderr).decode(errors="replace"), flags, negative)


def tests(root, take):
    """The tests to run, and how many were left out."""
    found, left_out = [], 0
    for part in ("language", "built-ins"):
        for path in (root / "test" / part).rglob("*.js"):
            if "_FIXTURE" not in path.name:
                found.append((hashlib.sha256(path.relative_to(root).as_posix().encode()).hexdigest(), path))
    chosen = []
    for _, path in sorted(found):
        text = path.read_text(errors="surrogateescape")
        flags, includes, negative, features = facts(text)
        if "$262" in text or SKIPPED_FLAGS & set(flags) or any(name in ("detachArrayBuffer.js", "atomicsHelper.js") for name in includes):
            left_out += 1
            continue
        chosen.append((path, text, flags, includes, negative, features))
        if take and len(chosen) == take:
            break
    return chosen, left_out


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("root", type=pathlib.Path)
    arguments.add_argument("--take", type=int, default=0)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--list", type=pathlib.Path)
    chosen = arguments.parse_args()
    root = chosen.root.resolve()
    binary = os.environ["BIN"]
    taken, left_out = tests(root, chosen.take)
    counts, failed, by_feature = collections.Counter(), [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        tasks = {pool.submit(attempt, binary, root, path, text, flags, includes, negative): (path, features)
                 for path, text, flags, includes, negative, features in taken}
        for task in concurrent.futures.as_completed(tasks):
            path, features = tasks[task]
            part = path.relative_to(root / "test").parts[0]
            counts[part, "all"] += 1
            counts[part, "passed"] += task.result()
            if not task.result():
                failed.append(path.relative_to(root).as_posix())
                by_feature.update(features or ["no feature named"])
    for part in ("language", "built-ins"):
        print(f"{part}: {counts[part, 'passed']} of {counts[part, 'all']} passed")
    print(f"left out: {left_out}; failures by feature: {by_feature.most_common(25)}")
    if chosen.list:
        chosen.list.write_text("\n".join(sorted(failed)) + "\n")


if __name__ == "__main__":
    main()
