# Minimal root file systems of Debian's releases, for packaging/fresh and packaging/fresh-arm64, which
# read this file. What is downloaded, and the roots, are kept in $FRESH_CACHE (~/.cache/trapline-fresh)
# for the next time.
me=${0##*/}
cache=${FRESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trapline-fresh}

fail() { echo "$me: $*" >&2; exit 1; }

# What has to be there.
[ "$(id -u)" = 0 ] || fail "it makes root file systems and mounts them: run it as root, 'sudo env PATH=\$PATH make $me'"
command -v go > /dev/null || fail "go is needed in PATH: with sudo, run 'sudo env PATH=\$PATH make $me'"
command -v debootstrap > /dev/null || fail "debootstrap is needed: apt-get install debootstrap"
unshare --mount true 2> /dev/null ||
	fail "it mounts file systems, which is not allowed here: run it in a virtual machine, or in a container with CAP_SYS_ADMIN"
site=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2> /dev/null | head -n 1) || true
[ -n "$site" ] || fail "apt knows no server of Debian's: it needs a Debian host, and 'apt-get update' once"

mkdir -p "$cache/debs"
work=$(mktemp -d "$cache/work-XXXXXX")
over=$work/over

# base NAME RELEASE [OPTION]...: the minimal root of a release, which nothing writes to once it is there.
# It is made anew after a month: testing is another release then.
base() {
	local root=$cache/root-$1 new=$work/root-$1 release=$2
	shift 2
	[ -z "$(find "$root" -maxdepth 0 -mtime -30 2> /dev/null)" ] || return 0
	rm -rf "$root"
	debootstrap --variant=minbase --cache-dir="$cache/debs" "$@" "$release" "$new" "$site"
	echo "deb $site $release main" > "$new/etc/apt/sources.list"
	rm -rf "$new"/var/cache/apt/archives/*.deb
	mv "$new" "$root"
}

# overlay: what a root is to have besides, below $over/upper: the host's apt, certificates and settings of Go,
# for it is behind the same proxy.
overlay() {
	local top=$over/upper name
	mkdir -p "$over/work" "$over/root" "$top"/{etc/apt/apt.conf.d,usr/local/share/ca-certificates,root/.config/go}
	{
		apt-config dump Acquire | grep -v '^Acquire::\(Languages\|IndexTargets\|GzipIndexes\|CompressionTypes\|Changelogs\)' || true
		echo 'APT::Sandbox::User "root";'
		echo 'Acquire::https::CAInfo "/etc/apt/host.crt";'
	} > "$top/etc/apt/apt.conf.d/80host"
	cp /etc/ssl/certs/ca-certificates.crt "$top/etc/apt/host.crt" 2> /dev/null || true
	cp -rL /usr/local/share/ca-certificates/. "$top/usr/local/share/ca-certificates"
	cp -L /etc/resolv.conf /etc/hosts "$top/etc/"
	for name in GOPROXY GONOPROXY GOSUMDB GONOSUMDB; do echo "$name=$(go env $name)"; done > "$top/root/.config/go/env"
	echo GOTOOLCHAIN=local >> "$top/root/.config/go/env"
}

# enter NAME SCRIPT [DIR AT]...: runs the script in a root like that of the name, with what lies below
# $over/upper. Directories of the host's are mounted at places of the root.
enter() {
	local name=$1 script=$2
	shift 2
	mkdir -p "$cache/archives-$name/partial"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child bash -euc '
		lower=$1 over=$2 script=$3 root=$2/root
		shift 3
		mount --make-rprivate /
		mount -t overlay overlay -o "lowerdir=$lower,upperdir=$over/upper,workdir=$over/work" "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		while [ $# -gt 0 ]; do
			mkdir -p "$root$2"
			mount --bind "$1" "$root$2"
			shift 2
		done
		env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
			chroot "$root" bash -euo pipefail -c "$script"
	' enter "$cache/root-$name" "$over" "$script" "$cache/archives-$name" /var/cache/apt/archives "$@"
}

# try NAME FUNCTION [ARGUMENT]...: runs a function, up to its first command that fails, and then shows the
# end of what it printed. Leaves the function's status in $status, and a line about it in $result; nothing
# is left of its root. In a condition or a list with && or ||, no command would end the function.
try() {
	local name=$1 log=$cache/${1//\//-}.log began=$SECONDS
	shift
	echo "$me: $name (what it prints is in $log)"
	set +e
	( set -e; "$@" ) > "$log" 2>&1 < /dev/null
	status=$?
	set -e
	rm -rf "$over"
	if [ $status = 0 ]; then
		result="$me: $name passed in $((SECONDS - began)) s"
	else
		tail -n 40 "$log"
		result="$me: $name failed after $((SECONDS - began)) s"
	fi
}
