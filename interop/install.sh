#!/bin/sh
# Installs what the interoperability tests need: the node-opcua packages of
# package-lock.json and tshark. Quiet when all is well; may be run again.
set -eu
cd "$(dirname "$0")"

fail() {
	echo "interop/install.sh: $*" >&2
	exit 1
}

# quietly runs a command and shows its output only when it fails.
quietly() {
	log=$(mktemp)
	if "$@" >"$log" 2>&1; then
		rm -f "$log"
		return 0
	fi
	cat "$log" >&2
	rm -f "$log"
	return 1
}

command -v go >/dev/null || fail "go is not installed"
command -v node >/dev/null || fail "node is not installed; version 20 or later is needed"
command -v npm >/dev/null || fail "npm is not installed"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || fail "node $(node --version) is too old; version 20 or later is needed"

# npm ci empties node_modules first, so it is left out when the lock file has
# not changed since the last time.
stamp=node_modules/.actua-lock
if ! cmp -s package-lock.json "$stamp"; then
	quietly npm ci --no-audit --no-fund || fail "npm ci failed"
	cp package-lock.json "$stamp"
fi

if ! command -v tshark >/dev/null; then
	command -v apt-get >/dev/null || fail "tshark is not installed, and there is no apt-get to install it with"
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || fail "tshark is not installed, and installing it takes root or sudo"
		sudo="sudo -n"
	fi
	quietly $sudo apt-get update -qq || fail "apt-get update failed"
	quietly $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tshark ||
		fail "apt-get install tshark failed"
fi

quietly go mod download || fail "go mod download failed"
