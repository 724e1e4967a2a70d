#!/usr/bin/env python3
"""Runs Web Platform Tests that need no browser with a k6-like tool: each file as a script of its own, in a process of its own.

    BIN=path/to/tool python3 conformance/public/wpt.py FOLDER-OF-WPT [--jobs N] [--only TEXT] [--out FILE]
    python3 conformance/public/wpt.py --compare OURS K6

Of `WebCryptoAPI`, `streams` and `url` every `.any.js` and `.worker.js` is run with the suite's own testharness.js, as in a
shell. Left out are tests of interface definitions (which need a parser of them) and of garbage collection. `--out` writes
what each case of each file came to. `--compare` prints the table: a file has as many cases as the tool that came farther has named,
so that a file which ends early fails with what it did not reach.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

LIMIT_S = 240
PATIENCE_MS = 60_000
PARTS = ("WebCryptoAPI", "streams", "url")
LEFT_OUT = ("idlharness", "garbage-collection", "historical")

# k6 has streams in a module only.
GLOBALS = """
const streams = require('k6/experimental/streams');
for (const name of Object.keys(streams)) if (!(name in globalThis)) globalThis[name] = streams[name];
"""

# What a worker has and a script has not. Tests are told of their own files only.
BEFORE = """
globalThis.self = globalThis;
self.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
self.isSecureContext = true;
const files = %(files)s;
const resolve = (path) => {
  const parts = path.startsWith('/') ? [] : '%(folder)s'.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part && part !== '.') parts.push(part);
  }
  return parts.join('/');
};
self.importScripts = (...paths) => paths.map(resolve).filter((path) => path !== 'resources/testharness.js').forEach((path) => (0, eval)(files[path]));
(0, eval)(files['resources/testharness.js']);
// The harness takes what has a location for a browser.
self.location = { search: '', pathname: '/%(path)s', href: 'https://web-platform.test/%(path)s', origin: 'https://web-platform.test' };
// One case that waits for ever must not hide the others.
const patience = setTimeout(timeout, %(patience)s);
add_completion_callback((tests) => {
  clearTimeout(patience);
  for (const { name, status, message } of tests) console.log('CASE ' + JSON.stringify([name, status, String(message).slice(0, 300)]));
  console.log('END');
});
"""


def scripts_of(root, path, text):
    """The files that a test asks for, in order: by `META: script`, and by `importScripts` at any depth."""
    meta = re.findall(r"^// META: script=(\S+)", text, re.M)
    wanted, seen, queue = [], {}, [(path.parent, name) for name in meta]
    queue += [(path.parent, name) for line in re.findall(r"importScripts\(([^)]*)\)", text) for name in re.findall(r"['\"]([^'\"]+)['\"]", line)]
    while queue:
        folder, name = queue.pop(0)
        found = (root / name.lstrip("/") if name.startswith("/") else folder / name).resolve()
        relative = found.relative_to(root).as_posix()
        if relative not in seen and found.exists():
            seen[relative] = found.read_text()
    wanted = [(root / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve().relative_to(root).as_posix() for name in meta]
    return wanted, seen


def script(root, path):
    text = path.read_text()
    meta, files = scripts_of(root, path, text)
    # Helpers are evaluated one by one, and what they declare is for those that follow.
    for name in meta:
        sloppy = re.sub(r"^['\"]use strict['\"];", "", files[name], flags=re.M)
        sloppy = re.sub(r"^class (\w+)", r"var \1 = class \1", sloppy, flags=re.M)
        files[name] = re.sub(r"^(?:const|let) ", "var ", sloppy, flags=re.M)
    files["resources/testharness.js"] = (root / "resources/testharness.js").read_text()
    relative = path.relative_to(root)
    facts = {"path": relative.as_posix(), "folder": relative.parent.as_posix(), "files": json.dumps(files), "patience": PATIENCE_MS}
    loads = "".join(f"(0, eval)(files[{json.dumps(name)}]);\n" for name in meta if "testharness" not in name)
    return f"{GLOBALS}module.exports.default = function () {{\n{BEFORE % facts}\n{loads}(0, eval)({json.dumps(text)});\n}};\n"


def attempt(binary, root, path):
    """The cases of a file by name, each true or false; and whether the file came to its end."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "main.js").write_text(script(root, path), errors="surrogatepass")
        command = [binary, "run", "--quiet", "--no-color", "--no-usage-report", "--summary-mode=disabled", "main.js"]
        env = {"PATH": "/usr/bin:/bin", "HOME": folder}
        try:
            run = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
            output = run.stdout + run.stderr
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"") + (expired.stderr or b"")
    cases, why, ended = {}, {}, False
    for line in output.decode(errors="replace").splitlines():
        found = re.search(r'msg=("(?:[^"\\]|\\.)*"|\S+)', line)
        try:
            said = json.loads(found.group(1)) if found and found.group(1).startswith('"') else found.group(1) if found else ""
        except ValueError:
            continue
        if said == "END":
            ended = True
        elif said.startswith("CASE "):
            name, status, message = json.loads(said[5:])
            # Names may repeat; such a case passes when all of its name do.
            cases[name] = cases.get(name, True) and status == 0
            if status != 0:
                why[name] = message
    if not ended:
        why["(file)"] = output.decode(errors="replace")[-600:]
    return cases, why, ended


def run(chosen):
    root, binary = chosen.root.resolve(), os.environ["BIN"]
    paths = [path for part in PARTS for kind in ("*.any.js", "*.worker.js") for path in (root / part).rglob(kind)]
    paths = [path for path in paths if not any(word in path.name for word in LEFT_OUT) and chosen.only in path.as_posix()]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        tasks = {pool.submit(attempt, binary, root, path): path for path in paths}
        for task in concurrent.futures.as_completed(tasks):
            name = tasks[task].relative_to(root).as_posix()
            cases, why, ended = task.result()
            results[name] = {"cases": cases, "why": why, "ended": ended}
            print(f"{name}: {sum(cases.values())} of {len(cases)}{'' if ended else ', cut short'}", flush=True)
    if chosen.out:
        chosen.out.write_text(json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False) + "\n")


def compare(ours, theirs):
    counts = collections.defaultdict(collections.Counter)
    for name in sorted(set(ours) | set(theirs)):
        one, two = (result.get(name, {"cases": {}})["cases"] for result in (ours, theirs))
        parts = name.split("/")
        count = counts["/".join(parts[:2]) if parts[0] != "url" else "url"]
        count["all"] += max(len(one), len(two), 1)
        count["ours"] += sum(one.values())
        count["theirs"] += sum(two.values())
    print("| | Cases | Plimsoll | k6 v2.2.0 |\n|---|--:|--:|--:|")
    for part, count in counts.items():
        share = lambda key: f"{count[key]:,} ({100 * count[key] / count['all']:.1f} %)"
        print(f"| `{part}` | {count['all']:,} | {share('ours')} | {share('theirs')} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("root", type=pathlib.Path, nargs="?")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--out", type=pathlib.Path)
    arguments.add_argument("--compare", type=pathlib.Path, nargs=2)
    chosen = arguments.parse_args()
    if chosen.compare:
        compare(*(json.loads(path.read_text()) for path in chosen.compare))
    else:
        run(chosen)


if __name__ == "__main__":
    main()
