"""JSON lines for programs in any language: the tools over stdin and stdout.

lines cuts bytes into lines · messages reads and writes them · outbox orders what goes out · stdio carries bytes ·
server answers. The first three are pure.
"""
