# check installs what the tests need and runs all of them; test installs nothing and skips visibly.
.PHONY: check test install-test-tools lint deny

check: install-test-tools lint deny
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

install-test-tools:
	@sh xtask/install-test-tools.sh
