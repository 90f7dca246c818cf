#!/bin/bash
# usage: test.sh [go test argument...]
#
# Runs go vet and go test over the tree, or over the packages (./…) among the arguments, with every database server that can be had here:
#
#   MariaDB with RocksDB   installed by install-mariadb.sh; the tests start their own
#   MySQL 9                brought up by mysql-up.sh, unless INSERTBENCH_MYSQL (host:port) names one
#   MongoDB's protocol     brought up by documentdb-up.sh, unless INSERTBENCH_DOCUMENTDB (a URI) names one
#   mongod                 only where MONGO_URI names one
#
# A server that can't be had is named at the end, one line each with the reason. INSERTBENCH_REQUIRE, a list such as
# mariadb,mysql, makes its absence a failure. The status is go test's.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts=$PWD/scripts
# In lower case: mongo-driver (v1, address.String) lower-cases the path of a socket.
run=${TMPDIR:-/tmp}/insertbench-test.$$
mkdir -m 700 "$run" || exit 1
skipped=()
jobs=()

# What was started is stopped. A script that is still at it is killed with its children: timeout gave it a process group.
# Servers have groups of their own, and are known by the files in their directories.
cleanup() {
  local pid
  for pid in "${jobs[@]}"; do kill -s KILL -- "-$pid" && wait "$pid"; done
  "$scripts/mysql-up.sh" --stop "$run/mysql"
  "$scripts/documentdb-up.sh" --stop "$run/documentdb"
  rm -rf "$run"
} 2> /dev/null
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# bring_up NAME: NAME-up.sh in the background, its last words in $run/NAME.out.
bring_up() {
  timeout 600 "$scripts/$1-up.sh" "$run/$1" > "$run/$1.out" 2>&1 &
  jobs+=($!)
  declare -g "job_$1=$!"
}

# came_up NAME: waits for it and prints its "up:" line, or notes why there is none.
came_up() {
  local job=job_$1 code=0 last
  wait "${!job}" || code=$?
  last=$(tail -n 1 "$run/$1.out")
  [ $code = 124 ] && last="it took more than ten minutes; its last words: $last"
  reason=${last:-it said nothing}
  [ $code = 0 ] && echo "$1 is $last"
  return $code
}

[ -n "${INSERTBENCH_MYSQL-}" ] || bring_up mysql
[ -n "${INSERTBENCH_DOCUMENTDB-}" ] || bring_up documentdb
"$scripts/install-mariadb.sh" > "$run/mariadb.out" 2>&1 || skipped+=("mariadb: $(tail -n 1 "$run/mariadb.out")")
tail -n 1 "$run/mariadb.out"

packages=(./...)
for arg in "$@"; do case $arg in ./* | insertbench/*) packages=() ;; esac; done
go vet ./...
code=$?

if [ -z "${INSERTBENCH_MYSQL-}" ]; then
  if came_up mysql; then
    read -r _ INSERTBENCH_MYSQL _ _ _ _ _ INSERTBENCH_MYSQLD < <(tail -n 1 "$run/mysql.out")
    export INSERTBENCH_MYSQL INSERTBENCH_MYSQLD
  else
    skipped+=("mysql: $reason")
    export INSERTBENCH_MYSQL_SKIP=$reason
  fi
fi
if [ -z "${INSERTBENCH_DOCUMENTDB-}" ]; then
  if came_up documentdb; then
    read -r _ INSERTBENCH_DOCUMENTDB _ < <(tail -n 1 "$run/documentdb.out")
    export INSERTBENCH_DOCUMENTDB
  else
    skipped+=("documentdb (MongoDB's protocol): $reason")
    export INSERTBENCH_DOCUMENTDB_SKIP=$reason
  fi
fi
jobs=()
[ -n "${MONGO_URI-}" ] || skipped+=("mongod: MONGO_URI names none (make test MONGO_URI=mongodb://…)")

if [ $code = 0 ]; then
  # What a killed test leaves behind goes with the rest.
  mkdir "$run/tmp"
  TMPDIR=$run/tmp go test "$@" "${packages[@]}"
  code=$?
fi
for line in "${skipped[@]}"; do echo "SKIP ===> $line"; done
exit $code
