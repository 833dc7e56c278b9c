#!/usr/bin/env bash
# Runs `npm start` and `npm test` on a bare system: a minimal Debian with Node and npm, and nothing else.
#
#   scripts/bare.sh [start|test|both] [ARGUMENT]...     both if you name none; arguments go to `npm test`
#   scripts/bare.sh test packages/quota                  only the tests of that folder
#
# The script makes the system in a temporary folder and removes it at the end. It contains Debian's packages of the variant
# `minbase`, this machine's node and npm, and the files of the last commit. It has no fonts, git, curl, ps, python, servers,
# browser or caches. For the network it uses this machine's mirrors, proxies, certificates and npm settings.
#
# Needs root that may mount (CAP_SYS_ADMIN), Debian's `mmdebstrap`, git, Node and npm, and 3 GB in TMPDIR (/var/tmp if unset).
# Exits with 0 if all passed, 1 if a command failed, 2 if this machine cannot make such a system.
#
#   BARE_USER=user   runs the commands as a user of that name instead of root
#
# The system's processes and mounts end with it. The network is the machine's: if the gateway's ports are busy here, it
# gets other ports.
set -uo pipefail

PROJECT=/srv/project
# Environment variables that the system gets: what reaches the network, and what chooses tests.
KEPT='^((https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY|(npm_config|NPM_CONFIG)_(registry|proxy|https_proxy|noproxy|cafile|strict_ssl)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|NO_COLOR|RUNTIME_TESTS|SLOW_TESTS)$'

give_up() { printf 'bare: cannot run here: %s\n' "$*" >&2; exit 2; }

# --- inside: the first process of the system -----------------------------------------------------------------------

if [ "${1:-}" = --inside ]; then
  root=$2 home=$3 ids=$4
  shift 4
  { mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"; } || give_up 'no mounts inside the system'
  for name in $(compgen -e); do [[ $name =~ $KEPT ]] || unset "$name"; done
  export HOME=$home PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  # Not `exec`: this shell stays process 1 and takes care of orphans.
  chroot --userspec="$ids" "$root" /bin/sh -c "cd $PROJECT && exec node scripts/first-run.mjs \"\$@\"" sh "$@"
  exit
fi

# --- outside -------------------------------------------------------------------------------------------------------

cd "$(dirname "$0")/.." || exit
# Root may read a checkout that belongs to another user.
git_here() { git -c safe.directory='*' "$@"; }

user=${BARE_USER:-root}
[[ $user =~ ^[a-z]+$ ]] || give_up "BARE_USER: expected a name of lower-case letters, got \"$user\""
[ "$(id -u)" = 0 ] || give_up 'needs root, to make and enter a system'
git_here rev-parse --verify --quiet HEAD >/dev/null 2>&1 || give_up 'needs a git checkout with a commit'
for program in mmdebstrap node npm; do command -v $program >/dev/null || give_up "needs $program"; done
unshare --mount --pid --fork true 2>/dev/null || give_up 'root may not mount (a container without CAP_SYS_ADMIN?)'
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$suite" ] || give_up '/etc/os-release has no VERSION_CODENAME'

work=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-XXXXXX") || give_up 'no temporary folder'
chmod 755 "$work"
root=$work/root
child=
clean_up() {
  trap '' INT TERM
  local tries
  [ -n "$child" ] && kill -KILL "$child" 2>/dev/null && wait "$child" 2>/dev/null
  # The system mounts in a namespace of its own. If something is mounted here all the same, it is not deleted.
  if grep -q " $work/" /proc/self/mounts; then
    echo "bare: $work still has mounts" >&2
    return
  fi
  # The last of its programs may still write while the kernel ends them.
  for tries in 1 2 3 4 5; do rm -rf --one-file-system "$work" 2>/dev/null && return; sleep 1; done
  echo "bare: $work could not be removed" >&2
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# This machine's sources of Debian's main packages as one-line entries, read by apt.
sources() {
  local lists=$work/lists options=(-o "Dir::State::lists=$work/lists" -o 'APT::Sandbox::User=root')
  mkdir -p "$lists/partial"
  apt-get "${options[@]}" -qq update || return
  apt-get "${options[@]}" indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI) $(SIGNED_BY)' 'Created-By: Packages' |
    awk -v suite="$suite" '
      $2 == "main" && ($1 == suite || $1 == suite "-updates" || $1 == suite "-security") {
        print "deb " ($4 ~ "^/" ? "[signed-by=" $4 "] " : "") $3, $1, $2
      }' | sort -u
}

copy_file() { install -D -m "${2:-644}" "$1" "$root${3:-$1}"; }

copy_node() {
  local npm_folder
  npm_folder=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  [ -f "$npm_folder/package.json" ] || { echo "$npm_folder is not npm's folder"; return 1; }
  copy_file "$(node -p process.execPath)" 755 /usr/local/bin/node
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -a "$npm_folder" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
}

# npm's settings, the certificates that npm, Node and OpenSSL use, and how names are resolved.
copy_network() {
  local file setting
  for file in /etc/resolv.conf /etc/hosts; do copy_file "$(readlink -f "$file")" 644 "$file"; done
  setting=$(cd / && npm config get userconfig) && [ -f "$setting" ] && copy_file "$setting" 600 "$home/.npmrc"
  setting=$(cd / && npm config get globalconfig) && [ -f "$setting" ] && copy_file "$setting" 644 /usr/local/etc/npmrc
  for file in "$(cd / && npm config get cafile)" "${NODE_EXTRA_CA_CERTS:-}" "${SSL_CERT_FILE:-}"; do
    [ -f "$file" ] && copy_file "$file"
  done
  return 0
}

make_system() {
  sources >"$work/sources.list" || { echo 'apt-get update failed'; return 1; }
  [ -s "$work/sources.list" ] || { echo "apt has no sources of $suite main"; return 1; }
  apt-config dump | grep '^Acquire' >"$work/acquire.conf"
  DEBIAN_FRONTEND=noninteractive mmdebstrap --mode=root --variant=minbase --aptopt="$work/acquire.conf" \
    --aptopt='APT::Install-Recommends "false"' "$suite" "$root" "$work/sources.list" || return
  if [ "$user" != root ]; then chroot "$root" useradd --create-home --shell /bin/sh "$user" || return; fi
  home=$(chroot "$root" sh -c "echo ~$user")
  ids=$(chroot "$root" id -u "$user"):$(chroot "$root" id -g "$user")
  copy_node || return
  copy_network
  mkdir -p "$root$PROJECT" && git_here archive HEAD | tar -x -C "$root$PROJECT" || return
  chroot "$root" chown -R "$user:" "$PROJECT" "$home" || return
  chroot "$root" sh -c 'node --version && npm --version' || { echo 'node or npm does not run in the system'; return 1; }
}

began=$SECONDS
if ! make_system >"$work/system.log" 2>&1; then
  tail -n 15 "$work/system.log" | sed 's/^/  /' >&2
  give_up 'the system could not be made'
fi
printf 'bare %s: %s packages, node %s, npm %s, as %s, commit %s (%ss)\n' "$suite" \
  "$(grep -c '^Package:' "$root/var/lib/dpkg/status")" $(tail -n 2 "$work/system.log") "$user" \
  "$(git_here rev-parse --short HEAD)" $((SECONDS - began))
[ -z "$(git_here status --porcelain --untracked-files=no)" ] || echo 'bare: changes that you have not committed are not in it'

unshare --mount --pid --fork --kill-child "$BASH" "$PWD/scripts/bare.sh" --inside "$root" "$home" "$ids" "$@" &
child=$!
wait "$child"
code=$?
child=
exit $code
