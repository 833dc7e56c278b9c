#!/usr/bin/env bash
# Puts the program of a Redis or Valkey image into .cache/servers, and installs a PostgreSQL of that major version.
set -euo pipefail
image=$1 program=$2 postgres=$3

mkdir -p .cache/servers
container=$(docker create "$image")
docker cp "$container:/usr/local/bin/$program" .cache/servers/
docker rm "$container" >/dev/null
".cache/servers/$program" --version

cluster=/etc/postgresql-common/createcluster.conf
sudo mkdir -p "${cluster%/*}"
echo 'create_main_cluster = false' | sudo tee "$cluster" >/dev/null
sudo apt-get update -qq
sudo apt-get install -y -qq --no-install-recommends postgresql-common
sudo /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y >/dev/null
sudo apt-get install -y -qq --no-install-recommends "postgresql-$postgres"
"/usr/lib/postgresql/$postgres/bin/postgres" --version
