package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// akkaArgs has Akka.NET run the row of RemotePingPong that the harness's "remote1 -n CLIENTS -msgs MESSAGES" is. It counts
// what a client sends, the harness what it sends and gets. It gets fewer messages, enough for two seconds or
// so, as it is slower. A first row with the same clients warms its compiler up.
func akkaArgs(args string) []string {
	var clients, msgs int
	fmt.Sscanf(args, "remote1 -n %d -msgs %d", &clients, &msgs)
	return []string{"remote-ping-pong", "--clients", fmt.Sprintf("%d,%d", clients, clients), "--per-client", strconv.Itoa(max(msgs*5/(10+clients), 1))}
}

// akkaRow is clients, messages, messages a second, milliseconds, processor seconds and bytes a message.
var akkaRow = regexp.MustCompile(`^ *\d+, +(\d+), +(-?\d+), +([\d.]+), +([\d.]+), +(\d+)$`)

// takeAkka reads the last row that Akka.NET has printed.
func (rec *record) takeAkka(out string) error {
	var row []string
	for _, line := range strings.Split(out, "\n") {
		if m := akkaRow.FindStringSubmatch(strings.TrimRight(line, "\r")); m != nil {
			row = m
		}
	}
	if row == nil {
		return fmt.Errorf("no result")
	}
	v := make([]float64, len(row))
	for i, s := range row[1:] {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return err
		}
		v[i] = f
	}
	msgs, ms := v[0], v[2]
	if ms <= 0 {
		return fmt.Errorf("it took %v ms", ms)
	}
	rec.Msgs, rec.Secs, rec.Rate, rec.NsPerMsg = int64(msgs), ms/1e3, msgs/ms*1e3, ms*1e6/msgs
	rec.CPU, rec.CPUPerM, rec.Bytes = v[3], v[3]/msgs*1e6, v[4]
	return nil
}
