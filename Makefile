# The menu. Everything with more than three lines lives in scripts/.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help run test setup frontend watch size fmt lint unit browser docs audit clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## set up, build and open the dashboard at 127.0.0.1:7860 (ARGS="--port 8000")
	@scripts/run.sh $(ARGS)

test: ## set up and run every check, from formatting to browser journeys
	@scripts/test.sh

setup: ## install what building and testing need, and nothing else
	@scripts/setup.sh test

frontend: ## build the dashboard into frontend/dist
	@scripts/setup.sh build
	@scripts/frontend.sh

watch: ## rebuild the dashboard on each change, for a debug server: cargo run -- serve
	@scripts/frontend.sh watch

size: frontend ## show what the dashboard weighs
	@node scripts/size.mjs frontend/dist

fmt: ## format the code
	cargo fmt --all

lint: ## formatting and clippy, native and wasm32
	@scripts/test.sh fmt lint lint_wasm

unit: ## tests and doc tests, without the browser
	@scripts/test.sh build tests doc_tests

browser: frontend ## only the browser journeys
	@scripts/test.sh setup build browser

docs: ## the API documentation of the pure crates
	@scripts/test.sh docs

audit: ## licences, sources, advisories, unused dependencies (installs cargo-deny and cargo-machete)
	@scripts/audit.sh

clean: ## remove what was built
	cargo clean
	rm -rf frontend/dist frontend/generated.css
