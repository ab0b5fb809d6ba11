"""What the caller of a running command asks of its runner."""

from __future__ import annotations

from nacre.warden import guardian, keeping, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Request
    from nacre.warden.supervisor import Supervisor


def listen(supervisor: Supervisor) -> None:
    """Do what has been asked."""
    for request, fds in supervisor.channel.receive():
        obey(supervisor, request, fds)
    if not supervisor.channel.open:
        hung_up(supervisor)


def hung_up(supervisor: Supervisor) -> None:
    """Stop a foreground command whose caller is gone."""
    guardian.wake_parent()
    supervisor.poll.unregister(supervisor.channel.reading)
    foreground = supervisor.job is None or supervisor.attended
    if foreground and not supervisor.reported and not supervisor.start.outlives:
        supervisor.stop("caller gone")


def obey(supervisor: Supervisor, request: Request, fds: list[int]) -> None:
    if request["op"] == "go":
        supervisor.set_limits(request["timeout"], request["grace"], elapsed=request["elapsed"])
    elif request["op"] == "rest":
        # The turn of a session has ended, and its limits with it.
        supervisor.deadline = supervisor.budget_at = None
        supervisor.grace = 0.0
    elif request["op"] == "stop" and "mark" in request and supervisor.keepers.stop(request["mark"]):
        return
    elif request["op"] == "stop":
        supervisor.grace = request["grace"]
        supervisor.stop("stop")
    elif request["op"] == "signal":
        supervisor.tree.signal(request["number"])
    elif request["op"] == "survivors":
        _name_survivors(supervisor)
    elif request["op"] == "spent":
        supervisor.channel.send(protocol.spent(None if supervisor.budget is None else supervisor.budget.look()))
    elif request["op"] == "leave":
        supervisor.attended = False
        if supervisor.terminal is not None:
            supervisor.terminal.run_freely()
    elif request["op"] == "part":
        supervisor.keepers.part()
    elif request["op"] == "keep" and request["apart"]:
        supervisor.keepers.keep(request, fds, supervisor.named)
    elif request["op"] == "keep":
        keeping.keep(supervisor, request, fds)


def _name_survivors(supervisor: Supervisor) -> None:
    """Tell what is left beside the shell, which may wait for its next turn."""
    supervisor.collect()
    found = supervisor.survivors()
    supervisor.named = {one["pid"]: None for one in found}
    supervisor.channel.send(protocol.survivors(found, stays=supervisor.stays))
