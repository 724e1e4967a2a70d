#!/usr/bin/env python3
"""Records what k6 writes to files and to the terminal: golden data for `api`, `output` and `report`.

    K6_BIN=path/to/k6 SERVER_BIN=path/to/testkit python3 conformance/outputs.py

Writes `expected/outputs/`. Times and ports are those of one run; names, order, layout and the numbers scripts give are
what counts. The server's address is written as `http://shop.test`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OUTPUTS = HERE / "expected" / "outputs"


def k6(base, script, *flags):
    command = [os.environ["K6_BIN"], "run", "--no-usage-report", "--no-color", "-e", f"BASE={base}", *flags, script]
    return subprocess.run(command, cwd=HERE / "outputs", capture_output=True, text=True)


def write(name, text, base):
    (OUTPUTS / name).write_text(text.replace(base, "http://shop.test").replace(str(HERE), "conformance"))


def record(base, script):
    name = script.removesuffix(".js")
    for mode in ("compact", "full"):
        write(f"{name}.summary-{mode}.txt", k6(base, script, "--quiet", f"--summary-mode={mode}").stdout, base)
    units = {"seconds": "s", "milliseconds": "ms", "microseconds": "us"}
    for word, unit in units.items():
        write(f"{name}.summary-{word}.txt", k6(base, script, "--quiet", f"--summary-time-unit={unit}").stdout, base)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        flags = [f"--out=json={folder}/out.json", f"--out=csv={folder}/out.csv", f"--summary-export={folder}/export.json"]
        run = k6(base, script, *flags)
        for made in ("out.json", "out.csv", "export.json"):
            write(f"{name}.{made}", (folder / made).read_text(), base)
        # k6's logo is k6's own: what is printed is kept from the line after it.
        printed = "     execution:" + run.stdout.partition("     execution:")[2]
        write(f"{name}.stdout.txt", printed.replace(f"{folder}/", ""), base)
        write(f"{name}.stderr.txt", run.stderr, base)
        write(f"{name}.inspect.json", inspect(base, script), base)
        write(f"{name}.requirements.json", inspect(base, script, "--execution-requirements"), base)
        k6(base, script, "--quiet", "--new-machine-readable-summary", f"--summary-export={folder}/machine.json")
        write(f"{name}.machine.json", (folder / "machine.json").read_text(), base)


def inspect(base, script, *flags):
    command = [os.environ["K6_BIN"], "inspect", "-e", f"BASE={base}", *flags, script]
    return subprocess.run(command, cwd=HERE / "outputs", capture_output=True, text=True).stdout


def main():
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    server = subprocess.Popen([os.environ["SERVER_BIN"], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        base = server.stdout.readline().strip().rstrip("/")
        for script in ("shop.js", "plain.js", "checks.js"):
            record(base, script)
        write("shop.handle-summary.json", k6(base, "shop-data.js", "--quiet").stdout, base)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
