"""Programs that give another program its arguments: xargs, parallel, find, fd.

Only the words are looked at; the caller fills in the input that they read.
"""

import itertools
import re

from nacre.bash.backslashes import decode
from nacre.guard.interpret.alphabet import UNKNOWN, plain
from nacre.guard.programs.finds import find_call
from nacre.guard.programs.inner import Inner, option_end
from nacre.guard.programs.wrapper_table import options


def xargs(argv: tuple[str, ...]) -> Inner:
    row = options("-aEIdLnPs --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var")
    index, values = option_end(argv, row)
    rest = argv[index:] or ("echo",)
    placeholder = plain(
        values.get("-I") or values.get("--replace") or ("{}" if {"-i", "--replace"} & values.keys() else "")
    )
    source = plain(values.get("-a") or values.get("--arg-file") or "")
    delimiter = values.get("-d") or values.get("--delimiter")
    separator = "\0" if {"-0", "--null"} & values.keys() else decode(plain(delimiter)) if delimiter else None
    return Inner((rest,), reads_arguments=True, placeholder=placeholder, separator=separator, source=source)


def parallel(argv: tuple[str, ...]) -> Inner:
    row = options(
        "-jNnILSaPdEs --jobs --max-args --max-procs --arg-file --joblog --results --sshlogin --delay --timeout "
        "--retries --colsep --tmpdir --workdir --load"
    )
    index, _ = option_end(argv, row)
    words = [plain(word) for word in argv[index:]]
    cut = next((i for i, word in enumerate(words) if word in (":::", "::::", ":::+")), len(words))
    template, values = words[:cut], [word for word in words[cut + 1 :] if not word.startswith(":::")]
    if any(re.search(r"\{\d\}", word) for word in template):
        return Inner(scripts=_combined(" ".join(template), words[cut:]))
    if cut == len(words):
        return Inner((argv[index:],), (" ".join(template),) if template else (), reads_arguments=True, placeholder="{}")
    if words[cut] == "::::":
        values = [UNKNOWN]
    if not template:
        return Inner(scripts=tuple(values))
    joined = " ".join(template)
    scripts = tuple(joined.replace("{}", value) if "{}" in joined else f"{joined} {value}" for value in values)
    return Inner(scripts=scripts)


def _combined(template: str, sources: list[str]) -> tuple[str, ...]:
    """`parallel … {1} … {2} ::: a b ::: c d`: one script for each combination."""
    lists: list[list[str]] = []
    for word in sources:
        if word.startswith(":::"):
            lists.append([UNKNOWN] if word == "::::" else [])
        elif lists and UNKNOWN not in lists[-1]:
            lists[-1].append(word)
    scripts = []
    for choice in itertools.islice(itertools.product(*lists), 64):
        script = template
        for number, value in enumerate(choice, 1):
            script = script.replace(f"{{{number}}}", value)
        scripts.append(script)
    return tuple(scripts)


def find(argv: tuple[str, ...]) -> Inner:
    commands = [tuple(word.replace("{}", UNKNOWN) for word in command) for command in find_call(argv).commands]
    return Inner(tuple(filter(None, commands)))


def fd(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None:
        return Inner()
    inner = tuple(re.sub(r"\{[./]*\}", UNKNOWN, word) for word in argv[at + 1 :])
    return Inner((inner,) if inner else ())
