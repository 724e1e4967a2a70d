"""The tables of docs/conformance.md, from the results of run.py."""

import collections
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- sample: begin -->", "<!-- sample: end -->"
DETAILS_MAX = 3

# Why a script differs, by what our own error says; what none of these finds is looked up in reasons.json.
CAUSES = [
    (r"is a remote module", "remote modules are not loaded yet"),
    (r"unknown module: (\S+?);", "no module {0} yet"),
    (r"\.ts: SyntaxError|SyntaxError.*\.ts:", "no TypeScript yet"),
]


def verdict(result):
    if not result["differs"]:
        return "equal"
    return "meant" if result["meant"] else "differs"


def could_start(result):
    """Whether k6 itself came as far as running the script."""
    return result["k6"]["exit"] not in (104, 107) or result["k6"].get("iterations", 0) > 0 or bool(result["k6"].get("requests"))


def share(results):
    counts = collections.Counter(verdict(result) for result in results)
    total = max(len(results), 1)
    return counts, f"{counts['equal']} of {len(results)} ({100 * counts['equal'] / total:.1f} %)"


def headline(results):
    counts, text = share(results)
    return f"{text} equal; {counts['meant']} differ as we mean to, {counts['differs']} differ"


def cause(result, reasons):
    known = reasons.get(f"{result['repository']}/{result['path']}")
    if known:
        return known
    if result["meant"]:
        return "meant: equal with `--compat strict`"
    if set(result["differs"]) == {"metrics/ws_session_duration"}:
        return "a WebSocket session that was cut off with its iteration has a duration; k6 drops it"
    for pattern, text in CAUSES:
        if found := re.search(pattern, result["our_error"]):
            return text.format(*found.groups())
    return "not known yet"


def shorter(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


def details(result):
    if result["differs"].get("iterations", ["", ""])[1] is None and "exit" in result["differs"]:
        k6, ours = result["differs"]["exit"]
        return f"exit: {k6} → {ours}, nothing was run"
    pairs = sorted(result["differs"].items(), key=lambda pair: (pair[0] != "exit", not pair[0].startswith("iterations"), pair[0]))
    shown = [f"{name[:70]}: {shorter(k6)} → {shorter(ours)}" for name, (k6, ours) in pairs[:DETAILS_MAX]]
    more = len(pairs) - len(shown)
    return "; ".join(shown).replace("|", "\\|") + (f"; {more} more" if more > 0 else "")


def render(sample, versions, results):
    reasons = json.loads((HERE / "reasons.json").read_text())
    started = [result for result in results if could_start(result)]
    refused = [result for result in results if not could_start(result)]
    requests = sum(sum(result["k6"].get("requests", {}).values()) for result in results)
    checks = sum(sum(pair) for result in results for pair in result["k6"].get("checks", {}).values())
    rows = [
        ("all", results),
        ("k6 runs them", started),
        ("k6 refuses to start them, or their `setup()` fails", refused),
    ]
    lines = [
        f"{versions['k6'].split(' (')[0]}, Plimsoll at commit {versions['commit']}: {len(results)} scripts of "
        f"{len({result['repository'] for result in results})} repositories, {requests:,} requests and {checks:,} checks in k6's runs.",
        "", "| Scripts | | Equal | As we mean to | Differ |", "|---|--:|--:|--:|--:|",
    ]
    for name, some in rows:
        counts, text = share(some)
        lines.append(f"| {name} | {len(some)} | {text} | {counts['meant']} | {counts['differs']} |")
    unstable = sum(1 for result in results if result["unstable"])
    lines += ["", f"k6's own two runs differ in {unstable} scripts; there only what they agree on is compared.", ""]
    causes = collections.Counter(cause(result, reasons) for result in results if result["differs"])
    if causes:
        lines += ["| Cause | Scripts |", "|---|--:|", *(f"| {text} | {count} |" for text, count in causes.most_common()), ""]
        lines += ["| Script | k6 → ours | Cause |", "|---|---|---|"]
    for result in results:
        if result["differs"]:
            lines.append(f"| `{result['repository']}/{result['path']}` | {details(result)} | {cause(result, reasons)} |")
    candidates = f"{sample['candidates']} candidates; not taken: " + ", ".join(f"{count} {why}" for why, count in sample["refused"].items())
    lines += ["", f"Of {sample['repositories_asked']} repositories {sample['repositories_without_a_copy']} could not be had. {candidates}."]
    return "\n".join(lines)


def write(path, text):
    page = path.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
