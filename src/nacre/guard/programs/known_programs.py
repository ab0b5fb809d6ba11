"""Programs known not to run their arguments: to them `rm -rf /` is text, file names or another machine's business.

Behind a program that is not listed here, and not a known wrapper, the words are searched for a command.
"""

from typing import Final

NOT_RUNNING_OTHERS: Final = frozenset(
    """
    : [ test true false echo print printf cat bat tac nl head tail less more most ls dir vdir tree eza exa lsd stat
    file du df wc grep egrep fgrep zgrep rg ripgrep ag ack pt ugrep sift look strings ast-grep sed gsed awk gawk
    mawk nawk cut paste join tr sort uniq comm diff cmp sdiff colordiff patch fold fmt pr column expand unexpand rev
    split csplit tee yes seq factor rm rmdir unlink mkdir touch cp mv ln install dd truncate shred mktemp chmod
    chown chgrp chattr setfacl mknod mkfifo which whereis type whatis apropos man info help tldr cheat hash locate
    mlocate plocate updatedb command-not-found cd pushd popd dirs pwd export unset set shopt alias unalias read
    mapfile readarray let declare typeset local readonly return exit break continue shift getopts ulimit umask wait
    jobs fg bg disown kill killall pkill pgrep ps top htop date cal sleep uptime who whoami w id groups hostname
    uname arch dmesg lscpu free vmstat iostat lsof netstat ss say espeak figlet toilet cowsay cowthink lolcat banner
    fortune notify-send osascript logger wall write mesg mail mailx mutt sendmail xmessage zenity dialog whiptail
    pbcopy xclip xsel wl-copy clip open xdg-open gh hub-ci glab tea jira linear az aws gcloud kubectl helm oc docker
    podman nerdctl buildah skopeo docker-compose crictl ssh scp sftp rsync mosh telnet ftp curl wget http nc ncat
    socat ping dig nslookup host whois traceroute python python2 python3 pypy pypy3 ipython perl ruby node nodejs
    deno bun php lua luajit java javac scala kotlin groovy R Rscript julia ghc runghc go cargo rustc gcc g++ clang
    clang++ cc c++ ld as make gmake cmake ninja meson bazel mvn gradle npm pnpm yarn pip pip3 pipx poetry uv conda
    mamba brew apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk snap flatpak port nix-env gem bundle composer
    cpan cpanm stack cabal opam mix hex rebar3 luarocks psql mysql mariadb sqlite3 mongo mongosh redis-cli
    clickhouse-client duckdb cqlsh influx jq yq xmllint xsltproc pandoc tex latex pdflatex xelatex convert magick
    ffmpeg ffprobe tar zip unzip gzip gunzip bzip2 xz zstd 7z rar unrar cpio ar base64 base32 md5sum sha1sum
    sha256sum sha512sum openssl gpg vi vim nvim nano emacs ed ex code subl svn hg bzr cvs fossil jj sl repo tig
    lazygit gitk git-gui pytest tox nox mypy ruff black flake8 pylint eslint prettier jest vitest mocha tsc rubocop
    shellcheck shfmt systemctl service journalctl crontab at batch loginctl timedatectl mount umount fdisk parted
    lsblk blkid mkswap useradd userdel usermod groupadd passwd chsh visudo history fc expr bc dc basename dirname
    realpath readlink cf heroku vercel netlify fly flyctl terraform ansible ansible-playbook vagrant packer storm
    asciinema lxc multipass pssh parallel-ssh clush salt
    """.split()  # noqa: SIM905 (a table of words reads better as text)
)
