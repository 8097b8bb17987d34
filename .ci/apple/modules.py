#!/usr/bin/env python3
"""Prints the modules of a package in the order in which they can be compiled.

Reads what `swift package dump-package` prints from the standard input, and the folder of the
package from the first argument. One line a module: its name, its folder, its compiler flags, and
the resources that are embedded in its code, parted by bars. System libraries, C, tests and what only
tests use are left out.
"""
import json
import os
import sys


def flags(target):
    """The compiler flags that stand for a target's Swift settings."""
    result = []
    for setting in target["settings"]:
        if setting["tool"] != "swift" or "condition" in setting:
            continue
        for kind, value in setting["kind"].items():
            if kind == "enableUpcomingFeature":
                result += ["-enable-upcoming-feature", value["_0"]]
            elif kind == "enableExperimentalFeature":
                result += ["-enable-experimental-feature", value["_0"]]
            elif kind == "strictMemorySafety":
                result.append("-strict-memory-safety")
            elif kind == "define":
                result += ["-D", value["_0"]]
    return result


def names(target):
    """The names of what a target depends on, wherever it is built."""
    for dependency in target["dependencies"]:
        for kind in ("byName", "target"):
            if kind in dependency:
                yield dependency[kind][0]


def embedded(target, folder):
    """The files of a target that the package manager embeds in its code."""
    for resource in target["resources"]:
        if "embedInCode" not in resource["rule"]:
            continue
        path = os.path.join(folder, resource["path"])
        if os.path.isdir(path):
            yield from sorted(os.listdir(path))
        else:
            yield os.path.basename(path)


def is_swift(target, root):
    """Whether a target has Swift files: those of C have headers alone that others see."""
    folder = os.path.join(root, target.get("path") or os.path.join("Sources", target["name"]))
    return any(name.endswith(".swift") for _, _, names in os.walk(folder) for name in names)


def main():
    root = sys.argv[1]
    package = json.load(sys.stdin)
    kinds = ("regular", "executable")
    targets = {t["name"]: t for t in package["targets"] if t["type"] in kinds and is_swift(t, root)}
    done = []

    def visit(name):
        if name in targets and name not in done:
            for other in names(targets[name]):
                visit(other)
            done.append(name)

    for name in targets:
        visit(name)
    for name in done:
        target = targets[name]
        folder = target.get("path") or f"Sources/{name}"
        if folder.startswith("Tests/"):
            continue
        files = embedded(target, os.path.join(root, folder))
        print(name, folder, " ".join(flags(target)), " ".join(files), sep="|")


main()
