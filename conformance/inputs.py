#!/usr/bin/env python3
"""Gives the program bad input, and checks what it prints, how it ends and how much memory it takes.

    BIN=path/to/plimsoll BIN_COMMIT=its-commit SERVER_BIN=path/to/testkit python3 conformance/inputs.py [--only WORD] [--write]

Needs Python 3 without packages and 600 MB on the disk for the recording of 500 MB. `--write` puts the table into docs/reliability.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
PROTOS = pathlib.Path(__file__).resolve().parents[1] / "crates" / "testkit" / "proto"
MIB = 1 << 20
HAR_BYTES = 500_000_000
SECRETS = {
    "password": "hunter2-very-secret", "session": "8f14e45fceea167a5a36dedd4bea2543", "key": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
    "basic": "YW5uOmh1bnRlcjItdmVyeS1zZWNyZXQ=", "card": "4111111111111111", "client": "cs_live_a1b2c3d4e5f6",
}

LOADS = """import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([], 'it.proto');
export default function () {}
"""
REFLECTS = """import grpc from 'k6/net/grpc';
const client = new grpc.Client();
export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true, reflectMetadata: { 'x-reflection': 'none' }, timeout: '3s' });
}
"""
ENDLESS_CALL = """import grpc from 'k6/net/grpc';
import { sleep } from 'k6';
const client = new grpc.Client();
client.load([PROTOS], 'testkit/echo.proto');
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '5s', gracefulStop: '1s' } } };
export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const stream = new grpc.Stream(client, 'testkit.Echo/ServerStream');
  stream.on('data', () => WORK);
  stream.write({ count: -1, payloadBytes: 1000 });
}
"""
ENDLESS_EVENTS = """import stream from 'plimsoll/stream';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '5s', gracefulStop: '1s' } } };
export default function () {
  const events = stream.get(`${__ENV.URL}/events?count=1000000000&bytes=1000`, { timeout: '60s' });
  for (const event of events) if (event === undefined) break;
}
"""
ROWS = """import { rows } from 'plimsoll/data';
const users = rows('./users.csv', { order: 'unique' });
export default function () {
  try { console.log(`row ${JSON.stringify(users.next())}`); } catch (error) { console.log(`threw ${error}`); }
}
"""


def entry(method, url, headers, body=None, answer="{}"):
    request = {"method": method, "url": url, "httpVersion": "HTTP/1.1", "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0,
               "headers": [{"name": name, "value": value} for name, value in headers.items()]}
    if body:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(body)}
    content = {"size": len(answer), "mimeType": "application/json", "text": answer}
    response = {"status": 200, "statusText": "", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "content": content,
                "redirectURL": "", "headersSize": -1, "bodySize": len(answer)}
    return json.dumps({"startedDateTime": "2026-01-01T00:00:00Z", "time": 10, "request": request, "response": response, "cache": {},
                       "timings": {"send": 0, "wait": 10, "receive": 0}})


def recording(path, bytes_min, answer_bytes):
    """A recording of this size, with a secret in each request."""
    answer = json.dumps({"items": ["x" * 100] * (answer_bytes // 104)})
    written = 0
    with open(path, "w") as file:
        file.write('{"log":{"version":"1.2","creator":{"name":"t","version":"1"},"pages":[],"entries":[')
        number = 0
        while written < bytes_min:
            headers = {"Authorization": f"Bearer {SECRETS['github']}", "Cookie": f"sid={SECRETS['session']}"}
            text = entry("GET", f"http://shop.example/items/{number}", headers, answer=answer)
            written += file.write(("," if number else "") + text)
            number += 1
        file.write("]}}")


def with_secrets(path):
    entries = [
        entry("POST", "http://shop.example/login", {"Cookie": f"sid={SECRETS['session']}"}, {"user": "ann", "password": SECRETS["password"]}),
        entry("GET", f"http://shop.example/a?api_key={SECRETS['key']}", {"Authorization": f"Basic {SECRETS['basic']}"}),
        entry("GET", "http://shop.example/b", {"X-Api-Key": SECRETS["github"], "Authorization": f"Bearer {SECRETS['jwt']}"}),
        entry("POST", "http://shop.example/pay", {}, {"card": {"number": SECRETS["card"]}, "client_secret": SECRETS["client"]}),
    ]
    path.write_text('{"log":{"version":"1.2","pages":[],"entries":[' + ",".join(entries) + "]}}")


def openapi(schemas):
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/First"}}}}
    operation = {"requestBody": body, "responses": {"200": {"description": "ok"}}}
    return json.dumps({"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "http://shop.example"}],
                       "paths": {"/it": {"post": operation}}, "components": {"schemas": schemas}})


def recursive():
    first = {"type": "object", "required": ["left", "right"], "properties": {name: {"$ref": "#/components/schemas/First"} for name in ("left", "right")}}
    return openapi({"First": first})


def exploding():
    names = ["First", *(f"S{level}" for level in range(40))]
    members = lambda name: {f"p{nth}": {"$ref": f"#/components/schemas/{name}"} for nth in range(10)}
    return openapi({name: {"type": "object", "required": [f"p{nth}" for nth in range(10)], "properties": members(below)}
                    for name, below in zip(names, [*names[1:], "First"])})


class Case:
    """One bad input: its files, the command, the exit code, a part of what is printed, and the most memory that is allowed."""

    def __init__(self, name, files, command, code, says, mib=100):
        self.name, self.files, self.command, self.code, self.says, self.mib = name, files, command, code, says, mib


def cases():
    proto = lambda name, text, says: Case(name, {"it.js": LOADS, "it.proto": text}, "run it.js", 107, says)
    new = lambda name, file, content, code, says, mib=100: Case(name, {file: content}, f"new {file} -o it.js", code, says, mib)
    endless = lambda work: ENDLESS_CALL.replace("PROTOS", json.dumps(str(PROTOS))).replace("WORK", work)
    return [
        proto("a `.proto` file that ends too early", 'syntax = "proto3"; message A { string x = 1', "it.proto: "),
        proto("… whose import is missing", 'syntax = "proto3"; import "no/x.proto"; message A {}', 'import \\"no/x.proto\\" not found; add the folder'),
        proto("… that is not text", os.urandom(100_000), "it.proto: not UTF-8 text"),
        proto("… with 5,000 messages inside of each other", "message A {" * 5_000 + "}" * 5_000, "it.proto: more than 100 braces inside of each other"),
        Case("a gRPC server without reflection", {"it.js": REFLECTS}, "run it.js", 107, "the server has no reflection: load its .proto files"),
        Case("an endless gRPC stream", {"it.js": endless("1")}, "run it.js", 0, "grpc_streams_msgs_received"),
        Case("an endless gRPC stream, and a script that reads slowly", {"it.js": endless("sleep(0.5)")}, "run it.js", 0, "grpc_streams_msgs_received"),
        Case("an endless stream of events", {"it.js": ENDLESS_EVENTS}, "run it.js", 0, "stream_events", 150),
        new("a recording (HAR) of 500 MB", "it.har", lambda path: recording(path, HAR_BYTES, 400_000), 0, "wrote it.js", 150),
        new("… with 20,000 requests", "it.har", lambda path: recording(path, 20_000_000, 10), 255, "record less, or keep a part: jq", 150),
        new("… that ends in the middle", "it.har", '{"log":{"entries":[' + entry("GET", "http://shop.example/", {}) + ',{"requ', 0, "the file ends in the middle"),
        new("… with eight kinds of secrets", "it.har", with_secrets, 0, "CARD_NUMBER (field number of POST /pay)"),
        new("an OpenAPI schema that contains itself", "it.json", recursive(), 0, "a value is too deep or too large; it ends with null"),
        new("an OpenAPI schema of 10^40 values", "it.json", exploding(), 0, "a value is too deep or too large; it ends with null"),
        Case("a data file with ragged rows", {"it.js": ROWS, "users.csv": "name,age\nAnn,30\nBob\nCy,22,x\nDi,9\n"}, "run -i 4 it.js", 0,
             "users.csv, line 3: 1 field, and the header has 2"),
    ]


def write(path, content):
    if callable(content):
        # In a process of its own: a child's peak memory is at least that of the process that started it.
        if (child := os.fork()) == 0:
            content(path)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, f"write {path}"
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)


def run(binary, url, case):
    """Runs a case in a folder of its own. Returns its output, exit code, seconds and MiB, and the secrets that it wrote down."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in case.files.items():
            write(folder / file, content)
        words = case.command.split()
        flags = ["--no-store", "--no-color", "-e", f"URL={url}", "-e", f"ADDRESS={url.removeprefix('http://')}"] if words[0] == "run" else []
        with open(folder / "printed", "wb") as printed:
            process = subprocess.Popen([binary, *words[:1], *flags, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)
            killer = threading.Timer(300, process.kill)
            killer.start()
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
        written = [path for path in folder.iterdir() if path.name not in case.files]
        text = "".join(path.read_text(errors="replace") for path in written)
        kept = [kind for kind, secret in SECRETS.items() if secret in text]
        code = os.waitstatus_to_exitcode(status)
        return (folder / "printed").read_text(errors="replace"), code, usage.ru_maxrss / 1024, kept


def judged(case, printed, code, mib, kept):
    """What is wrong."""
    wrong = [] if code == case.code else [f"exit code {code}, expected {case.code}"]
    if case.says not in printed and case.says.replace('\\"', '"') not in printed:
        wrong.append(f"does not say: {case.says}")
    if mib > case.mib:
        wrong.append(f"{mib:.0f} MiB, at most {case.mib} are allowed")
    return wrong + [f"wrote a secret down: {kind}" for kind in kept]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="", help="only cases whose name has this word")
    arguments.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    chosen = arguments.parse_args()
    server = subprocess.Popen([os.environ["SERVER_BIN"], "serve", "--ignore-stdin"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    rows, failed = [], 0
    try:
        for case in cases():
            if chosen.only not in case.name:
                continue
            printed, code, mib, kept = run(os.path.realpath(os.environ["BIN"]), url, case)
            wrong = judged(case, printed, code, mib, kept)
            failed += bool(wrong)
            print(f"{'; '.join(wrong) or 'as expected'}: {case.name}, exit code {code}, {mib:.0f} MiB", flush=True)
            if wrong:
                print(printed[-2000:])
            says = case.says.replace('\\"', '"').replace("|", "\\|")
            rows.append(f"| {case.name} | `{case.command}` | {code} | {mib:.0f} MiB | {says} |")
    finally:
        server.terminate()
    if failed:
        return 1
    if chosen.write:
        head = f"Plimsoll at commit {os.environ.get('BIN_COMMIT', 'unknown')}, {datetime.date.today()}:"
        table = "\n".join([head, "", "| Input | Command | Exit code | Peak memory | Part of the output |", "|---|---|--:|--:|---|", *rows])
        before, rest = PAGE.read_text().split("<!-- inputs: begin -->\n")
        after = rest.split("<!-- inputs: end -->")[1]
        PAGE.write_text(f"{before}<!-- inputs: begin -->\n{table}\n<!-- inputs: end -->{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
