#!/usr/bin/env python3
"""Records when k6 starts iterations and holds VUs, for every executor: golden vectors for `schedule`.

    K6_BIN=path/to/k6 python3 conformance/schedules.py [name ...]

Writes `schedules.json`. Each configuration runs `RUNS` times, one at a time. A start can only be late, so the earliest
of each index is kept. `counts` lists how many starts were seen in the runs: more than one number means that k6 races
with itself at the very end.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 3
# One VU's iterations while its executor holds it; the resolution of a VU's first and last moment.
HOLD_STEP_MS = 20
TOGETHER_MS = 50

PROBE = """
import exec from 'k6/execution';
import { sleep } from 'k6';

export const options = { scenarios: { probe: JSON.parse(__ENV.SCENARIO) } };
const hold_s = Number(__ENV.HOLD_S);

export default function () {
  console.log('AT', Date.now() - exec.scenario.startTime, exec.vu.idInTest, exec.scenario.iterationInTest);
  if (hold_s > 0) {
    sleep(hold_s);
  }
}
"""


def constant(rate, duration, time_unit="1s", vus=10):
    return {"executor": "constant-arrival-rate", "rate": rate, "timeUnit": time_unit, "duration": duration,
            "preAllocatedVUs": vus, "gracefulStop": "0s"}


def ramping(start, stages, time_unit="1s", vus=20):
    return {"executor": "ramping-arrival-rate", "startRate": start, "timeUnit": time_unit, "preAllocatedVUs": vus,
            "stages": [{"duration": duration, "target": target} for duration, target in stages], "gracefulStop": "0s"}


def ramping_vus(start, stages):
    return {"executor": "ramping-vus", "startVUs": start, "gracefulRampDown": "0s", "gracefulStop": "0s",
            "stages": [{"duration": duration, "target": target} for duration, target in stages]}


HALVES = "0,1/2,1"
THIRDS = "0,1/3,2/3,1"
UNEVEN = "0,1/10,3/10,1"

# name: (scenario, segment and sequence or None)
STARTS = {
    "constant, 10/s for 1.05 s": (constant(10, "1050ms"), None),
    "constant, 10/s for 1 s, the last start at the end": (constant(10, "1s"), None),
    "constant, 7/s, a period that is no whole ms": (constant(7, "1500ms"), None),
    "constant, 3/s": (constant(3, "2100ms"), None),
    "constant, 100/s": (constant(100, "1005ms"), None),
    "constant, 333/s": (constant(333, "1001ms"), None),
    "constant, 90 a minute": (constant(90, "2500ms", "1m"), None),
    "constant, 5 in 500 ms": (constant(5, "1050ms", "500ms"), None),
    "constant, 1 in 400 ms": (constant(1, "1s", "400ms"), None),
    "constant, 1 in 3 s": (constant(1, "1s", "3s"), None),
    "constant, halves, first": (constant(10, "1050ms"), ("0:1/2", HALVES)),
    "constant, halves, second": (constant(10, "1050ms"), ("1/2:1", HALVES)),
    "constant, thirds, first": (constant(10, "1050ms"), ("0:1/3", THIRDS)),
    "constant, thirds, second": (constant(10, "1050ms"), ("1/3:2/3", THIRDS)),
    "constant, thirds, third": (constant(10, "1050ms"), ("2/3:1", THIRDS)),
    "constant, 10/s with 9 VUs, thirds, first": (constant(10, "1050ms", vus=9), ("0:1/3", THIRDS)),
    "constant, 10/s with 9 VUs, thirds, second": (constant(10, "1050ms", vus=9), ("1/3:2/3", THIRDS)),
    "constant, 9/s with 10 VUs, thirds, first": (constant(9, "1050ms", vus=10), ("0:1/3", THIRDS)),
    "constant, 9/s with 10 VUs, thirds, second": (constant(9, "1050ms", vus=10), ("1/3:2/3", THIRDS)),
    "constant, uneven, first": (constant(20, "1025ms", vus=20), ("0:1/10", UNEVEN)),
    "constant, uneven, second": (constant(20, "1025ms", vus=20), ("1/10:3/10", UNEVEN)),
    "constant, uneven, third": (constant(20, "1025ms", vus=20), ("3/10:1", UNEVEN)),
    "ramping, 0 to 20 in 1 s": (ramping(0, [("1s", 20), ("30ms", 20)]), None),
    "ramping, 20 to 0 in 1 s": (ramping(20, [("1s", 0)]), None),
    "ramping, flat": (ramping(10, [("1050ms", 10)]), None),
    "ramping, up and down": (ramping(5, [("500ms", 25), ("500ms", 5), ("50ms", 5)]), None),
    "ramping, a jump": (ramping(5, [("500ms", 5), ("0s", 50), ("510ms", 50)]), None),
    "ramping, a jump at the start": (ramping(0, [("0s", 10), ("1050ms", 10)]), None),
    "ramping, a pause between": (ramping(20, [("275ms", 20), ("0s", 0), ("500ms", 0), ("0s", 20), ("300ms", 20)]), None),
    "ramping, fractions carried over stages": (ramping(3, [("250ms", 3)] * 6), None),
    "ramping, many short stages": (ramping(0, [("100ms", 10 * n) for n in range(1, 11)]), None),
    "ramping, 0 to 3 in 2 s": (ramping(0, [("2s", 3), ("50ms", 3)]), None),
    "ramping, 0 to 100 in 1 s": (ramping(0, [("1s", 100), ("5ms", 100)]), None),
    "ramping, time unit of 500 ms": (ramping(2, [("1s", 10), ("50ms", 10)], "500ms"), None),
    "ramping, time unit of a minute": (ramping(60, [("1s", 600), ("550ms", 600)], "1m"), None),
    "ramping, halves, first": (ramping(0, [("1s", 20), ("30ms", 20)]), ("0:1/2", HALVES)),
    "ramping, halves, second": (ramping(0, [("1s", 20), ("30ms", 20)]), ("1/2:1", HALVES)),
    "ramping, thirds, first": (ramping(10, [("1s", 30), ("20ms", 30)]), ("0:1/3", THIRDS)),
    "ramping, thirds, second": (ramping(10, [("1s", 30), ("20ms", 30)]), ("1/3:2/3", THIRDS)),
    "ramping, thirds, third": (ramping(10, [("1s", 30), ("20ms", 30)]), ("2/3:1", THIRDS)),
}

HOLDS = {
    "VUs, 0 to 5 in 1 s": (ramping_vus(0, [("1s", 5), ("300ms", 5)]), None),
    "VUs, 5 to 0 in 1 s": (ramping_vus(5, [("1s", 0)]), None),
    "VUs, up, hold, down": (ramping_vus(1, [("600ms", 4), ("400ms", 4), ("600ms", 1), ("200ms", 1)]), None),
    "VUs, a jump up and one down": (ramping_vus(2, [("300ms", 2), ("0s", 6), ("300ms", 6), ("0s", 1), ("300ms", 1)]), None),
    "VUs, a jump at the start": (ramping_vus(1, [("0s", 4), ("500ms", 4)]), None),
    "VUs, down and up again": (ramping_vus(4, [("500ms", 1), ("500ms", 4), ("200ms", 4)]), None),
    "VUs, 0 to 3 in 1 s, cut at the top": (ramping_vus(0, [("1s", 3)]), None),
    "VUs, thirds, first": (ramping_vus(0, [("1s", 10), ("200ms", 10)]), ("0:1/3", THIRDS)),
    "VUs, thirds, second": (ramping_vus(0, [("1s", 10), ("200ms", 10)]), ("1/3:2/3", THIRDS)),
    "VUs, thirds, third": (ramping_vus(0, [("1s", 10), ("200ms", 10)]), ("2/3:1", THIRDS)),
    "VUs, constant": ({"executor": "constant-vus", "vus": 3, "duration": "1s", "gracefulStop": "0s"}, None),
    "VUs, constant, halves, first": ({"executor": "constant-vus", "vus": 3, "duration": "1s", "gracefulStop": "0s"}, ("0:1/2", HALVES)),
    "VUs, constant, halves, second": ({"executor": "constant-vus", "vus": 3, "duration": "1s", "gracefulStop": "0s"}, ("1/2:1", HALVES)),
}

COUNTS = {
    "shared iterations, 3 VUs, 10": ({"executor": "shared-iterations", "vus": 3, "iterations": 10}, None),
    "shared iterations, thirds, first": ({"executor": "shared-iterations", "vus": 10, "iterations": 100}, ("0:1/3", THIRDS)),
    "shared iterations, thirds, second": ({"executor": "shared-iterations", "vus": 10, "iterations": 100}, ("1/3:2/3", THIRDS)),
    "shared iterations, thirds, third": ({"executor": "shared-iterations", "vus": 10, "iterations": 100}, ("2/3:1", THIRDS)),
    "per-VU iterations, 3 VUs, 4": ({"executor": "per-vu-iterations", "vus": 3, "iterations": 4}, None),
    "per-VU iterations, halves, first": ({"executor": "per-vu-iterations", "vus": 5, "iterations": 4}, ("0:1/2", HALVES)),
    "per-VU iterations, halves, second": ({"executor": "per-vu-iterations", "vus": 5, "iterations": 4}, ("1/2:1", HALVES)),
}


# Parts of a whole, by weight: which part gets which of the first iterations.
WEIGHTS = [
    [1, 1, 2], [2, 1, 4], [4, 3, 3], [3, 3, 4], [2, 2, 3], [1, 2, 7], [3, 5, 2], [5, 3, 2], [1, 6, 3], [7, 5], [5, 7],
    [6, 1, 3, 2], [10, 3, 8], [1, 4, 4, 6], [1, 1, 1, 1, 9], [9, 2, 8, 3, 5],
]


def lines_of(binary, scenario, segment, hold_s):
    """(offset in ms, VU, iteration in the whole test) of every start, in order of the offsets."""
    with tempfile.TemporaryDirectory() as folder:
        probe = pathlib.Path(folder) / "probe.js"
        probe.write_text(PROBE)
        command = [binary, "run", "--quiet", "--summary-mode=disabled", "--no-usage-report"]
        command += ["-e", f"SCENARIO={json.dumps(scenario)}", "-e", f"HOLD_S={hold_s}"]
        if segment:
            command += ["--execution-segment", segment[0], "--execution-segment-sequence", segment[1]]
        done = subprocess.run(command + [probe], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    found = re.findall(r'msg="AT (-?\d+) (\d+) (\d+)"', done.stderr)
    return sorted(tuple(map(int, line)) for line in found)


def starts(binary, scenario, segment):
    runs = [lines_of(binary, scenario, segment, 0) for _ in range(RUNS)]
    counts = sorted({len(run) for run in runs})
    shortest = counts[0]
    offsets = [min(run[at][0] for run in runs) for at in range(shortest)]
    lateness = [run[at][0] - offsets[at] for run in runs for at in range(shortest)]
    by_iteration = sorted(runs[0], key=lambda line: line[2])[:shortest]
    return {
        "counts": counts,
        "starts_ms": offsets,
        "iterations_in_test": [line[2] for line in by_iteration],
        "spread_ms_median": statistics.median(lateness) if lateness else 0,
        "spread_ms_max": max(lateness, default=0),
    }


def holds(binary, scenario, segment):
    """When each VU began its first and its last iteration: it is held from the first until after the last."""
    runs = []
    for _ in range(RUNS):
        spans = {}
        for offset_ms, vu, _ in lines_of(binary, scenario, segment, HOLD_STEP_MS / 1000):
            spans.setdefault(vu, []).append(offset_ms)
        # A VU that is handed back and taken again leaves a gap.
        found = [span for offsets in spans.values() for span in pieces(offsets)]
        # VUs that begin together are told apart by when they end: the identity of a VU means nothing.
        runs.append(sorted(found, key=lambda span: (round(span[0] / TOGETHER_MS), span[1])))
    lengths = sorted({len(run) for run in runs})
    same = [run for run in runs if len(run) == lengths[0]]
    merged = [[min(run[at][0] for run in same), max(run[at][1] for run in same)] for at in range(lengths[0])]
    return {"counts": lengths, "held_ms": merged}


def pieces(offsets):
    result = [[offsets[0], offsets[0]]]
    for offset_ms in offsets[1:]:
        if offset_ms - result[-1][1] > 4 * HOLD_STEP_MS:
            result.append([offset_ms, offset_ms])
        result[-1][1] = offset_ms
    return result


def iterations(binary, scenario, segment):
    lines = lines_of(binary, scenario, segment, 0)
    return {"counts": [len(lines)], "iterations_in_test": sorted(line[2] for line in lines)}


def owners(binary, weights):
    """The part that each iteration belongs to; as many VUs as the weights' sum, so that one period is seen."""
    whole = sum(weights)
    bounds = ["0", *(f"{sum(weights[:at])}/{whole}" for at in range(1, len(weights))), "1"]
    scenario = {"executor": "shared-iterations", "vus": whole, "iterations": whole}
    result = [None] * whole
    for part, segment in enumerate(zip(bounds, bounds[1:])):
        for _, _, iteration in lines_of(binary, scenario, (":".join(segment), ",".join(bounds)), 0):
            result[iteration] = part
    return {"weights": weights, "sequence": ",".join(bounds), "owners": result}


def main():
    binary, wanted = os.environ["K6_BIN"], sys.argv[1:]
    path = HERE / "schedules.json"
    result = json.loads(path.read_text()) if wanted else {
        "about": "what k6 v2.2.0 did; made by schedules.py",
        "clock": "offsets from exec.scenario.startTime in whole ms, both rounded down: an offset may be 1 ms early",
        "tolerance_ms": {"starts_ms": [-1, 3], "held_ms_first": [-1, 3], "held_ms_last": [-HOLD_STEP_MS - 3, 3]},
        "cases": {},
    }
    for table, measure in ((STARTS, starts), (HOLDS, holds), (COUNTS, iterations)):
        for name, (scenario, segment) in table.items():
            if wanted and name not in wanted:
                continue
            entry = {"scenario": scenario, **measure(binary, scenario, segment)}
            if segment:
                entry = {"segment": segment[0], "sequence": segment[1], **entry}
            result["cases"][name] = entry
            print(name, {key: value for key, value in entry.items() if key != "scenario"}, file=sys.stderr)
    if not wanted:
        result["segments"] = [owners(binary, weights) for weights in WEIGHTS]
    segments = ",\n".join(f"  {json.dumps(entry)}" for entry in result["segments"])
    cases = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in result["cases"].items())
    head = "".join(f" {json.dumps(key)}: {json.dumps(result[key])},\n" for key in ("about", "clock", "tolerance_ms"))
    path.write_text("{\n" + head + ' "cases": {\n' + cases + "\n },\n" + f' "segments": [\n{segments}\n ]\n}}\n')


if __name__ == "__main__":
    main()
