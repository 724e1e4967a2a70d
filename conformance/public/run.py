#!/usr/bin/env python3
"""Runs the sampled scripts with k6 and with Plimsoll and compares what they counted.

    K6_BIN=path/to/k6 BIN=path/to/plimsoll python3 conformance/public/run.py FOLDER [--only WORD] [--jobs N] [--write]

FOLDER is what `draw.py` filled. Both tools run in a network namespace where every name and address is `catchall.py`
(Linux, `unshare`, `ip`, `nft`, `openssl`; root, or user namespaces). k6 runs each script twice: what differs between its
own two runs is not compared. Plimsoll runs each by default and with `--compat strict`. `--write` puts the table into
docs/conformance.md, between the comments that carry the name of the sample's file.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import shorten  # noqa: E402
import table  # noqa: E402

PORT = 20443
REDIS_PORT = 6379
# What no server stands in for is refused: MySQL, PostgreSQL, MQTT, AMQP.
REFUSED_PORTS = (3306, 5432, 1883, 5672)
# What k6 does unasked and Plimsoll asks for. Nothing leaves the namespace.
OWN_FLAGS = ["--allow-exec"]
SCRIPT_LIMIT_S = 75
KILL_AFTER_S = 10
SOURCES = (".js", ".ts", ".mjs", ".cjs", ".es6")
# Sampled by the clock, or by the size of a tool's own name in a header.
UNCOUNTED = {"vus", "vus_max", "data_sent", "data_received"}
OWN_METRICS = set(json.loads((HERE.parent / "differences.json").read_text())["own_metrics"])
LIBRARIES = {"jslib.k6.io": ("grafana/jslib.k6.io", "lib"), "raw.githubusercontent.com/benc-uk/k6-reporter": ("benc-uk/k6-reporter", "")}
SERVED_HOSTS = ("jslib.k6.io", "raw.githubusercontent.com", "unpkg.com", "cdn.jsdelivr.net", "cdnjs.cloudflare.com", "esm.sh")


# ---- the namespace

def enter_namespace():
    if os.environ.get("SAMPLE_INSIDE"):
        return
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.environ["SAMPLE_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", *as_root, "--net", "--mount", sys.executable, *sys.argv])


def furnish(folder, own_ports=()):
    """Loopback is every address there is, every port leads to one server but those of other servers, every name is asked of it."""
    def run(*command, **more):
        subprocess.run(command, check=True, capture_output=True, **more)

    run("ip", "link", "set", "lo", "up")
    for family in ("-4", "-6"):
        run("ip", family, "route", "add", "local", "default", "dev", "lo")
    kept = ", ".join(map(str, (PORT, REDIS_PORT, *REFUSED_PORTS, *own_ports)))
    rules = f"table inet sample {{\nchain out {{\ntype nat hook output priority -100;\ntcp dport != {{ {kept} }} redirect to :{PORT}\n}}\n}}\n"
    run("nft", "-f", "-", input=rules.encode())
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("hosts", "127.0.0.1 localhost\n"), ("nsswitch.conf", "hosts: files dns\n")):
        (folder / name).write_text(text)
        if pathlib.Path("/etc", name).exists():
            run("mount", "--bind", folder / name, f"/etc/{name}")


def serve_redis(folder):
    """A real Redis, where there is one; elsewhere both tools are refused."""
    command = ["redis-server", "--port", str(REDIS_PORT), "--save", "", "--protected-mode", "no", "--dir", folder / "tmp"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL) if shutil.which("redis-server") else None


def serve(folder):
    server = subprocess.Popen([sys.executable, HERE / "catchall.py", folder / "ca", str(PORT), folder / "libraries"], stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline().strip() == "ready"
    return server


def libraries(folder, mirror):
    """Copies of the remote modules that scripts import, so that both tools read the same without the Internet."""
    root = folder / "libraries"
    for host in SERVED_HOSTS:
        (root / host).mkdir(parents=True, exist_ok=True)
    for place, (repository, inner) in LIBRARIES.items():
        history = mirror / repository.replace("/", "+") / "repo"
        if not history.exists() or any((root / place).glob("*")):
            continue
        (root / place).mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "--git-dir", history, "archive", "HEAD", *([inner] if inner else [])], check=True, capture_output=True).stdout
        strip = ["--strip-components=1"] if inner else []
        subprocess.run(["tar", "-x", "-C", root / place, *strip], input=archive, check=True)


# ---- the scripts

def prepare(folder, scripts):
    """A copy of every repository in which sleeping is capped and the sampled tests are short."""
    entries = {(script["repository"].replace("/", "+"), script["path"]) for script in scripts}
    mark = hashlib.sha256((HERE / "shorten.py").read_bytes()).hexdigest()
    work = folder / "work"
    if (work / ".mark").exists() and (work / ".mark").read_text() == mark:
        return
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder / "tree", work, symlinks=True)
    for path in work.rglob("*"):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        text = path.read_text(errors="surrogateescape")
        place = path.relative_to(work)
        changed = shorten.cap_sleep(text) if "k6" in text else text
        if (place.parts[0], "/".join(place.parts[1:])) in entries:
            changed = shorten.entry(changed)
        if changed != text:
            path.write_text(changed, errors="surrogateescape")
    (work / ".mark").write_text(mark)


def asked_of(tree):
    """The text of every source of a repository that reads the environment."""
    texts = (path.read_text(errors="replace") for path in sorted(tree.rglob("*")) if path.suffix in SOURCES and path.is_file())
    return "\n".join(text for text in texts if "__ENV" in text or "k6/net/grpc" in text)


def variables(text):
    """Values for the variables a script asks for by names that tell what they are. Calls have addresses without a scheme."""
    has_calls = "k6/net/grpc" in text and "k6/http" not in text
    base = "target.test:443" if has_calls else "http://target.test"
    for name in sorted(set(re.findall(r"__ENV(?:\.|\[['\"])(\w+)", text))):
        upper = name.upper()
        if re.search(r"WS_?(URL|BASE|HOST|ENDPOINT)|WEBSOCKET", upper):
            yield name, "ws://target.test/ws"
        elif re.search(r"URL|URI|ENDPOINT|ORIGIN", upper) or upper in ("TARGET", "BASE", "API", "API_BASE", "SERVER"):
            yield name, base
        elif upper.endswith(("HOST", "HOSTNAME", "DOMAIN")):
            yield name, "target.test"
        elif upper.endswith("PORT"):
            yield name, "8080"
        elif re.search(r"TOKEN|KEY|SECRET|PASS|USER|EMAIL|JWT", upper) and not re.search(r"USERS|COUNT|NUM|MAX|VUS|ITER|RATE|RPS", upper):
            yield name, "value"


# ---- what is observed

def shape(name):
    """A request's name without what the clock or chance put into it."""
    name = re.sub(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "UUID", name)
    return re.sub(r"\d{4,}", "#", name)


def counted(path):
    requests, checks, groups, sockets = (collections.Counter() for _ in range(4))
    fails, metrics, iterations = collections.Counter(), set(), 0
    if not path.exists():
        return {}
    with path.open(errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            name = entry["metric"]
            if entry["type"] != "Point":
                continue
            tags, value = entry["data"].get("tags") or {}, entry["data"]["value"]
            if name not in UNCOUNTED | OWN_METRICS and not name.startswith("stream_"):
                metrics.add(name)
            if name == "http_reqs":
                requests[f"{tags.get('method', '')} {shape(tags.get('name', ''))} {tags.get('status', '')}"] += int(value)
            elif name == "checks":
                place = shape(f"{tags.get('group', '')}::{tags.get('check', '')}")
                (checks if value else fails)[place] += 1
            elif name == "group_duration":
                groups[tags.get("group", "")] += 1
            elif name == "iterations":
                iterations += int(value)
            elif name in ("ws_sessions", "ws_msgs_sent", "ws_msgs_received", "dropped_iterations"):
                sockets[name] += int(value)
    return {
        "iterations": iterations,
        "requests": dict(sorted(requests.items())),
        "checks": {name: [checks[name], fails[name]] for name in sorted({*checks, *fails})},
        "groups": dict(sorted(groups.items())),
        "metrics": sorted(metrics),
        "counters": dict(sorted(sockets.items())),
    }


def logged(stderr):
    levels = collections.Counter()
    for line in stderr.splitlines():
        if found := re.search(r"\blevel=(\w+)", line):
            levels[("console " if "source=console" in line else "") + found.group(1)] += 1
    return dict(sorted(levels.items()))


def observe(binary, flags, folder, script):
    tree = folder / "work" / script["repository"].replace("/", "+")
    place = tree / script["path"]
    with tempfile.TemporaryDirectory(dir=folder / "tmp") as cwd:
        out = pathlib.Path(cwd, "out.json")
        command = [binary, "run", "--quiet", "--no-color", "--no-usage-report", "--out", f"json={out}", *flags]
        for name, value in variables(asked_of(tree)):
            command += ["-e", f"{name}={value}"]
        env = {"PATH": "/usr/bin:/bin", "HOME": cwd, "SSL_CERT_FILE": str(folder / "ca" / "ca.pem"), "TZ": "UTC"}
        began = time.monotonic()
        process = subprocess.Popen([*command, place], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        cut = False
        try:
            stdout, stderr = process.communicate(timeout=SCRIPT_LIMIT_S)
        except subprocess.TimeoutExpired:
            cut = True
            process.send_signal(signal.SIGINT)
            try:
                stdout, stderr = process.communicate(timeout=KILL_AFTER_S)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
        seen = {"exit": process.returncode, **counted(out), "logs": logged(stderr.decode(errors="replace"))}
        return {"seen": seen, "cut": cut, "seconds": round(time.monotonic() - began, 1),
                "stderr": stderr.decode(errors="replace")[-6000:], "stdout": stdout.decode(errors="replace")[-3000:]}


def is_inspected(binary, folder, script):
    """Whether `inspect` reads the script without an error."""
    tree = folder / "work" / script["repository"].replace("/", "+")
    command = [binary, "inspect"]
    for name, value in variables(asked_of(tree)):
        command += ["-e", f"{name}={value}"]
    with tempfile.TemporaryDirectory(dir=folder / "tmp") as cwd:
        env = {"PATH": "/usr/bin:/bin", "HOME": cwd, "SSL_CERT_FILE": str(folder / "ca" / "ca.pem"), "TZ": "UTC"}
        try:
            place = tree / script["path"]
            run = subprocess.run([*command, place], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SCRIPT_LIMIT_S)
        except subprocess.TimeoutExpired:
            return False
    return run.returncode == 0


def flat(seen):
    """`field/key` → value, so that two observations can be compared one by one."""
    facts = {}
    for field, value in seen.items():
        if field == "metrics":
            facts.update({f"metrics/{name}": True for name in value})
        elif isinstance(value, dict):
            facts.update({f"{field}/{key}": inner for key, inner in value.items()})
        else:
            facts[field] = value
    return facts


def summed(facts, field, rename):
    """The facts with those of one field added up under fewer names."""
    kept = {key: value for key, value in facts.items() if not key.startswith(f"{field}/")}
    for key, value in facts.items():
        if key.startswith(f"{field}/"):
            name = f"{field}/{rename(key)}"
            kept[name] = kept.get(name, 0) + (sum(value) if isinstance(value, list) else value)
    return kept


# Where chance chooses what is requested or checked, sums are compared: first without queries, then without paths.
COARSER = [
    ("requests", lambda key: re.sub(r"[?#]\S*", "", key)),
    ("requests", lambda key: f"{key.split(' ')[0].split('/')[1]} {key.rsplit(' ', 1)[1]}"),
    ("checks", lambda key: "all"),
]


def compare(first, second, ours):
    """What differs from k6 where k6 agrees with itself, and what k6 does not agree on."""
    one, two, own = flat(first["seen"]), flat(second["seen"]), flat(ours["seen"])
    unstable = sorted(key for key in {*one, *two} if one.get(key) != two.get(key))
    for field, rename in COARSER:
        if any(one.get(key) != two.get(key) for key in {*one, *two} if key.startswith(f"{field}/")):
            one, two, own = (summed(facts, field, rename) for facts in (one, two, own))
    chance = {key for key in {*one, *two} if one.get(key) != two.get(key)}
    loose = {key.split("/")[0] for key in chance}
    differs = {}
    for key in sorted({*one, *own} - chance):
        # Beside what is chance, a request of ours that k6 did not make is chance, too.
        if one.get(key) != own.get(key) and not (key not in one and key.split("/")[0] in loose):
            differs[key] = [one.get(key), own.get(key)]
    return differs, unstable


def judge(folder, script, k6, binary, k6_version):
    key = hashlib.sha256(f"{script['repository']}/{script['path']}".encode()).hexdigest()[:16]
    tree = folder / "work" / script["repository"].replace("/", "+")
    facts = [k6_version, sorted(variables(asked_of(tree)))]
    mark = hashlib.sha256((tree / script["path"]).read_bytes() + (HERE / "catchall.py").read_bytes() + str(facts).encode()).hexdigest()
    kept = folder / "k6" / f"{key}.json"
    runs = json.loads(kept.read_text()) if kept.exists() else {}
    if runs.get("mark") != mark:
        runs = {"mark": mark, "runs": [observe(k6, [], folder, script) for _ in range(2)], "inspected": is_inspected(k6, folder, script)}
        kept.write_text(json.dumps(runs, indent=1))
    first, second = runs["runs"]
    ours = observe(binary, OWN_FLAGS, folder, script)
    (folder / "ours" / f"{key}.json").write_text(json.dumps(ours, indent=1))
    strict = observe(binary, [*OWN_FLAGS, "--compat", "strict"], folder, script)
    hard, soft, unstable = judged(first, second, ours)
    strict_hard, _, _ = judged(first, second, strict)
    return {"key": key, **script, "k6": first["seen"], "ours_exit": ours["seen"]["exit"], "cut": [first["cut"], ours["cut"]],
            "seconds": [first["seconds"], ours["seconds"]], "differs": hard, "strict_differs": strict_hard, "logs": soft,
            "unstable": unstable, "inspected": [runs["inspected"], is_inspected(binary, folder, script)], "k6_error": last_error(first), "our_error": last_error(ours)}


def judged(first, second, ours):
    """What differs, and what differs in the log only: texts of our own warnings and errors are ours, so their number is
    shown and not judged."""
    differs, unstable = compare(first, second, ours)
    soft = {name: pair for name, pair in differs.items() if name.startswith("logs/")}
    hard = {name: pair for name, pair in differs.items() if name not in soft}
    return hard, soft, unstable


def last_error(run):
    lines = [line for line in run["stderr"].splitlines() if "level=error" in line and "source=console" not in line]
    return (lines or run["stderr"].splitlines() or [""])[-1][:600]


def version(binary, word):
    return subprocess.run([binary, word], capture_output=True, text=True).stdout.strip().splitlines()[0]


def commit():
    """The commit whose binary is tested, if it was built from here."""
    command = ["git", "-C", HERE, "-c", "safe.directory=*", "rev-parse", "--short", "HEAD"]
    return os.environ.get("BIN_COMMIT") or subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--mirror", type=pathlib.Path, default=pathlib.Path("mirror"), help="git directories of the libraries")
    arguments.add_argument("--sample", type=pathlib.Path, default=HERE / "sample.json")
    arguments.add_argument("--only", default="", help="only scripts whose repository/path has this word")
    arguments.add_argument("--jobs", type=int, default=3)
    arguments.add_argument("--write", action="store_true", help="write the table into docs/conformance.md")
    chosen = arguments.parse_args()
    enter_namespace()
    folder = chosen.folder.resolve()
    k6, binary = os.environ["K6_BIN"], os.environ["BIN"]
    sample = json.loads(chosen.sample.read_text())
    for name in ("k6", "ours", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    libraries(folder, chosen.mirror)
    furnish(folder)
    server, redis = serve(folder), serve_redis(folder)
    prepare(folder, sample["scripts"])
    scripts = [script for script in sample["scripts"] if chosen.only in f"{script['repository']}/{script['path']}"]
    versions = {"k6": version(k6, "version"), "plimsoll": version(binary, "--version"), "commit": commit()}
    results = []
    try:
        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            tasks = [pool.submit(judge, folder, script, k6, binary, versions["k6"]) for script in scripts]
            for task in concurrent.futures.as_completed(tasks):
                result = task.result()
                results.append(result)
                first = next(iter(result["differs"].items()), "")
                print(f"{len(results)}/{len(scripts)} {table.verdict(result)} {result['repository']}/{result['path']} {result['seconds']} {first}", flush=True)
    finally:
        server.terminate()
        if redis:
            redis.terminate()
    results.sort(key=lambda result: (result["repository"], result["path"]))
    (folder / "results.json").write_text(json.dumps({"versions": versions, "results": results}, indent=1))
    text = table.render(sample, versions, results)
    print(table.headline(results))
    if chosen.write:
        table.write(HERE.parents[1] / "docs" / "conformance.md", chosen.sample.stem, text)


if __name__ == "__main__":
    main()
