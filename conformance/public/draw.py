#!/usr/bin/env python3
"""Draws the sample: which files of the repositories are k6 scripts, and which of them are taken.

    python3 conformance/public/draw.py FOLDER [--mirror FOLDER]    # writes sample.json and FOLDER/tree
    python3 conformance/public/draw.py FOLDER --again              # FOLDER/tree at the commits of sample.json
    python3 conformance/public/draw.py FOLDER --repositories FILE --sample FILE    # another sample
    python3 conformance/public/draw.py FOLDER --every-protocol …                   # with gRPC, Redis and the usual extensions

Nothing is chosen by hand: `repositories.txt` says how the repositories were found, every file of theirs that meets
`refusal()` is a candidate, and candidates are taken in the order of the SHA-256 of `repository/path`.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = 300
SCRIPTS_PER_REPOSITORY = 5
FILE_BYTES_MAX = 8 << 20
EXTENSIONS = (".js", ".ts", ".mjs", ".cjs", ".es6")

SOURCE = r"""(?:\bfrom\s*|\bimport\s*|\brequire\s*\(\s*)["']([^"']+)["']"""
OTHER_MACHINERY = re.compile(r"k6/(?:browser|experimental/(?:browser|grpc|redis|tracing)|net/grpc|x/.*)$")
BROWSER = re.compile(r"k6/(?:experimental/)?browser$")
# Extensions of k6 whose API is built in; another one needs a k6 of its own.
USUAL_EXTENSION = re.compile(r"k6/x/(?:amqp|dns|dotenv|exec|faker|mqtt|redis|sql|sse|yaml)(?:/|$)")
ENTRY = re.compile(r"\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b|\bexports\.default\s*=|\bmodule\.exports\s*=\s*\{[^}]*\bdefault\b|\bexec\s*:\s*[\"']")


def git(folder, *command):
    return subprocess.run(["git", "--git-dir", folder, *command], check=True, capture_output=True).stdout


def repositories(listed):
    lines = (line.split("#")[0].strip() for line in listed.read_text().splitlines())
    return [line for line in lines if line]


def history_of(repository, mirror, folder, commit):
    """The bare git directory of a repository, or None where there is none to be had."""
    if mirror is not None:
        kept = mirror / repository.replace("/", "+") / "repo"
        inner = kept / ".git"
        return inner if inner.exists() else kept if kept.exists() else None
    kept = folder / "git" / repository.replace("/", "+")
    if not kept.exists():
        address = f"https://github.com/{repository}"
        subprocess.run(["git", "init", "--quiet", "--bare", kept], check=True)
        if subprocess.run(["git", "--git-dir", kept, "fetch", "--depth", "1", address, commit or "HEAD"]).returncode:
            return None
    return kept


def refusal(text, every_protocol):
    """Why a file is no candidate, or None."""
    modules = re.findall(SOURCE, text)
    own = [module for module in modules if module == "k6" or module.startswith("k6/")]
    if not own:
        return "imports nothing of k6"
    if not ENTRY.search(text):
        return "a module, not a test"
    if machinery := other_machinery(modules, every_protocol):
        return machinery
    foreign = [module for module in modules if not re.match(r"k6$|k6/|\.{1,2}/|/|https?:|file:", module)]
    if foreign:
        return "needs a bundler"
    return None


def other_machinery(modules, every_protocol):
    """What a script needs that the sample leaves out, or None."""
    if every_protocol:
        if any(BROWSER.match(module) for module in modules):
            return "browser"
        if any(module.startswith("k6/x/") and not USUAL_EXTENSION.match(module) for module in modules):
            return "an extension that is not among the usual ones"
        return None
    if not any(module in ("k6/http", "k6/ws", "k6/websockets", "k6/experimental/websockets") for module in modules):
        if not any(module.startswith(".") for module in modules):
            return "no HTTP and no WebSocket"
    if any(OTHER_MACHINERY.match(module) for module in modules):
        return "browser, gRPC, Redis or an extension"
    return None


def files(history, commit):
    """Path and content of every plain file which is neither huge nor somebody else's package."""
    listing = git(history, "ls-tree", "-r", "-l", "-z", commit).decode(errors="surrogateescape")
    kept = []
    for line in filter(None, listing.split("\0")):
        facts, _, path = line.partition("\t")
        mode, _, identity, size = facts.split()
        if mode.startswith("100") and size.isdigit() and int(size) <= FILE_BYTES_MAX and "node_modules/" not in path:
            kept.append((path, identity))
    wanted = "".join(f"{identity}\n" for _, identity in kept).encode()
    batch = subprocess.run(["git", "--git-dir", history, "cat-file", "--batch"], input=wanted, check=True, capture_output=True)
    content, at = batch.stdout, 0
    for path, _ in kept:
        end = content.index(b"\n", at)
        size = int(content[at:end].split()[2])
        yield path, content[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def candidates(history, commit, every_protocol):
    for path, content in files(history, commit):
        if not path.endswith(EXTENSIONS):
            continue
        why = refusal(content.decode(errors="replace"), every_protocol)
        yield path, hashlib.sha256(content).hexdigest(), why


def draw(folder, mirror, listed, sample, every_protocol):
    found, refused, commits, absent = [], collections.Counter(), {}, []
    for repository in repositories(listed):
        history = history_of(repository, mirror, folder, None)
        if history is None:
            absent.append(repository)
            continue
        commits[repository] = git(history, "rev-parse", "HEAD").decode().strip()
        for path, digest, why in candidates(history, commits[repository], every_protocol):
            if why is None:
                found.append((hashlib.sha256(f"{repository}/{path}".encode()).hexdigest(), repository, path, digest))
            elif why != "imports nothing of k6":
                refused[why] += 1
    taken, of, contents = [], collections.Counter(), set()
    for _, repository, path, digest in sorted(found):
        if of[repository] < SCRIPTS_PER_REPOSITORY and len(taken) < SCRIPTS and digest not in contents:
            of[repository] += 1
            contents.add(digest)
            taken.append({"repository": repository, "path": path, "commit": commits[repository], "sha256": digest})
    sample.write_text(json.dumps({
        "candidates": len(found),
        "refused": dict(sorted(refused.items())),
        "repositories_asked": len(repositories(listed)),
        "repositories_without_a_copy": len(absent),
        "scripts": taken,
    }, indent=1) + "\n")
    print(f"{len(taken)} scripts of {len(of)} repositories, from {len(found)} candidates; refused: {dict(refused)}; no copy: {len(absent)}")


def plant(folder, mirror, sample):
    """Writes the files of every sampled repository, so that scripts find their modules and data."""
    scripts = json.loads(sample.read_text())["scripts"]
    for repository, commit in sorted({(script["repository"], script["commit"]) for script in scripts}):
        tree = folder / "tree" / repository.replace("/", "+")
        if tree.exists():
            continue
        history = history_of(repository, mirror, folder, commit)
        for path, content in files(history, commit):
            place = (tree / path).resolve()
            if place.is_relative_to(tree.resolve()):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
    for script in scripts:
        content = (folder / "tree" / script["repository"].replace("/", "+") / script["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == script["sha256"], script


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--mirror", type=pathlib.Path, help="folder of NAME+REPOSITORY/repo bare git directories")
    arguments.add_argument("--repositories", type=pathlib.Path, default=HERE / "repositories.txt")
    arguments.add_argument("--sample", type=pathlib.Path, default=HERE / "sample.json")
    arguments.add_argument("--every-protocol", action="store_true", help="take scripts that need gRPC, Redis or a usual extension, too")
    arguments.add_argument("--again", action="store_true", help="draw nothing, only write the files")
    chosen = arguments.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if not chosen.again:
        draw(chosen.folder, chosen.mirror, chosen.repositories, chosen.sample, chosen.every_protocol)
    plant(chosen.folder, chosen.mirror, chosen.sample)


if __name__ == "__main__":
    main()
