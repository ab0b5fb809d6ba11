"""The guard: a tree of shell text → what each command would be called with → a verdict.

It reads a command before it runs and refuses what an agent would regret. It never raises, and it never lets a command
pass that it could not check. docs/design/guard.md says what it catches and what it does not. Reading order:

1. `verdict`: what the guard answers: allow, ask or deny, with the rule and the place.
2. `prefilter`: most commands concern no rule and skip the rest.
3. `policy`: what a call is judged by; `review`: `review(command)`, the entry that the other steps serve.
4. `interpret/`: tree → invocations: `walk` first, then `blocks`, `commands` and `execute`; `words` and `parameters`
   expand a word to every value it may have, in the `alphabet` of known and unknown text; `scope` is what the script
   has set, `definitions` what the session had set before it.
5. `programs/`: what is known of programs: `wrappers` (which words are a command), `outputs` and `filters` (what a
   program prints), `shells`, `git_words`, `finds`, `getopt`; the tables are text files.
6. `rules/`: verdicts: `default_rules` names the rules of every profile; `removal`, `git`, `devices`, `fork_bombs` and
   `permissions` check them, with `critical_paths`; `extended/` and `embedded` are the strict profile's; `rule_file`
   is the user's own rules.
7. `approval`: what follows from a verdict: run, refuse, or ask.
8. `runtime_guard`: a second look by bash itself, at an rm whose targets are known only when it runs.
9. `interceptor`, `interceptor_file`: not a protection; names a tool that serves a command better.
"""
