# The functions of the run-time guard. runtime_guard.py puts those that a command needs in front of it, with
# @start@ (where the script began) and @notes@ (where a refusal is written down) replaced.

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

function command {
  case ${1-} in
    rm|/bin/rm|/usr/bin/rm) __nacre_rm_allowed "${@:2}" || return 1 ;;
    -p|--) case ${2-} in rm|/bin/rm|/usr/bin/rm) __nacre_rm_allowed "${@:3}" || return 1 ;; esac ;;
  esac
  builtin command "$@"
}

function __nacre_checked {
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

function __nacre_feeding {
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
