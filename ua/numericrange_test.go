package ua

import (
	"errors"
	"slices"
	"testing"
	"unsafe"
)

func mustRange(t testing.TB, s string) NumericRange {
	t.Helper()
	r, err := ParseNumericRange(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustMatrix[T Element](t testing.TB, v []T, dims ...uint32) Variant {
	t.Helper()
	m, err := Matrix(v, dims...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNumericRangeText(t *testing.T) {
	for _, s := range []string{"", "0", "5", "0:9", "1:2,0:1", "1,1", "0:4294967295", "3,4:5,6,7:9"} {
		r := mustRange(t, s)
		if r.String() != s || r.IsWhole() != (s == "") {
			t.Errorf("%q printed as %q", s, r)
		}
	}
	for _, s := range []string{" ", ",", "1,", ",1", ":", "1:", ":1", "5:5", "7:5", "-1", "+1", "1:2:3", "a", "0x1", "1 :2", "4294967296", "1,,2", "99999999999999999999999999"} {
		if _, err := ParseNumericRange(s); !errors.Is(err, BadIndexRangeInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if r := mustRange(t, "1,2:3"); r != mustRange(t, "1,2:3") || mustRange(t, "0") == (NumericRange{}) {
		t.Error("not comparable")
	}
}

func TestNumericRangeOf(t *testing.T) {
	row := Array([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	grid := mustMatrix(t, []int16{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, 3, 4)
	cube := mustMatrix(t, []byte{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2)
	words := Array([]string{"TestString", "Test", "String"})
	for _, c := range []struct {
		v    Variant
		r    string
		want Variant
	}{
		{row, "", row},
		{row, "3", Array([]int32{3})},
		{row, "2:4", Array([]int32{2, 3, 4})},
		{row, "8:100", Array([]int32{8, 9})},
		{grid, "1,2", mustMatrix(t, []int16{12}, 1, 1)},
		{grid, "1:2,0:1", mustMatrix(t, []int16{10, 11, 20, 21}, 2, 2)},
		{grid, "1:9,3:9", mustMatrix(t, []int16{13, 23}, 2, 1)},
		{cube, "0:1,1,0:1", mustMatrix(t, []byte{2, 3, 6, 7}, 2, 1, 2)},
		{mustMatrix(t, []int32{5, 6, 7}, 3), "1:2", mustMatrix(t, []int32{6, 7}, 2)},
		{String("täglich"), "0:2", String("täg")},
		{String("täglich"), "1", String("ä")},
		{String("täglich"), "5:99", String("ch")},
		{words, "1:2", Array([]string{"Test", "String"})},
		{words, "0:2,7:9", Array([]string{"ing", Null(TypeString).str(), Null(TypeString).str()})},
		{words, "0:1,0:3", Array([]string{"Test", "Test"})},
		{Array([][]byte{{1, 2, 3}, nil, {4}}), "0:2,0:1", Array([][]byte{{1, 2}, nil, {4}})},
		{mustMatrix(t, []string{"ab", "cd", "ef", "gh"}, 2, 2), "1,0:1,1", mustMatrix(t, []string{"f", "h"}, 1, 2)},
		{Array([]ExtensionObject{{}, NewExtensionObject(&Range{High: 1})}), "1", Array([]ExtensionObject{NewExtensionObject(&Range{High: 1})})},
	} {
		got, status := mustRange(t, c.r).Of(c.v)
		if status != Good || !got.Equal(c.want) {
			t.Errorf("%q of %v = %v, %v; want %v", c.r, c.v, got, status, c.want)
		}
	}
	for _, c := range []struct {
		v Variant
		r string
	}{
		{row, "10"}, {row, "10:11"}, {row, "1,1"}, {grid, "1"}, {grid, "0,4"}, {grid, "3,0"}, {grid, "0,0,0"},
		{Variant{}, "0"}, {Int32(5), "0"}, {Array([]int32(nil)), "0"}, {Array([]int32{}), "0"},
		{String(""), "0"}, {String("abc"), "3"}, {String("abc"), "0,0"}, {ByteString(nil), "0"}, {words, "0:2,10"}, {words, "3,0"},
		{words, "0,0,0"}, {ID(1).Variant(), "0"},
	} {
		if got, status := mustRange(t, c.r).Of(c.v); status != BadIndexRangeNoData || !got.IsNull() {
			t.Errorf("%q of %v = %v, %v", c.r, c.v, got, status)
		}
	}
}

// A part of a large array must not cost a copy.
func TestNumericRangeShares(t *testing.T) {
	a := make([]float64, 1000)
	v := Array(a)
	r := mustRange(t, "100:899")
	part, _ := r.Of(v)
	got, _ := ArrayOf[float64](part)
	if unsafe.SliceData(got) != &a[100] || len(got) != 800 {
		t.Error("the part is a copy")
	}
	if n := testing.AllocsPerRun(100, func() { part, _ = r.Of(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s := ByteString(make([]byte, 1000))
	if n := testing.AllocsPerRun(100, func() { part, _ = r.Of(s) }); n != 0 {
		t.Errorf("%v allocations of a ByteString", n)
	}
}

func TestReportC31(t *testing.T) {
	v := ByteString(make([]byte, 1000))
	for _, c := range []struct {
		r string
		n int
	}{{"0:8388607", 1000}, {"990:2000", 10}, {"0:4294967295", 1000}, {"999", 1}} {
		got, status := mustRange(t, c.r).Of(v)
		if status != Good || len(got.Bytes()) != c.n {
			t.Errorf("%s: %d bytes, %v", c.r, len(got.Bytes()), status)
		}
	}
	if _, status := mustRange(t, "1000:1001").Of(v); status != BadIndexRangeNoData {
		t.Error(status)
	}
}

func TestReportC32(t *testing.T) {
	old := mustMatrix(t, []int16{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	cell := mustMatrix(t, []int16{40}, 1, 1)
	got, status := mustRange(t, "1,0").Into(old, cell)
	if want := mustMatrix(t, []int16{1, 2, 3, 40, 5, 6, 7, 8, 9}, 3, 3); status != Good || !got.Equal(want) {
		t.Errorf("%v, %v", got, status)
	}
	if was, _ := ArrayOf[int16](old); !slices.Equal(was, []int16{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("the old value is now %v", was)
	}
	if _, status = mustRange(t, "1,0").Into(old, mustMatrix(t, []int32{40}, 1, 1)); status != BadTypeMismatch {
		t.Error(status)
	}
	if _, status = mustRange(t, "5,0").Into(old, cell); status != BadIndexRangeNoData {
		t.Error(status)
	}
}

func TestNumericRangeInto(t *testing.T) {
	row := Array([]int32{0, 1, 2, 3})
	grid := mustMatrix(t, []int32{0, 1, 2, 3, 4, 5}, 2, 3)
	words := Array([]string{"abc", "def"})
	for _, c := range []struct {
		old    Variant
		r      string
		part   Variant
		want   Variant
		status StatusCode
	}{
		{row, "", Int32(5), Int32(5), Good},
		{row, "1", Array([]int32{9}), Array([]int32{0, 9, 2, 3}), Good},
		{row, "1:2", Array([]int32{8, 9}), Array([]int32{0, 8, 9, 3}), Good},
		{row, "1:2", Array([]int32{8}), Variant{}, BadIndexRangeDataMismatch},
		{row, "1:2", Array([]int32{7, 8, 9}), Variant{}, BadIndexRangeDataMismatch},
		{row, "3:4", Array([]int32{8, 9}), Variant{}, BadIndexRangeNoData},
		{row, "1", Int32(9), Variant{}, BadTypeMismatch},
		{row, "1", Array([]uint32{9}), Variant{}, BadTypeMismatch},
		{row, "1", Variant{}, Variant{}, BadTypeMismatch},
		{row, "1", Array([]int32(nil)), Variant{}, BadIndexRangeDataMismatch},
		{row, "1,1", Array([]int32{9}), Variant{}, BadIndexRangeNoData},
		{grid, "0:1,1", mustMatrix(t, []int32{8, 9}, 2, 1), mustMatrix(t, []int32{0, 8, 2, 3, 9, 5}, 2, 3), Good},
		{grid, "0:1,1", Array([]int32{8, 9}), mustMatrix(t, []int32{0, 8, 2, 3, 9, 5}, 2, 3), Good},
		{grid, "0:1,1", mustMatrix(t, []int32{8, 9}, 1, 2), Variant{}, BadIndexRangeDataMismatch},
		{grid, "0:1,1", mustMatrix(t, []int32{8, 9}, 2), Variant{}, BadIndexRangeDataMismatch},
		{grid, "0,3", mustMatrix(t, []int32{8}, 1, 1), Variant{}, BadIndexRangeNoData},
		{String("täglich"), "1", String("a"), String("taglich"), Good},
		{String("täglich"), "0:1", String("x"), Variant{}, BadIndexRangeDataMismatch},
		{String("abc"), "2:3", String("xy"), Variant{}, BadIndexRangeNoData},
		{String("abc"), "0", Array([]string{"x"}), Variant{}, BadTypeMismatch},
		{ByteString([]byte{1, 2, 3}), "1:2", ByteString([]byte{8, 9}), ByteString([]byte{1, 8, 9}), Good},
		{ByteString([]byte{1, 2, 3}), "1:2", Array([]byte{8, 9}), ByteString([]byte{1, 8, 9}), Good},
		{ByteString([]byte{1, 2, 3}), "2:3", ByteString([]byte{8, 9}), Variant{}, BadIndexRangeNoData},
		{ByteString([]byte{1, 2, 3}), "2", ByteString(nil), Variant{}, BadIndexRangeDataMismatch},
		{Array([]byte{1, 2, 3}), "1:2", ByteString([]byte{8, 9}), Array([]byte{1, 8, 9}), Good},
		{words, "1", Array([]string{"long word"}), Array([]string{"abc", "long word"}), Good},
		{words, "0:1,1", Array([]string{"x", "y"}), Array([]string{"axc", "dyf"}), Good},
		{words, "0:1,1", Array([]string{"xx", "y"}), Variant{}, BadIndexRangeDataMismatch},
		{words, "0:1,3", Array([]string{"x", "y"}), Variant{}, BadIndexRangeNoData},
		{Variant{}, "0", Array([]int32{1}), Variant{}, BadIndexRangeNoData},
		{Int32(1), "0", Array([]int32{1}), Variant{}, BadIndexRangeNoData},
	} {
		before := c.old.AppendBinary(nil)
		got, status := mustRange(t, c.r).Into(c.old, c.part)
		if status != c.status || !got.Equal(c.want) {
			t.Errorf("%v into %q of %v = %v, %v; want %v, %v", c.part, c.r, c.old, got, status, c.want, c.status)
		}
		if !slices.Equal(before, c.old.AppendBinary(nil)) {
			t.Errorf("%q changed the old value to %v", c.r, c.old)
		}
	}
}

func FuzzParseNumericRange(f *testing.F) {
	for _, s := range []string{"", "5", "0:9", "1:2,0:1", "5:5", "4294967295", "1,"} {
		f.Add(s)
	}
	m := mustMatrix(f, make([]string, 24), 2, 3, 4)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseNumericRange(s)
		if err != nil {
			if !errors.Is(err, BadIndexRangeInvalid) {
				t.Fatal(err)
			}
			return
		}
		again, err := ParseNumericRange(r.String())
		if err != nil || again != r {
			t.Fatalf("%q printed as %q: %v", s, r, err)
		}
		for _, v := range []Variant{m, String(s), ByteString([]byte(s)), Array([]string{s, "", s})} {
			if part, status := r.Of(v); status == Good && !r.IsWhole() {
				// What was read fits where it came from, unless the range reached beyond it.
				if same, status := r.Into(v, part); status == Good && v.Type() != TypeString && !same.Equal(v) {
					t.Fatalf("%v back into %v gives %v", part, v, same)
				}
			}
		}
	})
}

func FuzzParseNodeID(f *testing.F) {
	for _, s := range []string{"i=1", "ns=2;s=x", "g=09087e75-8e5e-499b-954f-f2a9603db28a", "b=AA==", "svr=1;nsu=a%3Bb;i=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseNodeID(s); err == nil {
			if again, err := ParseNodeID(n.String()); err != nil || again != n {
				t.Fatalf("%q printed as %q: %v", s, n, err)
			}
		} else if !errors.Is(err, BadNodeIdInvalid) {
			t.Fatal(err)
		}
		if e, err := ParseExpandedNodeID(s); err == nil {
			if again, err := ParseExpandedNodeID(e.String()); err != nil || again != e {
				t.Fatalf("%q printed as %q: %v", s, e, err)
			}
		}
		if q, err := ParseQualifiedName(s); err == nil {
			if again, err := ParseQualifiedName(q.String()); err != nil || again != q {
				t.Fatalf("%q printed as %q: %v", s, q, err)
			}
		}
	})
}

func FuzzParseRelativePath(f *testing.F) {
	for _, s := range []string{"/2:Block&.Output", "<#!HasChild>2:Wheel.x", "<ns=2;s=a&.b>", "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseRelativePath(s, nil)
		if err != nil {
			return
		}
		again, err := ParseRelativePath(p.String(), nil)
		if err != nil || !slices.Equal(again.Elements, p.Elements) {
			t.Fatalf("%q printed as %q: %v", s, p, err)
		}
	})
}
