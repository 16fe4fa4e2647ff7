package actorbench

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"
)

// This file measures single operations as BenchmarkDotNet does, so that the columns mean the same: mean, standard
// deviation, and as error half of the 99.9 % confidence interval, all of one operation in nanoseconds, over rounds of
// which those that were disturbed are left out.

// As BenchmarkDotNet: rounds go on until the error is below two hundredths of the mean.
const (
	fewestRounds = 15
	mostRounds   = 100
	enough       = 0.02
)

// roundTime is how long a round is meant to take; tests make it shorter. Short rounds and many of them let those be told
// apart in which something else ran.
var roundTime = 2 * time.Millisecond

// Stats is the time and memory of one operation.
type Stats struct {
	MeanNs     float64 `json:"meanNs"`
	ErrorNs    float64 `json:"errorNs"`    // half of the 99.9 % confidence interval of the mean
	StdDevNs   float64 `json:"stdDevNs"`   // between rounds
	MinNs      float64 `json:"minNs"`      // the fastest round
	Rounds     int     `json:"rounds"`     // that count; disturbed ones are left out
	AllocBytes float64 `json:"allocBytes"` // an operation
	Allocs     float64 `json:"allocs"`     // an operation
}

// measure runs f, which does its operation n times, in rounds of equal length. It ends early, with what it
// has, when ctx is done.
func measure(ctx context.Context, f func(n int)) (Stats, error) {
	if err := ctx.Err(); err != nil {
		return Stats{}, err
	}
	// The number of operations that fills a round; this also warms up.
	n := 64
	for {
		start := time.Now()
		f(n)
		took := time.Since(start)
		if took >= roundTime/4 {
			n = max(1, int(float64(n)*float64(roundTime)/float64(took)))
			break
		}
		n *= 2
	}
	times := make([]float64, 0, mostRounds)
	var s Stats
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for len(times) < fewestRounds || (s.ErrorNs > enough*s.MeanNs && len(times) < mostRounds) {
		if err := ctx.Err(); err != nil {
			return Stats{}, err
		}
		start := time.Now()
		f(n)
		times = append(times, float64(time.Since(start))/float64(n))
		if len(times) >= fewestRounds {
			s = summary(times)
		}
	}
	runtime.ReadMemStats(&after)
	// What else allocates meanwhile is a few bytes in many operations.
	ops := float64(n * len(times))
	s.AllocBytes = math.Round(float64(after.TotalAlloc-before.TotalAlloc) / ops)
	s.Allocs = math.Round(float64(after.Mallocs-before.Mallocs) / ops)
	return s, nil
}

// summary sorts the times and leaves out the rounds above the upper fence of Tukey, as BenchmarkDotNet does by default: something
// else ran then.
func summary(times []float64) Stats {
	slices.Sort(times)
	q1, q3 := quartile(times, 1), quartile(times, 3)
	for times[len(times)-1] > q3+1.5*(q3-q1) {
		times = times[:len(times)-1]
	}
	n := float64(len(times))
	var sum, squares float64
	for _, t := range times {
		sum += t
	}
	mean := sum / n
	for _, t := range times {
		squares += (t - mean) * (t - mean)
	}
	s := Stats{MeanNs: mean, MinNs: times[0], Rounds: len(times)}
	if len(times) > 1 {
		s.StdDevNs = math.Sqrt(squares / (n - 1))
		s.ErrorNs = student(len(times)-1) * s.StdDevNs / math.Sqrt(n)
	}
	return s
}

// quartile interpolates between the values around it; times are in order.
func quartile(times []float64, q int) float64 {
	at := float64(len(times)-1) * float64(q) / 4
	i := int(at)
	if i+1 >= len(times) {
		return times[i]
	}
	return times[i] + (at-float64(i))*(times[i+1]-times[i])
}

// student is the two-sided 99.9 % quantile of Student's distribution with that many degrees of freedom: from
// a table, and past it by Fisher's expansion around the normal distribution, which is right to half a percent there.
func student(freedom int) float64 {
	table := [...]float64{636.619, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318, 4.221, 4.140}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	v := float64(freedom)
	const z = 3.2905
	return z + (z*z*z+z)/(4*v) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*v*v)
}
