# Short names for what contributors do often; nothing here is needed to build or test.

SCHEMA ?= ../shared/schema

.PHONY: test race check generate api fuzz mutate

test: ## what the README says
	go test ./...

race:
	go test -race ./...

check: ## everything, as CI does
	.ci/run

generate: ## structures, ids, status codes and namespace 0 from the official files
	go run ./ua/internal/gen -schema $(SCHEMA)

api: ## accept a change of the public surface
	go test ./internal/arch -run Surface -update

mutate: ## do the tests of the publish path notice when it is broken?
	scripts/mutate-publish.sh

FUZZ ?= FuzzVariant
PKG ?= ./ua
fuzz:
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime 60s $(PKG)
