"""Whose a job is: its session's, then its project's.

The project is the nearest directory upward that holds `.git` or `nacre.toml`, else the directory itself. The record of
a job names both; one of an earlier version names neither, and belongs to the projects that its directory is in.
"""

from __future__ import annotations

import os

from nacre.jobs.job import Job, Listing
from nacre.request import Owner
from nacre.warden import children
from nacre.warden_client.path_query import UnansweredError, look

# A directory that does not answer for so long is its own project.
LOOK_SECONDS = 1.0
_NAMED = "named "

# Directory → project, of those that were found. A program has few, and they seldom change.
_PROJECTS: dict[str, str] = {}


def named_session(name: str) -> str:
    """Return the key of a session that programs share by its name."""
    return f"{_NAMED}{name}"


def own_session(key: str) -> str:
    """Return the key of a session of this process, unique among all processes."""
    pid = os.getpid()
    return f"{pid}:{children.start_time(pid)} {key}"


async def project_of(directory: str) -> str:
    """Return the project of a directory; the directory itself when its file system does not answer."""
    known = _PROJECTS.get(directory)
    if known is None:
        try:
            known = await look("project", directory, LOOK_SECONDS)
        except UnansweredError:
            return directory
        _PROJECTS[directory] = known
    return known


def owns(session: str | None, project: str, job: Job) -> bool:
    """Return whether a job belongs to this session or to this project."""
    if session is not None and job.record.get("session") == session:
        return True
    known = job.record.get("project")
    if known is not None:
        return bool(known == project)
    cwd = job.record.get("cwd")
    return isinstance(cwd, str) and f"{cwd}/".startswith(f"{project.rstrip('/')}/")


def split(listing: Listing, session: str | None, project: str) -> tuple[Listing, int]:
    """Return the jobs of this owner, and how many others there are."""
    own = tuple(job for job in listing.jobs if owns(session, project, job))
    return Listing(own, listing.damaged), len(listing.jobs) - len(own)


async def own_jobs(owner: Owner, listing: Listing) -> tuple[Listing, int]:
    """Return the same for a caller that may not wait for a file system."""
    return split(listing, owner.session, await project_of(owner.directory))


def hears(owner: Owner, project: str, job: Job) -> bool:
    """Return whether this owner is told of a job's end: it started the job, or no other owner is left to be told."""
    session = job.record.get("session")
    if owner.session is not None and session == owner.session:
        return True
    if _started_here(job):
        # A listener without a session listens for the whole program.
        return owner.session is None or session is None
    if owner.session is not None and isinstance(session, str) and session.startswith(_NAMED):
        # That session may come back.
        return False
    return not _is_alive(job) and owns(None, project, job)


def _started_here(job: Job) -> bool:
    return job.record.get("ownerPid") == os.getpid() and _is_alive(job)


def _is_alive(job: Job) -> bool:
    """Return whether the program that started the job still runs."""
    pid = job.record.get("ownerPid")
    return isinstance(pid, int) and children.start_time(pid) == job.record.get("ownerStart")


def others_line(others: int, how: str) -> str:
    """Return how many jobs a list leaves out, and how to see them."""
    jobs = "1 job of another session or project is" if others == 1 else f"{others} jobs of other projects are"
    return f"{jobs} not listed; {how}"
