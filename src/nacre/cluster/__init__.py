"""Commands on a Ray cluster: the nodes as one place, and many commands on it, each once.

`nacre.remote` has the way to a node. In reading order: cluster_backend (nodes and placement), task_results, task_map.
"""
