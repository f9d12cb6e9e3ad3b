# The Debian packages that building and testing need, besides Go, git and make. libunicorn-dev is
# the emulator; binutils is an independent oracle of the tests.
PACKAGES := ca-certificates gcc libc6-dev binutils libunicorn-dev

# The linter, pinned; the go command fetches and keeps it.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

FUZZTIME ?= 5s
LINUX := debian/amd64
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)

.PHONY: build demo test linux bench fuzz race lint images-check deps clean

build: deps
	go build -o bin/trapline ./cmd/trapline

# Installs what is missing, and asks nobody when nothing is.
deps:
	@missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; \
	done); \
	if [ -n "$$missing" ]; then \
		echo "installing" $$missing; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; \
	fi

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

test: deps
	go test ./...

# The packages in which no emulator is in the way.
race: deps
	go test -race $$(go list ./... | grep -v -E '^trapline/(emu|cmd|testscripts)(/|$$)')

# What needs Debian's kernel: packages with tests that have the build tag, and the scripts.
linux: build
	bin/trapline image get $(LINUX)
	info=$$(bin/trapline image info $(LINUX)); \
	export TRAPLINE_VMLINUX="$$(echo "$$info" | sed -n 's/^kernel  *//p')"; \
	export TRAPLINE_VMLINUZ="$$(echo "$$info" | sed -n 's/^compressed  *//p')"; \
	go test -timeout 30m -tags linuximage \
		$$(grep -rl --include='*_test.go' '^//go:build linuximage' . | xargs -n 1 dirname | sort -u)

bench: build
	go run ./cmd/internal/bench

# Every fuzz target, FUZZTIME each.
fuzz: deps
	@set -e; for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
		done; \
	done

lint: deps
	@files=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "gofmt would change:" $$files; exit 1; fi
	go mod tidy -diff
	go vet ./...
	go vet -tags linuximage,qemu ./...
	go run $(STATICCHECK) -tags linuximage,qemu ./...

# The committed kernels and init are what their sources build.
images-check: deps
	$(MAKE) -C images/tiny check
	$(MAKE) -C images/init check

clean:
	rm -rf bin
	$(MAKE) -C images/tiny clean
