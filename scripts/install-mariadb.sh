#!/bin/bash
# usage: install-mariadb.sh
#
# Installs MariaDB's server and its RocksDB plugin with apt where they are missing and where apt and root are there, without
# starting a service. The last line says what is there now, or why nothing was done with a status that isn't 0.
set -euo pipefail
me=install-mariadb
. "$(dirname "$0")/lib.sh"

PATH=$PATH:/usr/sbin:/usr/local/sbin
has_server() { command -v mariadbd > /dev/null; }
has_rocksdb() { compgen -G "$(dirname "$(dirname "$(command -v mariadbd)")")/lib*/mysql/plugin/ha_rocksdb.so" > /dev/null; }
there() { echo "$me: there is $(mariadbd --version), with its RocksDB plugin"; exit 0; }

if has_server && has_rocksdb; then there; fi
missing=(mariadb-plugin-rocksdb)
if ! has_server; then missing=(mariadb-server "${missing[@]}"); fi
[ "$(id -u)" = 0 ] || fail "skipped: ${missing[*]} missing, and only root can install packages"
command -v apt-get > /dev/null || fail "skipped: ${missing[*]} missing, and there is no apt to install with"

# A package's script asks policy-rc.d whether it may start its service; 101 is no. A policy that is there already is the
# administrator's, and stays.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod 755 $policy
fi
was_running=no
if [ -e /run/mysqld/mysqld.pid ]; then was_running=yes; fi

log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
# --no-remove: MySQL's packages, which MariaDB's would replace, are somebody's.
if ! apt-get -q update > "$log" 2>&1 ||
  ! apt-get -q -y --no-remove --no-install-recommends -o Acquire::Retries=2 install "${missing[@]}" >> "$log" 2>&1; then
  why=$(grep '^E:' "$log" | tail -n 1 || true)
  rm -f "$log"
  fail "can't install ${missing[*]}: ${why:-apt-get failed}"
fi
rm -f "$log"
if [ $was_running = no ] && [ -e /run/mysqld/mysqld.pid ]; then service mariadb stop > /dev/null; fi
has_server && has_rocksdb || fail "installed ${missing[*]}, but found no mariadbd with ha_rocksdb.so"
there
