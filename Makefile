# The Debian packages that building and testing need, besides Go, git and make. binutils is an
# independent oracle of the tests. The emulator is not one of them: it is of one version everywhere
# (packaging/pinned).
PACKAGES := ca-certificates gcc libc6-dev binutils
LIBRARY := lib/trapline/libunicorn.so.2

# What the tests need besides CROSS: their programs with inlined functions are by both compilers,
# completion is tested in the shells themselves, and RISC-V kernels are linked and have firmware.
TESTED := clang fish lld makefs opensbi zsh

# What packages are made and tried with.
PACKAGING := debootstrap zstd

# What building guests takes besides: compilers, of one version for all, and the tools of Linux's own
# build.
CROSS := gcc-12 gcc-12-aarch64-linux-gnu gcc-12-riscv64-linux-gnu binutils-aarch64-linux-gnu binutils-riscv64-linux-gnu \
	libc6-dev-riscv64-cross bc bison bzip2 dpkg-dev flex xz-utils

# Independent readers of debug information, for the tests with kernels.
ORACLES := dwz gdb-multiarch linux-perf llvm

# The compiler for arm64 of the release's own kernels, with which modules for them are built.
MODULES := gcc-aarch64-linux-gnu

# The browser in which pages are opened.
BROWSER := chromium

# The linter, pinned; the go command fetches and keeps it.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

FUZZTIME ?= 5s

# What 'trapline version' says it was built of.
COMMIT := $(shell git describe --always --dirty --exclude='*' 2>/dev/null)
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)

.PHONY: build conformance deb dist freebsd fresh fresh-arm64 demo picture test browser linux linux-full exhaustive bench bench-check soak fuzz race lint images-check deps packages cross tested oracles chromium clean

build: deps
	@[ -e bin/trapline ] || echo 'building bin/trapline: a few minutes the first time'
	go build -ldflags '-X trapline/cmd/internal/cli.commit=$(COMMIT)' -o bin/trapline ./cmd/trapline

# Installs what is missing, and asks nobody when nothing is. On a host without apt it is the user's to
# have these packages, or what they are called there.
install = @command -v apt-get > /dev/null || exit 0; \
	missing=$$(for p in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; \
	done); \
	if [ -n "$$missing" ]; then \
		echo "installing" $$missing; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; \
	fi

deps: packages $(LIBRARY)

packages:
	$(call install,$(PACKAGES))
	@command -v gcc > /dev/null || { echo 'a C compiler is needed: install gcc and the headers of the C library' >&2; exit 1; }

# The emulator, by its checksum.
$(LIBRARY): packaging/pinned/packages.txt packaging/pinned/relax.go | packages
	go run ./packaging/pinned library $(@D)

cross: deps
	$(call install,$(CROSS))

tested: cross
	$(call install,$(TESTED))

oracles: tested
	$(call install,$(ORACLES))

chromium: deps
	$(call install,$(BROWSER))

# The Debian package, and an archive for every other Linux. Neither needs anything of this directory.
deb: deps
	packaging/deb

dist: deps
	$(call install,zstd)
	packaging/dist

# From nothing: README's commands in minimal roots of Debian's releases, and what deb and dist have made.
fresh: deb dist
	$(call install,$(PACKAGING))
	packaging/fresh

# The same on an arm64 host; elsewhere under QEMU's user mode, which takes half an hour.
fresh-arm64: deps
	$(call install,debootstrap qemu-user-static)
	packaging/fresh-arm64

# What trapline does, in four commands.
show = @printf '\n$$ %s\n' $(call quote,$(1)); PATH="$$PWD/bin:$$PATH"; $(1)
quote = '$(subst ','\'',$(1))'

demo: build
	$(call show,trapline boot tiny/amd64 -c 'uname; ps')
	$(call show,trapline disas switch_context)
	$(call show,trapline dtrace -c 'forks 3' -n 'kinst::sys_*:0 { @[execname$(comma) probefunc] = count(); }')
	@printf '\nEvery instruction of that kernel at once, each counted twice, by its breakpoint and by the emulator:\n'
	$(call show,trapline dtrace -x crosscheck -c 'awkward | wc' -n 'kinst::*: { @ = count(); }')
comma := ,

# The picture in README, by the command that stands there; a test compares it.
picture: build
	bin/trapline flame -q --svg docs/flame.svg -c 'forks 3' -n 'profile-1us { @[execname, stack()] = count(); }'

test: tested
	go test ./...

# DTrace's own tests, where they are: they are not part of this. IMAGES has the guests to run them on.
conformance: build
	go run ./testscripts/conformance

# The pages and pictures that trapline writes of the embedded kernels, opened in Chromium.
browser: chromium
	go test -tags browser ./testscripts/browser

# testscripts is left out, for its time alone: the commands of its scripts are the test program itself,
# so every D program there would run with the detector. It works with the emulator and its threads; C it
# does not look into.
race: tested
	go test -race $$(go list ./... | grep -v -E '^trapline/testscripts(/|$$)')

# What needs kernels that are fetched or built here: packages with tests that have the build
# tag, and the scripts.
linux: build cross oracles chromium
	$(call install,$(MODULES))
	bin/trapline image get debian/amd64
	bin/trapline image get debian/arm64
	bin/trapline image get debian13/amd64
	bin/trapline image get debian13/arm64
	bin/trapline image build linux/riscv64
	path() { bin/trapline image info "$$1" | sed -n "s/^$$2  *//p"; }; \
	export TRAPLINE_VMLINUX="$$(path debian/amd64 kernel)"; \
	export TRAPLINE_VMLINUZ="$$(path debian/amd64 compressed)"; \
	export TRAPLINE_VMLINUX_ARM64="$$(path debian/arm64 'debug file')"; \
	export TRAPLINE_VMLINUX_RISCV64="$$(path linux/riscv64 'debug file')"; \
	go test -timeout 30m -tags linuximage \
		$$(grep -rl --include='*_test.go' '^//go:build linuximage' . | xargs -n 1 dirname | sort -u)
	go test -tags browser,linuximage -run TestLinux ./testscripts/browser

# FreeBSD's kernels, against what FreeBSD's own dtrace and kinst print of them: images are made of what
# is in $FREEBSD or ../shared/freebsd, and without those nothing is done.
freebsd: build tested
	$(call install,python3-minimal xz-utils)
	packaging/freebsd-images

# The scripts of Linux on riscv64's larger kernel, and those that need its kprobes; and those of
# make linux by the other engine. The kernel is built once, which takes much longer than
# linux/riscv64: no part of what a change has to pass.
linux-full: linux
	bin/trapline image build linux/riscv64-full
	go test -timeout 30m -tags linuximage,linuxfull -run 'TestLinuxFull|TestLinuxEngineHook' ./testscripts

bench: build
	go run ./cmd/internal/bench
	go test -tags linuximage -run '^$$' -bench Restore ./cmd/internal/cli

# Fails when a ratio is more than a tenth worse than in the committed file, noise aside; with
# BENCHFLAGS=-update the file is written. It wants a quiet machine and is no part of the tests. What is
# the small difference of two long runs, as a single hit, wavers too much for it.
RATIOS := cmd/internal/bench/ratios.json
RATIOS_OF ?= boot,restore,clock,workload,functions
bench-check: build
	go run ./cmd/internal/bench -only $(RATIOS_OF) -baseline $(RATIOS) $(BENCHFLAGS)

# An hour of guests restored, traced and let go in one process: nothing may be left of them.
SOAK ?= 1h
soak: deps
	TRAPLINE_SOAK=$(SOAK) go test -count=1 -timeout 0 -run TestSoak -v ./cmd/internal/cli

# Every instruction of the kernels that make linux has: in place and displaced they do the same.
exhaustive: build
	for k in debian/amd64 debian/arm64 linux/riscv64; do \
		bin/trapline verify --json "verify-$${k##*/}.json" --resume "verify-$${k##*/}.done" "$$k" || exit 1; \
	done

# Every fuzz target, FUZZTIME each. Inputs as long as a kernel would else be made smaller for a minute each.
fuzz: deps
	@set -e; for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p; \
		done; \
	done

lint: deps
	@files=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "gofmt would change:" $$files; exit 1; fi
	go mod tidy -diff
	go vet ./...
	go vet -tags linuximage,linuxfull,qemu,browser,freebsdimage ./...
	go run $(STATICCHECK) -tags linuximage,linuxfull,qemu,browser,freebsdimage ./...

# The committed kernels and init are what their sources build.
images-check: cross
	$(MAKE) -C images/tiny check
	$(MAKE) -C images/init check

clean:
	rm -rf bin build lib
	$(MAKE) -C images/tiny clean
