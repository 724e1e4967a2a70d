"""The table of docs/conformance.md, from the results of run.py."""


def headline(results):
    equal = sum(1 for result in results if not result["differs"])
    return f"{equal} of {len(results)} equal ({100 * equal / max(len(results), 1):.1f} %)"


def render(sample, versions, results):
    return headline(results)


def write(path, text):
    path.write_text(text)
