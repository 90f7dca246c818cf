#!/bin/bash
# usage: documentdb-up.sh DIR [PORT]      start a server with MongoDB's protocol for tests, or say that it is up
#        documentdb-up.sh --stop DIR      stop it and remove DIR
#
# FerretDB in front of PostgreSQL 18 with the DocumentDB extension: Debian unstable's packages, unpacked into a cache and run below
# it with chroot, and the Go module proxy. Nothing is installed. It isn't mongod: an aborted transaction's insert stays, there
# is no w:0 and no change stream, serverStatus has no wiredTiger, opcounters and mem, and a range read
# uses an index only with a hint. On success the last line is "up: URI pids FERRETDB,POSTGRES"; else a reason and a
# status that isn't 0.
set -euo pipefail
me=documentdb-up
. "$(dirname "$0")/lib.sh"

ferretdb=github.com/FerretDB/FerretDB/v2/cmd/ferretdb@v2.7.0
cache=$(cache_dir documentdb)
root=$cache/root
bin=/usr/lib/postgresql/18/bin
# The user that PostgreSQL, which refuses root, runs as below the changed root.
in_root=(chroot --userspec=999:999 "$root")

# stop_all: the proxy first, then the database; SIGINT makes PostgreSQL break off connections.
stop_all() {
  stop "$dir/ferretdb.pid" TERM
  stop "$dir/postgres.pid" INT
  if [ -r "$dir/name" ]; then rm -rf "$root/db/$(< "$dir/name")"; fi
}

if [ "${1-}" = --stop ]; then
  [ -d "${2-}" ] || exit 0
  dir=$(cd "$2" && pwd)
  stop_all
  rm -rf "$dir"/{state,name,port,ferretdb.log,postgres.log}
  rmdir "$dir" 2> /dev/null || true
  exit 0
fi

[ $# -ge 1 ] || fail "usage: documentdb-up.sh DIR [PORT]"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
port=${2:-0}
up() { echo "up: mongodb://127.0.0.1:$(< "$dir/port")/ pids $1,$2"; }

if f=$(alive "$dir/ferretdb.pid") && p=$(alive "$dir/postgres.pid"); then up "$f" "$p"; exit 0; fi
need_debian_root
command -v go > /dev/null || fail "needs go, to build FerretDB"
stop_all

# fill_root ROOT: the packages, and the little that makes them a system: a shell, a user, a host name (the extension connects to
# "localhost"), device nodes, unversioned PostGIS, and the loader's cache.
fill_root() {
  local r=$1 c n
  mkdir -p "$r"/usr/{bin,sbin,lib,lib64}
  for c in bin sbin lib lib64; do ln -s "usr/$c" "$r/$c"; done
  unpack_packages "$r" 'perl.*|libperl.*|nodejs.*|systemd.*|libsystemd-shared.*|udev.*|login.*' \
    postgresql-18-documentdb dash coreutils libc-bin tzdata
  ln -sf dash "$r/usr/bin/sh"
  mkdir -p "$r"/{dev/shm,tmp,etc,db}
  chmod 755 "$r"
  chmod 1777 "$r/tmp" "$r/dev/shm"
  for n in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "$r/dev/${n%:*}" c 1 "${n#*:}" || fail "can't make device nodes here"; done
  echo 'postgres:x:999:999::/db:/bin/sh' > "$r/etc/passwd"
  echo 'postgres:x:999:' > "$r/etc/group"
  echo '127.0.0.1 localhost' > "$r/etc/hosts"
  for c in "$r"/usr/share/postgresql/18/extension/postgis*-3.control; do
    if [ -e "$c" ]; then ln -sf "${c##*/}" "${c%-3.control}.control"; fi
  done
  ldconfig -r "$r"
  chown 999:999 "$r/db"
}
fill_bin() {
  GOFLAGS=-buildvcs=false CGO_ENABLED=0 GOBIN=$1 go install "$ferretdb" > "$dir/ferretdb.log" 2>&1 9>&- ||
    fail "can't build FerretDB: $(tail -n 1 "$dir/ferretdb.log")"
}
once "$root" fill_root
once "$cache/bin" fill_bin

if [ "$port" = 0 ]; then port=$(free_port); elif port_in_use "$port"; then fail "port $port is in use"; fi
pgport=$(free_port)
[ "$pgport" != "$port" ] || pgport=$(free_port)
# A data directory for this DIR alone: others may be using the same unpacked packages.
name=run-$(echo "$dir" | cksum | tr ' ' -)
db=/db/$name
echo "$name" > "$dir/name"
echo "$port" > "$dir/port"
trap 'stop_all' EXIT

rm -rf "${root:?}$db"
mkdir "$root$db"
chown 999:999 "$root$db"
"${in_root[@]}" "$bin/initdb" -D "$db/data" -A trust -U postgres --locale=C.UTF-8 --no-sync > "$dir/postgres.log" 2>&1 ||
  fail "can't make a PostgreSQL data directory: $(tail -n 1 "$dir/postgres.log")"
cat >> "$root$db/data/postgresql.conf" <<C
listen_addresses = '127.0.0.1'
unix_socket_directories = '$db'
max_connections = 300
fsync = off
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum'
documentdb.alternate_index_handler_name = 'extended_rum'
cron.database_name = 'postgres'
C
setsid "${in_root[@]}" "$bin/postgres" -D "$db/data" -p "$pgport" >> "$dir/postgres.log" 2>&1 < /dev/null &
remember "$dir/postgres.pid" $!
psql=("${in_root[@]}" "$bin/psql" -h "$db" -p "$pgport" -U postgres -q -v ON_ERROR_STOP=1)
for _ in {1..600}; do
  p=$(alive "$dir/postgres.pid") || fail "PostgreSQL ended at its start: $(tail -n 1 "$dir/postgres.log")"
  if "${psql[@]}" -c 'select 1' > /dev/null 2>&1; then break; fi
  sleep 0.1
done
"${psql[@]}" -c 'set client_min_messages = error' -c 'create extension if not exists documentdb cascade' \
  -c 'create extension if not exists documentdb_extended_rum' > "$dir/postgres.out" 2>&1 ||
  { why=$(tail -n 1 "$dir/postgres.out"); rm -f "$dir/postgres.out"; fail "can't create the DocumentDB extension: $why"; }
rm -f "$dir/postgres.out"

mkdir -p "$dir/state"
setsid "$cache/bin/ferretdb" --postgresql-url="postgres://postgres@127.0.0.1:$pgport/postgres" --listen-addr="127.0.0.1:$port" \
  --debug-addr=- --no-auth --telemetry=disable --state-dir="$dir/state" --log-level=error > "$dir/ferretdb.log" 2>&1 < /dev/null &
remember "$dir/ferretdb.pid" $!
for _ in {1..300}; do
  f=$(alive "$dir/ferretdb.pid") || fail "FerretDB ended at its start: $(tail -n 1 "$dir/ferretdb.log")"
  if port_in_use "$port"; then trap - EXIT; up "$f" "$p"; exit 0; fi
  sleep 0.1
done
fail "FerretDB did not answer within 30 s: $(tail -n 1 "$dir/ferretdb.log")"
