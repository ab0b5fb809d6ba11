"""Commands on a Ray cluster: one agent per node, which only carries bytes; the far side on the node is that of every machine.

In reading order: node_agent (what runs on a node), ray_wire (the way to it), cluster_backend (nodes and placement),
task_results and task_map (many commands, each once).
"""
