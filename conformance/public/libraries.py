#!/usr/bin/env python3
"""Loads every file of jslib.k6.io with k6 and with Plimsoll, runs that repository's own tests, and compares.

    K6_BIN=path/to/k6 BIN=path/to/plimsoll python3 conformance/public/libraries.py FOLDER [--mirror FOLDER]

Compared are what each file exports (names, types, numbers of parameters), and of the tests the checks with their passes
and fails, requests, and groups. Both run in the namespace of `run.py`; the services that tests ask are its server, so
that some checks fail, with both tools alike.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402

REPOSITORY = "grafana+jslib.k6.io"
SUITES = ("testSuite.js", "testSuiteBase.js", "totp.js")
LIMIT_S = 120
DETAILS_MAX = 10

# Prints a line per file. Values of one level are looked into: a library's default export is mostly an object.
EXPORTS = """
function show(value, depth) {
  if (typeof value === 'function') return 'f' + value.length;
  if (typeof value !== 'object' || value === null || depth > 0) return value === null ? 'null' : typeof value;
  return '{' + Object.keys(value).sort().map((key) => key + ':' + show(value[key], depth + 1)).join() + '}';
}
function load(name, exports) {
  try { console.log(name, show(exports(), -1)); } catch (error) { console.log(name, 'throws ' + String(error).split('\\n')[0]); }
}
exports.default = function () {};
"""


def lay_out(folder, mirror):
    """The repository's files, and a script that loads each of them."""
    root = folder / "jslib"
    root.mkdir(parents=True, exist_ok=True)
    command = ["git", "-c", "safe.directory=*", "--git-dir", mirror / REPOSITORY / "repo", "archive", "HEAD", "lib", "tests"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", root], input=archive, check=True)
    names = sorted(path.relative_to(root).as_posix() for path in (root / "lib").rglob("*.js") if not path.name.endswith(".src.js"))
    loads = "".join(f"load('{name}', () => require('./{name}'));\n" for name in names)
    (root / "exports.js").write_text(EXPORTS + loads)
    return root


def observe(binary, folder, script):
    """What a script printed, first lines by file, and what it counted."""
    with tempfile.TemporaryDirectory(dir=folder / "tmp") as cwd:
        out = pathlib.Path(cwd, "out.json")
        command = [binary, "run", "--quiet", "--no-color", "--no-usage-report", "--log-format", "raw", "--out", f"json={out}", script]
        env = {"PATH": "/usr/bin:/bin", "HOME": cwd, "SSL_CERT_FILE": str(folder / "ca" / "ca.pem"), "TZ": "UTC"}
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT_S)
        lines = (line.partition(" ") for line in done.stderr.splitlines() if line.startswith("lib/"))
        return {name: text for name, _, text in lines}, run.counted(out)


def report(title, k6, ours):
    """Prints how many of k6's facts are ours, too; returns whether all are."""
    different = sorted(name for name in {*k6, *ours} if k6.get(name) != ours.get(name))
    print(f"{title}: {len(k6) - sum(name in k6 for name in different)} of {len(k6)} equal")
    for name in different[:DETAILS_MAX]:
        print(f"  {name}: {str(k6.get(name))[:160]} → {str(ours.get(name))[:160]}")
    return not different


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--mirror", type=pathlib.Path, default=pathlib.Path("mirror"))
    chosen = arguments.parse_args()
    run.enter_namespace()
    folder = chosen.folder.resolve()
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    run.libraries(folder, chosen.mirror)
    run.furnish(folder)
    root = lay_out(folder, chosen.mirror)
    server = run.serve(folder)
    try:
        tools = (os.environ["K6_BIN"], os.environ["BIN"])
        (k6, _), (ours, _) = (observe(tool, folder, root / "exports.js") for tool in tools)
        same = [report("exports", k6, ours)]
        for suite in SUITES:
            (_, k6), (_, ours) = (observe(tool, folder, root / "tests" / suite) for tool in tools)
            for field in ("checks", "requests", "groups"):
                same.append(report(f"{suite} {field}", k6.get(field, {}), ours.get(field, {})))
    finally:
        server.terminate()
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
