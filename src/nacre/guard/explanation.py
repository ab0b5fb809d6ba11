"""A verdict in words, for people: the rule, the place in the command, the command that would run."""

from nacre.guard.verdict import Verdict


def explain_verdict(command: str, verdict: Verdict) -> str:
    """Say which part of the command decided, and why."""
    if verdict.decision == "allow":
        return "allow: no rule objects"
    lines = [f"{verdict.decision}: rule {verdict.rule}"]
    if verdict.span is not None:
        lines += _marked(command, verdict.span)
    if verdict.subject:
        ran, _, reason = verdict.subject.partition(": ")
        lines.append(f"  runs: {ran}")
        if reason:
            lines.append(f"  why:  {reason}")
    lines.append(f"  says: {verdict.message}")
    return "\n".join(lines)


def _marked(command: str, span: tuple[int, int]) -> list[str]:
    """Return the line in which the span begins, with carets under the span."""
    start, end = span
    line_start = command.rfind("\n", 0, start) + 1
    line_end = command.find("\n", start)
    line_end = len(command) if line_end < 0 else line_end
    number = command.count("\n", 0, start) + 1
    label = f"  line {number}: "
    line = command[line_start:line_end].replace("\t", " ")
    width = max(min(end, line_end) - start, 1)
    return [label + line, " " * (len(label) + start - line_start) + "^" * width]
