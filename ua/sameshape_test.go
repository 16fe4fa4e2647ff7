package ua

import "testing"

func TestSameShape(t *testing.T) {
	m, _ := Matrix([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	n, _ := Matrix([]int32{1, 2, 3, 4, 5, 6}, 3, 2)
	o, _ := Matrix([]string{"", "", "", "", "", ""}, 2, 3)
	for i, c := range []struct {
		a, b Variant
		want bool
	}{
		{Int32(1), String("x"), true},
		{Int32(1), Variant{}, true},
		{Int32(1), Array([]int32{1}), false},
		{Array([]int32{1}), Array([]int32{2}), true},
		{Array([]int32{1}), Array([]int32{1, 2}), false},
		{Array[int32](nil), Array([]int32{}), true},
		{m, m, true},
		{m, n, false},
		{m, o, true},
		{m, Array([]int32{1, 2, 3, 4, 5, 6}), false},
	} {
		if c.a.SameShape(c.b) != c.want || c.b.SameShape(c.a) != c.want {
			t.Errorf("case %d: %v and %v: not %v", i, c.a, c.b, c.want)
		}
	}
}
