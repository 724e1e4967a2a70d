#!/usr/bin/env python3
"""Records what k6 counts and prints for every case, so that the comparison needs no k6.

    K6_BIN=path/to/k6 SERVER_BIN=path/to/testkit ALONE_BIN=path/to/alone python3 conformance/record.py [--check] [case ...]

Writes `expected/<case>.json`. With `--check` nothing is written: each case is run again and differences are printed,
which shows whether a case is deterministic. `crates/plimsoll/tests/conformance.rs` observes a run in the same way;
change the two together (running it with PLIMSOLL_BIN set to k6 proves that they agree).
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
EXPECTED = HERE / "expected"
CASE_TIMEOUT_S = 60
# `ca=`, `client_certificate=` and `client_key=`, after the address.
TLS_FACTS = 3

# Their values are sampled by the clock or depend on the tool's own name in `User-Agent`.
UNCOUNTED = {"vus", "vus_max", "data_sent", "data_received"}


class Header:
    """The `//! key: value` lines at the top of a case."""

    def __init__(self, text):
        self.args, self.env, self.says = [], {}, []
        self.unordered = self.summary = self.stdin = False
        self.signals_ms, self.ignored, self.script, self.tls, self.documented = [], [], None, None, None
        self.service = None
        for line in text.splitlines():
            if not line.startswith("//"):
                break
            if not line.startswith("//! "):
                continue
            key, _, value = line[4:].partition(":")
            value = value.strip()
            if key == "args":
                self.args += value.split()
            elif key == "env":
                name, _, content = value.partition("=")
                self.env[name] = content
            elif key == "says":
                self.says.append(value)
            elif key == "ignore":
                self.ignored.append(value)
            elif key == "tls":
                self.tls = value.split()
            elif key == "service":
                self.service = value
            elif key == "ours":
                pass
            elif key == "script":
                self.script = value
            elif key == "documented":
                self.documented = value
            elif key == "signal":
                self.signals_ms.append(int(value))
            elif key in ("unordered", "summary", "stdin"):
                setattr(self, key, True)
            else:
                raise SystemExit(f"unknown header line: {line}")


def logfmt(line):
    """One `key=value key="quoted value"` line as a dict, or None. An empty message has no `msg`."""
    fields = {}
    for match in re.finditer(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line):
        value = match.group(2)
        fields[match.group(1)] = json.loads(value) if value.startswith('"') else value
    return fields if "level" in fields else None


def normalise(text, bases):
    """Takes the servers' ports and the machine's paths out of a text."""
    for base, name in zip(bases, ("BASE", "TLS_BASE", "//SERVICE", "//")):
        if base:
            text = text.replace(base, name).replace(base.split("//")[1], name[2:] if name.startswith("//") else "HOST")
    text = text.replace(CASES.as_uri(), "CASES").replace(str(CASES), "CASES")
    return re.sub(r"127\.0\.0\.1:\d{5}->", "CLIENT->", text)


def number(value):
    """A float as short as JSON allows, so that 3.0 and 3 are one."""
    return int(value) if float(value).is_integer() else value


def worth(kind, contains, builtin, values):
    """What of a series' values must be equal in every run."""
    if kind == "counter":
        return {"count": len(values), "sum": number(round(sum(values), 6))}
    if kind == "rate":
        passes = sum(1 for value in values if value != 0)
        return {"passes": passes, "fails": len(values) - passes}
    if kind == "gauge":
        return {"values": sorted(number(value) for value in set(values))}
    if builtin or contains == "time":
        return {"count": len(values)}
    return {"count": len(values), "sum": number(round(sum(values), 6))}


def samples_of(path, base):
    """`metric{tag:value,…}` → what its samples are worth."""
    metrics, series = {}, {}
    if not path.exists():
        return {}
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        name, data = entry["metric"], entry["data"]
        if entry["type"] == "Metric":
            metrics[name] = (data["type"], data["contains"])
            continue
        if name in UNCOUNTED:
            continue
        tags = ",".join(f"{key}:{value}" for key, value in sorted((data.get("tags") or {}).items()))
        key = normalise(f"{name}{{{tags}}}", base)
        series.setdefault(key, (name, []))[1].append(data["value"])
    builtin = lambda name: name.startswith(("http_req", "iteration", "group_duration"))
    return {key: worth(*metrics[name], builtin(name), values) for key, (name, values) in sorted(series.items())}


@contextlib.contextmanager
def serving(*flags):
    """Runs the test server; gives its address and the facts it prints about itself."""
    command = [os.environ["SERVER_BIN"], "serve", *flags]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip().rstrip("/")
        facts = dict(server.stdout.readline().strip().split("=", 1) for _ in range(TLS_FACTS if "--tls" in flags else 0))
        yield address, facts
    finally:
        server.stdin.close()
        server.wait()


@contextlib.contextmanager
def service(name):
    """Runs a server of the lab; gives its address."""
    server = subprocess.Popen([os.environ["ALONE_BIN"], name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.stdin.close()
        server.wait()


def proxy_url(base):
    """The test server as a proxy, which answers whatever the host is."""
    return base.replace("://", "://user:password@")


def observe(binary, case, base):
    """Runs a case and returns what is compared."""
    header = Header(case.read_text())
    if header.service:
        with service(header.service) as address:
            return observe_with(binary, case, header, base, None, {}, address)
    if header.tls is None:
        return observe_with(binary, case, header, base, None, {})
    flags = [f"--{word}" for word in header.tls[1:]]
    with serving("--tls", "--identity", header.tls[0], *flags) as (tls_base, facts):
        return observe_with(binary, case, header, base, tls_base, facts)


def observe_with(binary, case, header, base, tls_base, facts, address=None):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [binary, "run", "--quiet", "--no-color", "--no-usage-report", "--out", f"json={out}", "-e", f"BASE={base}"]
        env = {"PATH": os.environ["PATH"], "HOME": folder, "CONFORMANCE": "1"}
        env |= {name: value.replace("$PROXY", proxy_url(base)).replace("$BASE", base) for name, value in header.env.items()}
        if tls_base:
            command += ["-e", f"TLS_BASE={tls_base}", "-e", f"CLIENT_CERTIFICATE={facts['client_certificate']}"]
            command += ["-e", f"CLIENT_KEY={facts['client_key']}"]
            env["SSL_CERT_FILE"] = facts["ca"]
        if address:
            command += ["-e", f"SERVICE={address}"]
        if not header.summary:
            command.append("--summary-mode=disabled")
        command += header.args + ["-" if header.stdin else header.script or case.name]
        process = subprocess.Popen(
            command, cwd=CASES, env=env, text=True, encoding="utf-8", errors="replace",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for after_ms in header.signals_ms:
            time.sleep(after_ms / 1000)
            process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(case.read_text() if header.stdin else "", timeout=CASE_TIMEOUT_S)
        host = re.search(r"127\.0\.0\.1:\d+", address).group() if address else None
        secret = re.search(r"[^/@]+@", address).group() if address else None
        base = (base, tls_base, host and f"//{host}", secret and f"//{secret}")
        samples = samples_of(out, base)
    console, errors, warnings = [], [], 0
    for line in stderr.splitlines():
        fields = logfmt(line)
        if fields is None:
            continue
        if fields.get("source") == "console":
            console.append(normalise(f"{fields['level']} {fields.get('msg', '')}", base))
        elif fields["level"] == "error":
            errors.append(fields.get("msg", ""))
        elif fields["level"] == "warning":
            warnings += 1
    said = "\n".join(errors)
    missing = [words for words in header.says if words not in said]
    if missing:
        print(f"  {case.name}: errors do not say {missing}: {said}", file=sys.stderr)
    seen = {
        "exit": process.returncode,
        "stdout": normalise(stdout, base).splitlines(),
        "console": sorted(console) if header.unordered else console,
        "errors": len(errors),
        "warned": warnings > 0,
        "samples": samples,
    }
    return {key: value for key, value in seen.items() if key not in header.ignored}, stderr


def pretty(seen):
    """JSON with a line for each printed line and each series."""
    fields = []
    for key, value in seen.items():
        if isinstance(value, dict):
            lines = [f"  {dump(name)}: {dump(worth)}" for name, worth in value.items()]
            value = "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"
        elif isinstance(value, list):
            value = "[\n" + ",\n".join(f"  {dump(line)}" for line in value) + "\n ]" if value else "[]"
        else:
            value = dump(value)
        fields.append(f' "{key}": {value}')
    return "{\n" + ",\n".join(fields) + "\n}\n"


def dump(value):
    return json.dumps(value, ensure_ascii=False)


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    check = "--check" in sys.argv
    verbose = "-v" in sys.argv
    binary = os.environ["K6_BIN"]
    with serving() as (base, _):
        EXPECTED.mkdir(exist_ok=True)
        failed = 0
        for case in sorted(CASES.glob("*.js")):
            if names and case.stem not in names:
                continue
            # What k6 v2.2 cannot show was written by hand.
            if Header(case.read_text()).documented:
                continue
            started = time.monotonic()
            seen, stderr = observe(binary, case, base)
            took = time.monotonic() - started
            print(f"{case.stem}: exit {seen['exit']}, {len(seen.get('samples', ()))} series, {took:.1f} s", file=sys.stderr)
            if verbose:
                print(stderr, json.dumps(seen, indent=1, ensure_ascii=False))
            path = EXPECTED / f"{case.stem}.json"
            if check:
                known = json.loads(path.read_text())
                for key in known:
                    if known[key] != seen[key]:
                        failed += 1
                        print(f"  {key}: was {known[key]}\n  {key}: now {seen[key]}", file=sys.stderr)
                continue
            path.write_text(pretty(seen))
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
