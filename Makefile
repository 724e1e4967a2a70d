# check installs what the tests need and runs all of them; test installs nothing and skips visibly.
.PHONY: check test install-test-tools lint deny ui

check: install-test-tools lint deny ui
	PLIMSOLL_TESTS=all cargo test --workspace --profile checked --quiet
	cargo xtask callgrind

test:
	cargo test --workspace --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --profile checked --quiet -- -D warnings
	cargo xtask tidy

# Licences, sources and owners; the database of advisories would have to be fetched.
deny:
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --log-level error check bans licenses sources; \
	else echo "skipped: cargo-deny is not installed, so licences are not checked"; fi

# The page: what is committed in ui/dist is what its sources make, and it passes its tests.
ui:
	cd ui && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --silent && npm run --silent check && npm run --silent build
	@test -z "$$(git status --porcelain ui/dist)" || { echo "ui/dist is not what ui/src makes: commit what was just built"; exit 1; }
	cd ui && npm test --silent

install-test-tools:
	@sh xtask/install-test-tools.sh
