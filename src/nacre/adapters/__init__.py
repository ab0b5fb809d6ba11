"""nacre for agent frameworks: one module per framework, with an extra of the same name.

An adapter translates calls and answers. The tool and the engine run commands and keep the promises; no adapter has
rules of its own.
"""
