# check installs what the tests need and runs all of them; test installs nothing and skips visibly.
.PHONY: check test simulate first-hour install-test-tools lint deny book ui page

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))

check: install-test-tools lint deny book ui
	PLIMSOLL_TESTS=all cargo test --workspace --profile checked --quiet
	$(MAKE) --no-print-directory page
	cargo xtask callgrind
	cargo xtask callgrind --caches

test:
	cargo test --workspace --quiet
	@echo "skipped: the page in a browser (make check installs what that needs)"

# Simulated runs of the engine and of hubs with agents, each checked against the laws of the lifecycle; for every night.
simulate:
	cargo test -p engine --profile checked --quiet many_seeds -- --ignored
	cargo test -p fleet --profile checked --quiet many_seeds -- --ignored

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --profile checked --quiet -- -D warnings
	cargo xtask tidy

# Licences, sources and owners; the database of advisories would have to be fetched.
deny:
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --log-level error check bans licenses sources; \
	else echo "skipped: cargo-deny is not installed, so licences are not checked"; fi

# The documentation as a book, with all its links followed; says so if mdbook is not installed.
book:
	cargo xtask book

# The first hour of a stranger in bare systems: the oldest that is supported, and the present one. Writes the times of its steps into
# deploy/first-hour/times.md. For every night, and before a release. Needs root and debootstrap.
first-hour:
	[ -d $(TARGET)/sysroot/usr ] || deploy/sysroot.sh $(TARGET)/sysroot
	cargo xtask dist --sysroot $(TARGET)/sysroot
	for suite in bullseye bookworm; do \
		sh deploy/first-hour.sh $(TARGET)/dist $$suite $(TARGET)/bare-$$suite $(TARGET)/dist/$$suite.log || exit 1; \
	done
	sh deploy/first-hour/times.sh $(TARGET)/dist/bullseye.log $(TARGET)/dist/bookworm.log >deploy/first-hour/times.md

# The page: what is committed in ui/dist is what its sources make, and it passes its tests.
ui:
	cd ui && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --silent && npm run --silent check && npm run --silent build
	@test -z "$$(git status --porcelain ui/dist)" || { echo "ui/dist is not what ui/src makes: commit what was just built"; exit 1; }
	cd ui && npm test --silent

# The page against runs that are really made: with the programs that the tests of `check` have built.
page:
	cd ui && PLIMSOLL_BIN="$${PLIMSOLL_BIN:-$(TARGET)/checked/plimsoll}" TESTKIT_BIN="$${TESTKIT_BIN:-$(TARGET)/checked/testkit}" \
	npm run --silent test:real

install-test-tools:
	@sh xtask/install-test-tools.sh
