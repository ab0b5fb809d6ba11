"""Commands on other machines: the same far side, started there by an argv, by ssh or by a cluster, over one link.

In reading order: places (how a machine is named), wire and ssh_wire (the ways to reach one), boot (what starts the far
side there), link (one connection, kept up), link_thread, remote_process and remote_backend (the seam), job_follower
(the local process of a job that runs there), shell_call and remote_bash (the shell of a session there).
"""
