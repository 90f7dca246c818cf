#!/bin/bash
# usage: mysql-up.sh DIR [PORT [mysqld option...]]     start MySQL 9 for tests, or say that it is up
#        mysql-up.sh --stop DIR                        stop it and remove DIR
#
# Oracle's MySQL from Debian unstable's packages, unpacked into a cache and run with their own loader
# and libraries. Nothing is installed, and it lives beside an installed MariaDB. DIR is new, or of
# an earlier call. On success the last line is "up: HOST:PORT socket PATH pid N program PATH"; else a
# reason and a status that isn't 0. root has no password.
set -euo pipefail
me=mysql-up
. "$(dirname "$0")/lib.sh"

if [ "${1-}" = --stop ]; then
  [ -d "${2-}" ] || exit 0
  stop "$2/mysqld.pid" TERM
  rm -rf "$2/data" "$2"/mysqld.{err,sock,sock.lock} "$2/port"
  rmdir "$2" 2> /dev/null || true
  exit 0
fi

[ $# -ge 1 ] || fail "usage: mysql-up.sh DIR [PORT [mysqld option...]]"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
port=${2:-0}
shift $(($# > 1 ? 2 : 1))
cache=$(cache_dir mysql)
program=$cache/bin/mysqld
up() { echo "up: 127.0.0.1:$(< "$dir/port") socket $dir/mysqld.sock pid $1 program $program"; }

if pid=$(alive "$dir/mysqld.pid"); then up "$pid"; exit 0; fi
need_debian_root
[ ${#dir} -le 80 ] || fail "$dir is too long a path for a socket"

# fill DIR: the packages, and a command that runs mysqld with its own loader, libraries and files. An option file's option has
# to come first.
fill() {
  unpack_packages "$1/root" 'perl.*|libperl.*|nodejs.*|libc-gconv.*|adduser|passwd' mysql-server-core libtcmalloc-minimal4t64
  mkdir "$1/bin"
  cat > "$1/bin/mysqld" <<'M'
#!/bin/sh
r=$(dirname "$(dirname "$(readlink -f "$0")")")/root/usr
case ${1-} in --defaults-file=* | --no-defaults) first=$1; shift ;; *) first=--no-defaults ;; esac
exec "$(ls "$r"/lib*/ld-linux-*.so.* | head -n 1)" --library-path "$(echo "$r"/lib/*-linux-gnu)" "$r/sbin/mysqld" "$first" --basedir="$r" \
  --lc-messages-dir="$r/share/mysql" --character-sets-dir="$r/share/mysql/charsets" --plugin-dir="$r/lib/mysql/plugin" --secure-file-priv= "$@"
M
  chmod 755 "$1/bin/mysqld"
  "$1/bin/mysqld" --version > /dev/null || fail "the unpacked mysqld doesn't run"
}
once "$cache" fill

if [ "$port" = 0 ]; then port=$(free_port); elif port_in_use "$port"; then fail "port $port is in use"; fi
log=$dir/mysqld.err
last_error() { grep -F '[ERROR]' "$log" | grep -v Aborting | tail -n 1; }
if [ ! -e "$dir/data/mysql.ibd" ]; then
  rm -rf "$dir/data"
  "$program" --no-defaults --user=root --datadir="$dir/data" --initialize-insecure > "$log" 2>&1 ||
    fail "can't make a data directory: $(last_error)"
fi
: > "$log"
setsid "$program" --no-defaults --user=root --datadir="$dir/data" --socket="$dir/mysqld.sock" --pid-file="$dir/data/server.pid" \
  --bind-address=127.0.0.1 --port="$port" --mysqlx=OFF --skip-log-bin --innodb-buffer-pool-size=64M --max-connections=500 \
  "$@" > "$log" 2>&1 9>&- < /dev/null &
remember "$dir/mysqld.pid" $!
echo "$port" > "$dir/port"
for _ in {1..1200}; do
  pid=$(alive "$dir/mysqld.pid") || fail "mysqld ended at its start: $(last_error)"
  if grep -q 'ready for connections' "$log"; then up "$pid"; exit 0; fi
  sleep 0.1
done
stop "$dir/mysqld.pid" KILL
fail "mysqld was not ready within two minutes: $(last_error)"
