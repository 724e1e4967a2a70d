#!/usr/bin/env python3
"""Runs the gRPC examples of k6 and of its documentation with k6 and with Plimsoll, and compares what they did.

    K6_BIN=path/to/k6 BIN=path/to/plimsoll python3 conformance/public/grpc_examples.py FOLDER --mirror FOLDER [--write]

The mirror has the git directories of `grafana/k6`, `grafana/k6-docs` and `grafana/quickpizza`, as for `run.py`. The examples' own
server (`examples/grpc_server` in k6's repository) is compiled with Go and answers at port 10000; every other address leads to
`catchall.py`. Compared are exit codes, iterations, checks, names of metrics, calls with their status, messages of streams, and all that
the scripts print. `--write` puts the table into docs/conformance.md.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run
import table

K6, DOCS, PIZZA = "grafana/k6", "grafana/k6-docs", "grafana/quickpizza"
PAGES = ["javascript-api/k6-net-grpc", "using-k6/protocols/grpc.md", "testing-guides/performance-testing-grpc-services.md"]
ROUTES = "internal/lib/testutils/grpcservice/route_guide.proto"
SERVER_PORT = 10000
BLOCK = re.compile(r"^[ ]*```javascript\n(.*?)^[ ]*```", re.S | re.M)
# Where the examples look for the types of the two services.
ROUTE_PLACES = ["grpc_server/route_guide.proto", "docs/examples/route_guide.proto", "docs/examples/routeguide.proto"]
PIZZA_PLACES = ["docs/examples/quickpizza.proto", "docs/examples/definitions/quickpizza.proto"]


def read(mirror, repository, path):
    return subprocess.run(["git", "--git-dir", history(mirror, repository), "show", f"HEAD:{path}"], check=True, capture_output=True).stdout


def history(mirror, repository):
    return mirror / repository.replace("/", "+") / "repo"


def listed(mirror, repository, *places):
    command = ["git", "--git-dir", history(mirror, repository), "ls-tree", "-r", "--name-only", "HEAD", *places]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def build_server(mirror, folder):
    """The examples' server, out of k6's sources."""
    with tempfile.TemporaryDirectory(dir=folder) as sources:
        archive = subprocess.run(["git", "--git-dir", history(mirror, K6), "archive", "HEAD", "--", ".", ":!vendor"], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", sources], input=archive.stdout, check=True)
        files = sorted(pathlib.Path(sources, "examples/grpc_server").glob("*.go"))
        subprocess.run(["go", "build", "-mod=mod", "-o", folder / "grpc_server", *files], cwd=sources, check=True)


def put(tree, path, content):
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_bytes(content)


def lay_out(mirror, folder, version):
    """Writes the scripts with the files that they read; returns their repositories and paths."""
    shutil.rmtree(folder / "tree", ignore_errors=True)
    shutil.rmtree(folder / "work", ignore_errors=True)
    scripts = []
    own = folder / "tree" / K6.replace("/", "+")
    routes = read(mirror, K6, ROUTES)
    # One of the examples looks for it where it was before.
    for place in (ROUTES, ROUTES.removeprefix("internal/")):
        put(own, place, routes)
    for path in listed(mirror, K6, "examples/"):
        if re.fullmatch(r"examples/grpc_\w+\.js", path):
            put(own, path, read(mirror, K6, path))
            scripts.append((K6, path))
    documented = folder / "tree" / DOCS.replace("/", "+")
    for place in ROUTE_PLACES:
        put(documented, place, routes)
    for place in PIZZA_PLACES:
        put(documented, place, read(mirror, PIZZA, "proto/quickpizza.proto"))
    fragments = 0
    root = f"docs/sources/k6/{version}"
    for page in listed(mirror, DOCS, *(f"{root}/{page}" for page in PAGES)):
        blocks = [block for block in BLOCK.findall(read(mirror, DOCS, page).decode()) if "k6/net/grpc" in block]
        for number, block in enumerate(blocks, start=1):
            if "export default" not in block:
                fragments += 1
                continue
            name = page.removeprefix(f"{root}/").removesuffix(".md").replace("/", "-")
            put(documented, f"docs/examples/{name}-{number}.js", block.encode())
            scripts.append((DOCS, f"docs/examples/{name}-{number}.js"))
    return [{"repository": repository, "path": path} for repository, path in scripts], fragments


COUNTED = run.counted
LOGGED = run.logged


def counted(path):
    """What other samples compare, and calls and streams."""
    seen = COUNTED(path)
    calls = collections.Counter()
    if not path.exists():
        return seen
    for line in path.read_text(errors="replace").splitlines():
        entry = json.loads(line)
        if entry["type"] != "Point":
            continue
        tags, name = entry["data"].get("tags") or {}, entry["metric"]
        if name == "grpc_req_duration":
            calls[f"{tags.get('name', '')} {tags.get('status', '')}"] += 1
        elif name.startswith("grpc_streams"):
            calls[name] += int(entry["data"]["value"])
    return {**seen, "calls": dict(sorted(calls.items()))}


def printed(stderr):
    """How often the script printed each line; objects in one order of their fields."""
    lines = collections.Counter()
    for line in stderr.splitlines():
        if found := re.search(r'\blevel=\w+ msg=("(?:[^"\\]|\\.)*"|\S+) .*source=console', line):
            text = json.loads(found.group(1)) if found.group(1).startswith('"') else found.group(1)
            try:
                text = json.dumps(json.loads(text), sort_keys=True)
            except json.JSONDecodeError:
                pass
            lines[f"printed {text}"] += 1
    return dict(lines)


def render(versions, results, fragments, documentation):
    rows = [("k6's repository", [result for result in results if result["repository"] == K6]),
            (f"documentation of {documentation}", [result for result in results if result["repository"] == DOCS])]
    started = [result for result in results if table.could_start(result)]
    lines = [f"{versions['k6'].split(' (')[0]}, Plimsoll at commit {versions['commit']}.", "",
             "| Examples | | Equal | Equal with `--compat strict` |", "|---|--:|--:|--:|"]
    for name, some in [*rows, ("of these, k6 runs them", started)]:
        lines.append(f"| {name} | {len(some)} | {table.share(some, 'differs')} | {table.share(some, 'strict_differs')} |")
    unequal = [result for result in results if table.verdict(result) != "equal"]
    if unequal:
        lines += ["", "| Example | k6 → ours | Cause |", "|---|---|---|"]
        reasons = json.loads((table.HERE / "reasons.json").read_text())
        lines += [f"| `{result['path']}` | {table.details(result)} | {table.cause(result, reasons)} |" for result in unequal]
    return "\n".join([*lines, "", f"{fragments} further blocks of code are parts of a script, and run with no tool."])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--mirror", type=pathlib.Path, default=pathlib.Path("mirror"), help="git directories of the repositories")
    arguments.add_argument("--documentation", default="v1.7.x", help="version of k6's documentation")
    arguments.add_argument("--write", action="store_true", help="write the table into docs/conformance.md")
    chosen = arguments.parse_args()
    folder = chosen.folder.resolve()
    for name in ("k6", "ours", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not os.environ.get("SAMPLE_INSIDE"):
        build_server(chosen.mirror.resolve(), folder)
    run.enter_namespace()
    scripts, fragments = lay_out(chosen.mirror.resolve(), folder, chosen.documentation)
    run.furnish(folder, own_ports=[SERVER_PORT])
    run.counted, run.logged = counted, lambda stderr: {**LOGGED(stderr), **printed(stderr)}
    run.prepare(folder, scripts)
    k6, binary = os.environ["K6_BIN"], os.environ["BIN"]
    versions = {"k6": run.version(k6, "version"), "plimsoll": run.version(binary, "--version"), "commit": run.commit()}
    servers = [run.serve(folder), subprocess.Popen([folder / "grpc_server", f"-port={SERVER_PORT}"], stderr=subprocess.DEVNULL)]
    results = []
    try:
        for script in scripts:
            result = run.judge(folder, script, k6, binary, versions["k6"])
            results.append(result)
            first = next(iter({**result["differs"], **result["logs"]}.items()), "")
            print(f"{table.verdict(result)} {result['path']} exit {result['k6']['exit']} {result['seconds']} {first}", flush=True)
    finally:
        for server in servers:
            server.terminate()
    (folder / "results.json").write_text(json.dumps({"versions": versions, "results": results}, indent=1))
    print(table.headline(results))
    if chosen.write:
        text = render(versions, results, fragments, chosen.documentation)
        table.write(table.HERE.parents[1] / "docs" / "conformance.md", "grpc-examples", text)


if __name__ == "__main__":
    sys.exit(main())
