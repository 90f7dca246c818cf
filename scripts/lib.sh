# Shared by the scripts beside it; source it after setting `me`, the name that messages begin with.
# shellcheck shell=bash

fail() { echo "$me: $*" >&2; exit 1; }

# cache_dir NAME: where unpacked packages are kept between runs.
cache_dir() { echo "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/insertbench/$1"; }

# debian_mirror: the archive that this system's own apt is set to, security archives left out.
debian_mirror() {
  local files=() f
  for f in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do [ -r "$f" ] && files+=("$f"); done
  [ ${#files[@]} -gt 0 ] || return 0
  awk '/^URIs:/ {for (i = 2; i <= NF; i++) print $i}
       /^deb / {for (i = 2; i <= NF; i++) if ($i ~ /:\//) {print $i; break}}' "${files[@]}" | grep -v security | head -n 1
}

# need_debian_root: packages can be fetched and unpacked here, or the reason why not.
need_debian_root() {
  local tool
  [ "$(uname -s)" = Linux ] || fail "runs on Linux only"
  [ "$(id -u)" = 0 ] || fail "needs root, to unpack packages and to change root"
  for tool in apt-get dpkg-deb flock setsid; do
    command -v "$tool" > /dev/null || fail "needs $tool, which isn't installed"
  done
  [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || fail "needs Debian's archive keyring (package debian-archive-keyring)"
  [ -n "$(debian_mirror)" ] || fail "found no Debian archive in /etc/apt"
}

# unpack_packages ROOT SKIP PACKAGE...: downloads the packages and all they depend on from Debian unstable and unpacks them
# below ROOT. Nothing is installed: apt gets a state of its own, empty, so that it resolves every dependency.
# SKIP is an extended regular expression of package names that aren't needed to run.
unpack_packages() {
  local root=$1 skip=$2 apt deb options
  shift 2
  apt=$root/.apt # goes with ROOT if we are interrupted
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  : > "$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) sid main" > "$apt/sources.list"
  options=(-qq -y -o APT::Update::Error-Mode=any -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
    -o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=2
    -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
  if ! apt-get "${options[@]}" update > "$apt/log" 2>&1 || ! apt-get "${options[@]}" --download-only install "$@" >> "$apt/log" 2>&1; then
    local why
    why=$(grep "^[EW]:" "$apt/log" | head -n 1)
    fail "can't download $1 from Debian unstable: ${why:-apt-get failed}"
  fi
  for deb in "$apt"/cache/archives/*.deb; do
    if [[ ${deb##*/} =~ ^($skip)_ ]]; then continue; fi
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner \
      --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale --exclude='*/bitcode/*' ||
      fail "can't unpack ${deb##*/}"
  done
  rm -rf "$apt"
}

# once DIR FUNCTION: has FUNCTION fill a new directory, which becomes DIR when it is complete. Runs at the same time wait for one
# another, and an interrupted one leaves no half of it.
once() {
  local target=$1 fill=$2
  mkdir -p "${target%/*}"
  exec 9> "$target.lock"
  flock 9
  if [ ! -d "$target" ]; then
    rm -rf "$target.part"
    mkdir "$target.part"
    "$fill" "$target.part"
    mv "$target.part" "$target"
  fi
  exec 9>&-
}

port_in_use() { (echo > "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# free_port: one that nobody listens on, below the range that the kernel gives to outgoing connections.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + RANDOM % 12000))
    if ! port_in_use "$port"; then echo "$port"; return; fi
  done
  fail "found no free port"
}

# started_at PID: when it started, in clock ticks since boot (field 22 of /proc/PID/stat, the 20th after the name in
# parentheses). With its number it names a process for good.
started_at() {
  local stat
  { stat=$(< "/proc/$1/stat"); } 2> /dev/null || return 1
  set -- ${stat##*) }
  [ "$1" != Z ] && echo "${20}"
}

# remember FILE PID: notes a process that we started.
remember() { echo "$2 $(started_at "$2")" > "$1"; }

# alive FILE: prints the remembered process's number if it still runs.
alive() {
  local pid since
  [ -r "$1" ] && read -r pid since < "$1" && [ -n "$since" ] && [ "$(started_at "$pid")" = "$since" ] && echo "$pid"
}

# stop FILE SIGNAL: ends the remembered process and nothing else: SIGNAL, 20 s, SIGKILL.
stop() {
  local pid
  if pid=$(alive "$1"); then
    kill -s "$2" "$pid" 2> /dev/null
    for _ in {1..200}; do alive "$1" > /dev/null || break; sleep 0.1; done
    if pid=$(alive "$1"); then kill -s KILL "$pid" 2> /dev/null; fi
  fi
  rm -f "$1"
}
