"""nacre for agent frameworks: one module each, imported only by those who use it, with an extra of the same name.

An adapter translates: the framework's call to ours, our answer to the framework's. What runs, and what is promised, is
the tool's or the engine's; no adapter has rules of its own.
"""
