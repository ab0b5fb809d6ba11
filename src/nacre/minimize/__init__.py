"""Shortens what a model reads of long output, and never hides evidence. Pure: text in, text out.

Reading order:

1. `minimiser`: `minimise(command, exit_code, text)`, the entry: what happens, in which order, and when nothing does.
2. `rows`: the output as rows that are shown, hidden with a reason, or cut; what is hidden is counted exactly.
3. `evidence`: which rows no stage may hide; the detectors are data (evidence.toml).
4. `calls`: which commands of a script print, and where in a chain one ends and the next begins.
5. `selection`: which families a command belongs to, from its parsed script and from its output.
6. `families`: families as data (filters/*.toml), each with examples.
7. `row_stages`: what a filter may do to rows.
8. `listings`: stages for names of files, matches and trees.
9. `user_filters`: the families in force, with those of the user; their examples are verified at load.
10. `repetition`: what a second run of a command says that the first did not.
11. `reports`: whether a shortened text agrees with the report that its tool wrote.
12. `savings`: what was saved and regretted, from the audit log.
"""
