#!/bin/sh
# Breaks the scheduling of actors (a lost wake-up, two goroutines that run one actor) in the ways that
# internal/mutate/table_mailbox.go lists, and checks that the tests notice each. No file of the module is changed.
# Arguments are names of mutations; none means all.
cd "$(dirname "$0")/.." || exit 1
[ $# -eq 0 ] || exec go run ./internal/mutate -set mailbox "$@"
go run ./internal/mutate -set mailbox-1 &
go run ./internal/mutate -set mailbox-2
second=$?
wait $! && exit $second
