"""The tables of docs/conformance.md, from the results of run.py."""

import collections
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
DETAILS_MAX = 3
CRASHED = 109

# Why a script differs, by what our own error says; what none of these finds is looked up in reasons.json.
CAUSES = [
    (r"is a remote module", "remote modules are not loaded yet"),
    (r"unknown module: (\S+?);", "no module {0} yet"),
    (r"\.ts: SyntaxError|SyntaxError.*\.ts:", "no TypeScript yet"),
]


def verdict(result):
    """`equal` to k6 by default; `meant` when only with `--compat strict`, where numbers are k6's to the letter."""
    if not result["differs"] and not result["strict_differs"]:
        return "equal"
    return "differs" if result["strict_differs"] else "meant"


def could_start(result):
    """Whether k6 itself came as far as running the script."""
    return result["k6"]["exit"] not in (104, 107, 109, 255) or result["k6"].get("iterations", 0) > 0 or bool(result["k6"].get("requests"))


def share(results, field):
    equal = sum(1 for result in results if not result[field])
    return f"{equal} of {len(results)} ({100 * equal / max(len(results), 1):.1f} %)"


def headline(results):
    counts = collections.Counter(verdict(result) for result in results)
    return (f"{share(results, 'differs')} equal, with --compat strict {share(results, 'strict_differs')}; "
            f"{counts['meant']} differ as we mean to, {counts['differs']} differ")


def cause(result, reasons):
    known = reasons.get(f"{result['repository']}/{result['path']}")
    if known:
        return known
    if verdict(result) == "meant":
        return meant(result)
    for pattern, text in CAUSES:
        if found := re.search(pattern, result["our_error"]):
            return text.format(*found.groups())
    return "not known yet"


def meant(result):
    """What is meant by a difference that `--compat strict` takes away."""
    if set(result["differs"]) == {"exit"} and result["differs"]["exit"][1] == 107:
        return "meant: a test whose every iteration threw has failed (exit code 107)"
    if all(name.startswith("metrics/http_req_") for name in result["differs"]):
        return "meant: a request that was never sent has no times, where k6 counts zeros"
    return "meant: equal with `--compat strict`"


def shorter(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


def details(result):
    differs = result["differs"] or {f"strict: {name}": pair for name, pair in result["strict_differs"].items()}
    if differs.get("iterations", ["", ""])[1] is None and "exit" in differs:
        k6, ours = differs["exit"]
        return f"exit: {k6} → {ours}, nothing was run"
    pairs = sorted(differs.items(), key=lambda pair: (pair[0] != "exit", not pair[0].startswith("iterations"), pair[0]))
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
    healthy = [result for result in results if result["k6"]["exit"] != CRASHED]
    if len(healthy) < len(results):
        rows.append((f"k6 does not crash (exit code {CRASHED})", healthy))
    lines = [
        f"{versions['k6'].split(' (')[0]}, Plimsoll at commit {versions['commit']}: {len(results)} scripts of "
        f"{len({result['repository'] for result in results})} repositories, {requests:,} requests and {checks:,} checks in k6's runs.",
        "", "| Scripts | | Equal | Equal with `--compat strict` |", "|---|--:|--:|--:|",
    ]
    for name, some in rows:
        lines.append(f"| {name} | {len(some)} | {share(some, 'differs')} | {share(some, 'strict_differs')} |")
    readable = [result for result in results if result.get("inspected", [False])[0]]
    if readable:
        both = sum(1 for result in readable if result["inspected"][1])
        lines += ["", f"`inspect` reads {both} of {len(readable)} ({100 * both / len(readable):.1f} %) of the scripts that k6's `inspect` reads."]
    unstable = sum(1 for result in results if result["unstable"])
    lines += ["", f"k6's own two runs differ in {unstable} scripts; there only what they agree on is compared.", ""]
    causes = collections.Counter(cause(result, reasons) for result in results if verdict(result) != "equal")
    if causes:
        lines += ["| Cause | Scripts |", "|---|--:|", *(f"| {text} | {count} |" for text, count in causes.most_common()), ""]
        lines += ["| Script | k6 → ours | Cause |", "|---|---|---|"]
    for result in results:
        if verdict(result) != "equal":
            lines.append(f"| `{result['repository']}/{result['path']}` | {details(result)} | {cause(result, reasons)} |")
    candidates = f"{sample['candidates']} candidates; not taken: " + ", ".join(f"{count} {why}" for why, count in sample["refused"].items())
    lines += ["", f"Of {sample['repositories_asked']} repositories {sample['repositories_without_a_copy']} could not be had. {candidates}."]
    return "\n".join(lines)


def write(path, section, text):
    """Puts a table between the two comments that carry the name of its sample."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    before, found, rest = path.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    assert found and closed, f"{path} has no section {section}"
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")
