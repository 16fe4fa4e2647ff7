#!/bin/sh
# Breaks the publish path in the ways that internal/mutate/table.go lists, and checks that the tests
# notice each. No file of the module is changed. Arguments are names of mutations; none means all.
cd "$(dirname "$0")/.." && exec go run ./internal/mutate "$@"
