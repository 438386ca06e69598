# Everything a fresh Debian 12 with Rust needs is installed by the targets themselves.

CARGO ?= cargo
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
export CARGO_TERM_COLOR ?= auto

# The cargo-deb that the package was tried with.
CARGO_DEB := 3.8.0

.PHONY: help setup test-setup build deb test test-deb soak test-core-sched deny demo fmt measure book bpf bpf-setup check-bpf

help:
	@echo 'make demo             see it work: a web and a batch load, a policy, a reload, the way back'
	@echo 'make test             layout, lints, unit, snapshot, command-line and live tests, an emulated machine'
	@echo 'make test-core-sched  cookies, on an emulated kernel that is built first: 12 minutes, once'
	@echo 'make deny             licences, sources and advisories of what is built in, with cargo-deny where it is installed'
	@echo 'make soak             ten minutes of short processes, reloads and kills; DURATION=60 for one'
	@echo 'make build            the release binary, target/release/cotenant'
	@echo 'make deb              the package for Debian, target/debian/cotenant_VERSION_ARCH.deb'
	@echo 'make test-deb         installs, upgrades, removes and purges that, in a root directory and in a machine with systemd'
	@echo 'make measure          what placement costs and gains, here and in an emulated machine: an hour and more'
	@echo 'make book             the book, target/book/index.html, with mdbook where it is installed'
	@echo 'make fmt              lay out the sources'
	@echo 'make bpf              the program for the kernel, after a change of enforcer/bpf/sensor.bpf.c'

# hwloc's header and library for reading the topology, those of libelf and zlib, make and gcc for libbpf, which loads the
# sensor's program, pkg-config to find them, util-linux for chrt and taskset.
setup:
	@if ! pkg-config --exists hwloc libelf zlib 2>/dev/null || ! command -v chrt >/dev/null; then \
		echo 'installing libhwloc-dev, libelf-dev, zlib1g-dev, pkg-config, util-linux'; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			libhwloc-dev libelf-dev zlib1g-dev pkg-config util-linux gcc make >/dev/null; \
	fi

# QEMU, a static busybox, and two of Debian's stock kernels, for a machine with SMT (tests/vm/README.md). systemd's tools say
# what its unit comes to; without them that test passes itself over, so a host without systemd need not get it.
test-setup: setup
	@command -v systemd-analyze >/dev/null || { echo 'installing systemd (its tools; nothing is started)'; \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends systemd >/dev/null || \
		echo 'not to be had: the unit in packaging/systemd goes unchecked'; }
	@tests/vm/prepare.sh

# The compiler for the sensor's program, which only those need who change or check it: its object is in the tree.
bpf-setup:
	@if ! command -v clang-14 >/dev/null || ! command -v llvm-strip-14 >/dev/null; then \
		echo 'installing clang-14, llvm-14'; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends clang-14 llvm-14 >/dev/null; \
	fi

bpf: bpf-setup
	@enforcer/bpf/build.sh

check-bpf: bpf-setup
	@enforcer/bpf/build.sh --check

build: setup
	$(CARGO) build --release --locked

# cargo-deb finds the libraries to depend on by dpkg-shlibdeps, which is in dpkg-dev.
deb: build
	@command -v dpkg-shlibdeps >/dev/null || { echo 'installing dpkg-dev'; \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends dpkg-dev >/dev/null; }
	@command -v cargo-deb >/dev/null || { echo 'installing cargo-deb'; \
		$(CARGO) install --quiet --locked cargo-deb --version $(CARGO_DEB); }
	@rm -rf target/pages
	$(CARGO) run --quiet --release --locked -p cotenant-pages -- target/pages
	$(CARGO) deb --quiet --no-build --locked --output target/debian/

demo: build
	@$(SUDO) packaging/demo.sh target/release/cotenant

# The live tests place real processes and need root; without it they say so and pass over. Those in an emulated machine
# need it for nothing but the installation of packages; COTENANT_VM=skip leaves them out.
test: test-setup check-bpf
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) run --quiet --locked -- lint --topology 'pack:1 core:8 pu:2' policies/*.policy
	$(CARGO) run --quiet --locked -- fmt --check policies/
	FUZZ_SECONDS=60 $(CARGO) test --workspace --locked

# In a root directory with Debian in it, which is fetched once, in half a minute; and with the same in an emulated machine.
test-deb: deb test-setup
	@tests/package/prepare.sh
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" $(CARGO) test --locked --test package -- --ignored
	$(CARGO) test --locked --test vm -- --ignored systemd::

# Advisories need the network, or a copy of their database that an earlier run left.
deny:
	@if command -v cargo-deny >/dev/null; then \
		$(CARGO) deny --locked check licenses bans sources && \
		{ $(CARGO) deny --locked check advisories || $(CARGO) deny --locked --offline check advisories; }; \
	else \
		echo 'cargo-deny is not installed (cargo install --locked cargo-deny): advisories go unchecked'; \
		$(CARGO) test --quiet --locked --test licences; \
	fi

# Longer or shorter: make soak DURATION=SECONDS. Prints what it came to.
soak: setup
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" DURATION=$(or $(DURATION),600) \
		$(CARGO) test --locked --test live -- --ignored --nocapture soak

# Core scheduling is in no kernel that Debian has ready; tests/vm/kernel.sh builds one and keeps it.
test-core-sched: test-setup
ifeq ($(COTENANT_VM),skip)
	@echo 'COTENANT_VM=skip: core scheduling is not tested'
else
	@tests/vm/kernel.sh
	$(CARGO) test --locked --test vm -- --ignored core_sched
endif

# Writes docs/measurements/. Some of them: make measure ONLY='batch equals'; shorter: SECONDS_EACH=2 make measure.
measure: test-setup
	@tests/vm/emulator.sh
	@tests/vm/kernel.sh
	@command -v tbench >/dev/null || { echo 'installing dbench'; \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends dbench >/dev/null; }
	$(CARGO) build --release --locked
	$(SUDO) env "PATH=$$PATH" "HOME=$$HOME" $(CARGO) test --release --locked --test measure -- $(ONLY)

# Its pages are read in docs/ as well; `make test` runs what they show.
book:
	@command -v mdbook >/dev/null || { echo 'mdbook is not installed: cargo install --locked mdbook' >&2; exit 1; }
	mdbook build docs

fmt:
	$(CARGO) fmt --all
