#!/usr/bin/env python3
"""Runs the load, stress and spike scripts of web34-moheyum, unmodified, against the stand-in beside this file.

    BIN=path/to/plimsoll python3 conformance/real/run.py FOLDER-OF-THE-SCRIPTS

Stages are shortened by flags and the host is mapped by a configuration file, so that the files stay as they are. Exits with 1
unless, for each script, sent = seen = `http_reqs`, every iteration made its four requests, and none failed.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HOST = "dev.moheyum.ga"
MAX_LOG_CHARACTERS = 4000
STAGES = ["2s:10", "3s:10", "1s:20", "2s:20", "1s:0"]
# What one iteration requests; the identity of the post is drawn by the script.
PER_ITERATION = {
    "GET /api/post/newsfeed 200": 1,
    "GET /api/post/POST 200": 1,
    "GET /api/user/rkskekfk 200": 1,
    "GET /api/follow/list/following/author1 200": 1,
}
ONCE = {"POST /api/auth/signin 201": 1}


def certificate(folder):
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"]
    command += ["-addext", f"subjectAltName=DNS:{HOST}", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def by_name(pairs):
    counts = collections.Counter()
    for name, count in pairs:
        counts[re.sub(r"/post/post\d", "/post/POST", name)] += count
    return dict(sorted(counts.items()))


def counted(path):
    """Requests by method, path and status, iterations, and failures, from `--out json`."""
    requests, totals = collections.Counter(), collections.Counter()
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry["type"] != "Point":
            continue
        value, tags = entry["data"]["value"], entry["data"].get("tags") or {}
        if entry["metric"] == "http_reqs":
            place = tags["name"].removeprefix(f"https://{HOST}")
            requests[f"{tags['method']} {place} {tags['status']}"] += int(value)
        if entry["metric"] in ("iterations", "http_req_failed", "checks"):
            totals[entry["metric"]] += int(value)
    return by_name(requests.items()), totals


def run(binary, script, scripts):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(scripts / f"{script}.js", folder)
        shutil.copy(scripts / "user.sample.json", folder / "user.json")
        certificate(folder)
        server = subprocess.Popen(
            [sys.executable, HERE / "server.py", "cert.pem", "key.pem"],
            cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        port = server.stdout.readline().strip()
        command = [binary, "run", "--quiet", "--insecure-skip-tls-verify", "--out", "json=out.json"]
        command += [word for stage in STAGES for word in ("--stage", stage)]
        # k6 reads `hosts` from a configuration file, not from K6_HOSTS.
        (folder / "config.json").write_text(json.dumps({"hosts": {HOST: f"127.0.0.1:{port}"}}))
        command += ["--config", "config.json", f"{script}.js"]
        with open(folder / "log.txt", "w") as log:
            code = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log).returncode
        tail = (folder / "log.txt").read_text()[-MAX_LOG_CHARACTERS:]
        seen = by_name(json.loads(server.communicate()[0]).items())
        requests, totals = counted(folder / "out.json")
    iterations = totals["iterations"]
    expected = dict(sorted({**ONCE, **{name: count * iterations for name, count in PER_ITERATION.items()}}.items()))
    agrees = code == 0 and seen == requests == expected and totals["http_req_failed"] == 0 and iterations > 0
    print(f"{script}: exit {code}, {iterations} iterations, {sum(requests.values())} requests,"
          f" {totals['http_req_failed']} failed: {'as k6' if agrees else 'DIFFERS'}")
    if not agrees:
        print(tail)
        print(f"  server saw {seen}\n  http_reqs  {requests}\n  expected   {expected}")
    return agrees


def main():
    scripts = pathlib.Path(sys.argv[1]).resolve()
    results = [run(os.path.abspath(os.environ["BIN"]), script, scripts) for script in ("load", "stress", "spike")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
