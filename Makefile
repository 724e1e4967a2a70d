# check installs what the tests need and runs all of them; test installs nothing and skips visibly.
.PHONY: check test install-test-tools lint

check: install-test-tools lint
	PLIMSOLL_TESTS=all cargo test --workspace --release --quiet

test:
	cargo test --workspace --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --release --quiet -- -D warnings
	cargo xtask tidy

install-test-tools:
	@sh xtask/install-test-tools.sh
