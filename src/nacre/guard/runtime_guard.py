"""The run-time guard: a prologue for bash that looks at the targets of a recursive rm when they are known.

Pure: gives shell text, or None when the command has no recursive rm with a target that is not spelled out; then it
costs nothing. What the prologue reaches and what it does not is in docs/design/guard.md.
"""

from typing import Final

from nacre.bash.tree import UnreadableError
from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import is_known, is_opaque
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.interpret.shell_state import ShellState
from nacre.guard.interpret.walk import read_script
from nacre.guard.programs.wrapper_table import WRAPPERS, Options
from nacre.guard.rules.removal import removal
from nacre.warden.launch import quoted

# Wrappers whose words are known to the shell when it calls them.
_CHECKED_WRAPPERS: Final = {
    name: WRAPPERS.get(name, Options("wE", operands=1))
    for name in names("sudo doas env nice ionice nohup timeout stdbuf setsid busybox flock chrt taskset")
}
# Wrappers that add the words themselves: rm is replaced by a bash that checks them.
_FEEDING_WRAPPERS: Final = frozenset(("xargs", "find"))
_SHELLS: Final = frozenset(("bash",))

_CORE: Final = r"""
function __nacre_critical {
  local path=$1 name part rest home=${HOME-} physical start=@start@
  case $path in /*) ;; *) path=$PWD/$path ;; esac
  rest=$path/ path=
  while [ -n "$rest" ]; do
    part=${rest%%/*} rest=${rest#*/}
    case $part in ''|.) ;; ..) path=${path%/*} ;; *) path=$path/$part ;; esac
  done
  name=${path##*/}
  case $name in .git) found=$path; return 0 ;; esac
  for physical in no yes; do
    if [ "$physical" = yes ]; then
      [ "${1%/}" = "$1" ] || name=
      if [ -n "$name" ]; then
        rest=$(builtin cd -P -- "${path%/*}/" 2>/dev/null && builtin pwd -P) || return 1
        path=${rest%/}/$name
      else
        path=$(builtin cd -P -- "$path/" 2>/dev/null && builtin pwd -P) || return 1
        path=${path%/}
      fi
      home=$(builtin cd -P -- "${HOME:-/}/" 2>/dev/null && builtin pwd -P) || home=
    fi
    found=${path:-/}
    case $path in
      ''|/bin|/boot|/dev|/etc|/home|/lib|/lib32|/lib64|/libx32|/media|/mnt|/opt|/proc|/root|/run|/sbin) return 0 ;;
      /srv|/sys|/tmp|/usr|/var|/Users|/System|/Library|/Applications|/Volumes|/private|/nix|/snap) return 0 ;;
      /usr/local|/usr/bin|/usr/lib|/usr/sbin|/usr/share|/var/lib) return 0 ;;
      /home/*/*|/Users/*/*) ;;
      /home/*|/Users/*) return 0 ;;
    esac
    case ${home%/}/ in "$path"/*) return 0 ;; esac
    case ${start%/}/ in "$path"/*) return 0 ;; esac
  done
  return 1
}
function __nacre_rm_allowed {
  local word recursive= ended= found=
  for word in "$@"; do
    case $ended$word in --) ended=1 ;; --r*) recursive=1 ;; --*) ;; -*[rR]*) recursive=1 ;; esac
  done
  [ -n "$recursive" ] || return 0
  ended=
  for word in "$@"; do
    if [ -z "$ended" ]; then
      case $word in --) ended=1; continue ;; -?*) continue ;; esac
    fi
    [ -n "$word" ] || continue
    if __nacre_critical "$word"; then
      builtin printf 'rm: refused by nacre: %s is critical\n' "$found" >&2
      { @notes@ builtin printf 'refused %q\n' "$found"; } 2>/dev/null
      return 1
    fi
  done
  return 0
}
"""
_PROGRAM: Final = """function {name} {{ __nacre_rm_allowed "$@" || return 1; builtin command {name} "$@"; }}
"""
_COMMAND: Final = r"""function command {
  case ${1-} in
    rm|/bin/rm|/usr/bin/rm) __nacre_rm_allowed "${@:2}" || return 1 ;;
    -p|--) case ${2-} in rm|/bin/rm|/usr/bin/rm) __nacre_rm_allowed "${@:3}" || return 1 ;; esac ;;
  esac
  builtin command "$@"
}
"""
_CHECKED: Final = r"""function __nacre_checked {
  local name=$1 letters=$2 skip=$3 index=4 word
  while [ "$index" -le "$#" ]; do
    word=${!index}
    case $word in
      --) index=$((index + 1)); break ;;
      -?) case $letters in *"${word#-}"*) index=$((index + 1)) ;; esac ;;
      -*) ;;
      [A-Za-z_]*=*) ;;
      *) break ;;
    esac
    index=$((index + 1))
  done
  index=$((index + skip))
  [ "$index" -le "$#" ] || return 0
  word=${!index}
  case $word in
    rm|/bin/rm|/usr/bin/rm) __nacre_rm_allowed "${@:index+1}" ;;
    sudo|doas|env|nice|ionice|nohup|timeout|stdbuf|setsid|busybox|flock|chrt|taskset|command)
      case $word in timeout|flock|chrt|taskset) skip=1 ;; *) skip=0 ;; esac
      __nacre_checked "$word" uCcDghpRrtTUakioens "$skip" "${@:index+1}" ;;
  esac
}
"""
_WRAPPER: Final = """function {name} {{
  __nacre_checked {name} "{letters}" {operands} "$@" || return 1
  builtin command {name} "$@"
}}
"""
_FEEDING: Final = r"""function __nacre_feeding {
  local name=$1 word previous= index=0 fed=
  local -a words=()
  shift
  local source
  source="$(builtin declare -f __nacre_critical __nacre_rm_allowed); "
  source+='__nacre_rm_allowed "$@" || exit 1; exec rm "$@"'
  for word in "$@"; do
    index=$((index + 1))
    case $name:$previous:$word in
      find:-exec:rm|find:-exec:/bin/rm|find:-exec:/usr/bin/rm|find:-execdir:rm|find:-ok:rm|find:-okdir:rm)
        words+=("$BASH" -c "$source" rm) ;;
      xargs:*:rm|xargs:*:/bin/rm|xargs:*:/usr/bin/rm)
        if [ -z "$fed" ]; then words+=("$BASH" -c "$source" rm); else words+=("$word"); fi
        fed=1 ;;
      *)
        # The first word that is no option or option's value is the program of xargs; later ones are its arguments.
        case $name:$word:$previous in
          xargs:-*:*|xargs:*:-[aEIdLnPs]) ;;
          xargs:*) fed=1 ;;
        esac
        words+=("$word") ;;
    esac
    previous=$word
  done
  builtin command "$name" "${words[@]}"
}
"""
_FEEDER: Final = """function {name} {{ __nacre_feeding {name} "$@"; }}
"""


def runtime_guard(command: str, state: ShellState | None = None) -> str | None:
    """The prologue that this command needs in a shell that knows the state, or None."""
    try:
        reading = read_script(command, state=state)
    except UnreadableError:
        # The review refuses it; there is nothing to guard.
        return None
    calls = [invocation for invocation in reading.invocations if _is_open_ended(invocation)]
    return _prologue(calls) if calls else None


def _is_open_ended(invocation: Invocation) -> bool:
    call = removal(invocation.argv)
    if call is None or not call.recursive:
        return False
    return any(_is_open_ended_word(word) for word in invocation.argv[1:])


def _is_open_ended_word(word: str) -> bool:
    return is_opaque(word) or any(char in word for char in "*?[") or (".." in word and not is_known(word))


def _prologue(calls: list[Invocation]) -> str:
    via = {name for call in calls for name in call.via}
    # Where the script begins stands in the text itself, so that no variable has to hold it.
    before, _, after = _CORE.partition("@start@")
    core = f'builtin eval {quoted(before)}"${{PWD@Q}}"{quoted(after)}\n'
    texts = [core, *(_PROGRAM.format(name=name) for name in ("rm", "/bin/rm", "/usr/bin/rm")), _COMMAND]
    checked = [name for name in _CHECKED_WRAPPERS if name in via]
    if checked:
        texts.append(_CHECKED)
        for name in checked:
            options = _CHECKED_WRAPPERS[name]
            texts.append(_WRAPPER.format(name=name, letters=options.short, operands=options.operands))
    feeding = sorted(_FEEDING_WRAPPERS & via)
    if feeding:
        texts.append(_FEEDING)
        texts += [_FEEDER.format(name=name) for name in feeding]
    if via & _SHELLS:
        # A child bash sees functions only through the environment; nothing is exported when no child needs it.
        names = "__nacre_critical __nacre_rm_allowed rm command"
        texts.append(f"export -f {names}\n")
    return "".join(texts)
