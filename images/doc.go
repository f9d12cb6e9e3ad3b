// Package images knows the guests that trapline can run by their names alone:
// what a kernel of that name is, where its files are, how they are fetched, and what
// memory and command line it wants.
//
// # Names
//
// An image is named system/architecture:
//
//	tiny/amd64    the teaching kernel, embedded: always there, the default;
//	              also tiny/arm64, tiny/riscv64
//	debian/amd64  Debian's kernel for clouds with its debug information, and a
//	              busybox; fetched once by `trapline image get debian/amd64`;
//	              also debian/arm64. It is of the Debian that the host has;
//	              debian13/amd64 and debian13/arm64 are Debian 13's on any host
//	linux/riscv64 a small Linux and a busybox, built here from Debian's sources
//	              by `trapline image build linux/riscv64`, since this Debian has
//	              no packages for riscv64; linux/riscv64-full has more in it
//	freebsd/amd64 FreeBSD's kernel and a part of its base system, made of the sets of a
//	              release by `trapline image get freebsd/amd64 --from DIR`; also
//	              freebsd/arm64, freebsd/riscv64
//
// Wherever a name is taken, the path of a kernel file may stand instead. A known
// name wins over a file of the same name; `./tiny/amd64` is always a file. For a
// kernel that is only a file nothing is assumed: the initial root file system, the
// command line and the debug information come from the user.
//
// # States
//
//	embedded      it is part of the program
//	fetched       it is in the cache and looks whole
//	not fetched   Get would fetch it
//	built         as fetched, for an image that Build makes
//	not built     Build would make it
//	damaged       a file is missing or has another size than it was fetched with;
//	              Get or Build brings it again
//	file          a path
//
// # The cache
//
// Fetched images live in $XDG_CACHE_HOME/trapline, or ~/.cache/trapline:
//
//	images/debian-amd64/           one directory per image ...
//	    manifest.json              version, packages, size and SHA-256 of each file
//	    vmlinux vmlinuz System.map config busybox
//	images/.get-debian-amd64@*/    ... made under such a name, renamed when whole
//	images/.parts-debian-amd64/    downloads that the next Get goes on with
//	images/debian-amd64.lock       held (flock) by the process that fetches
//
// An image appears and is replaced by one rename, so what has the final name is
// complete. What a killed process leaves behind has a temporary name, is never
// looked at, and goes away with the next Get. A version stays as it was fetched
// until Refetch asks for what Debian has now.
//
// A built image also keeps its recipe, the version of the compiler and a sum of the
// kernel's options: Build makes it again when that has changed.
//
// # Packages
//
// Packages are downloaded and unpacked as files; nothing is installed on the host,
// and its package lists stay as they are: another architecture, another release of
// Debian's, or sources, are looked up in lists of our own.
//
// Where the host has apt, apt downloads them. Where it has none, or TRAPLINE_DEBIAN
// names a site, package debian does; an image that takes the host's release is of
// Debian 12 then, unless the host is a Debian 13. Both ways give the same image.
package images
