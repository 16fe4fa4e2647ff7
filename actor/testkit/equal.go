package testkit

import (
	"reflect"
	"unsafe"

	"github.com/actua/actua/actor"
)

// equal compares messages as reflect.DeepEqual does, but for references to actors: what is behind one is not looked at,
// since it lives.
func equal(a, b any) bool {
	return equalValues(reflect.ValueOf(a), reflect.ValueOf(b), map[pair]bool{})
}

// pair are two values that are being compared, or have been: cycles end at them.
type pair struct {
	a, b unsafe.Pointer
	n    int // length of slices
	t    reflect.Type
}

var refType = reflect.TypeFor[*actor.Ref]()

func equalValues(a, b reflect.Value, seen map[pair]bool) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer:
		return equalPointers(a, b, seen)
	case reflect.Interface:
		return equalValues(a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i), seen) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		return equalLists(a, b, seen)
	case reflect.Map:
		return equalMaps(a, b, seen)
	case reflect.Func:
		return a.IsNil() && b.IsNil()
	}
	return a.Equal(b)
}

func equalPointers(a, b reflect.Value, seen map[pair]bool) bool {
	if a.UnsafePointer() == b.UnsafePointer() {
		return true
	}
	if a.IsNil() || b.IsNil() {
		return false
	}
	if a.Type() == refType {
		return (*actor.Ref)(a.UnsafePointer()).Equal((*actor.Ref)(b.UnsafePointer()))
	}
	p := pair{a.UnsafePointer(), b.UnsafePointer(), 0, a.Type()}
	if seen[p] {
		return true
	}
	seen[p] = true
	return equalValues(a.Elem(), b.Elem(), seen)
}

func equalLists(a, b reflect.Value, seen map[pair]bool) bool {
	if a.Kind() == reflect.Slice {
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		p := pair{a.UnsafePointer(), b.UnsafePointer(), a.Len(), a.Type()}
		if p.a == p.b || seen[p] {
			return true
		}
		seen[p] = true
	}
	for i := range a.Len() {
		if !equalValues(a.Index(i), b.Index(i), seen) {
			return false
		}
	}
	return true
}

func equalMaps(a, b reflect.Value, seen map[pair]bool) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	p := pair{a.UnsafePointer(), b.UnsafePointer(), a.Len(), a.Type()}
	if p.a == p.b || seen[p] {
		return true
	}
	seen[p] = true
	for i := a.MapRange(); i.Next(); {
		if v := b.MapIndex(i.Key()); !v.IsValid() || !equalValues(i.Value(), v, seen) {
			return false
		}
	}
	return true
}
