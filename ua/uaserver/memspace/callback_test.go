package memspace

import (
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// V07: a callback sees old, new and user, and can refuse.
func TestOnWrite(t *testing.T) {
	s := newSpace(t)
	var seen Write
	v := s.AddVariable(s.Objects(), "SetPoint", ua.Int32(1), Writable(func(w Write) ua.StatusCode {
		seen = w
		w.Variable.DisplayName() // no lock is held
		if w.New.Value.Int() > 100 {
			return ua.BadOutOfRange
		}
		return ua.Good
	}))
	expect(t, "refused", write(s, v.ID(), ua.Int32(101)), ua.BadOutOfRange)
	expect(t, "value after refusal", v.Get().Int(), 1)
	expect(t, "wrong type", write(s, v.ID(), ua.Double(1)), ua.BadTypeMismatch)
	expect(t, "accepted", write(s, v.ID(), ua.Int32(5)), ua.Good)
	expect(t, "value", v.Get().Int(), 5)
	expect(t, "old", seen.Old.Value.Int(), 1)
	expect(t, "new", seen.New.Value.Int(), 5)
	expect(t, "user", seen.User(), "anna")
}

func TestBlockingProtocol(t *testing.T) {
	s := newSpace(t)
	calls := 0
	opts := []Option{
		Writable(func(Write) ua.StatusCode { calls++; return ua.Good }),
		OnRead(func(Read) ua.DataValue { calls++; return ua.DataValue{Value: ua.Int32(7)} }),
	}
	slow := s.AddVariable(s.Objects(), "Slow", ua.Int32(0), opts...)
	fast := s.AddVariable(s.Objects(), "Fast", ua.Int32(0), append(opts, NonBlocking())...)
	ctx := session("")
	ctx.MayBlock = false
	results := make([]ua.DataValue, 2)
	reads := []uaserver.ReadItem{
		{NodeID: slow.ID(), Attribute: ua.AttributeValue, Result: &results[0]},
		{NodeID: fast.ID(), Attribute: ua.AttributeValue, Result: &results[1]},
	}
	s.Read(ctx, reads)
	if !reads[0].Blocked || reads[1].Blocked || calls != 1 || results[1].Value.Int() != 7 {
		t.Fatalf("blocked %v, %v after %d calls, %v", reads[0].Blocked, reads[1].Blocked, calls, results)
	}
	statuses := make([]ua.StatusCode, 2)
	value := &ua.DataValue{Value: ua.Int32(1)}
	writes := []uaserver.WriteItem{
		{NodeID: slow.ID(), Attribute: ua.AttributeValue, Value: value, Result: &statuses[0]},
		{NodeID: fast.ID(), Attribute: ua.AttributeValue, Value: value, Result: &statuses[1]},
	}
	s.Write(ctx, writes)
	if !writes[0].Blocked || writes[1].Blocked || calls != 2 || slow.Get().Int() != 0 || fast.Get().Int() != 1 {
		t.Fatalf("blocked %v, %v after %d calls", writes[0].Blocked, writes[1].Blocked, calls)
	}
}

// MaxAge: an answer that is young enough is given again.
func TestOnReadMaxAge(t *testing.T) {
	s := newSpace(t)
	n := int32(0)
	v := s.AddVariable(s.Objects(), "V", ua.Int32(0), OnRead(func(Read) ua.DataValue {
		n++
		return ua.DataValue{Value: ua.Int32(n)}
	}))
	get := func(now ua.DateTime, age float64) int64 {
		ctx := session("")
		ctx.Now = now
		var d ua.DataValue
		s.Read(ctx, []uaserver.ReadItem{{NodeID: v.ID(), Attribute: ua.AttributeValue, MaxAge: age, Result: &d}})
		return d.Value.Int()
	}
	const second = 10_000_000
	at := ua.Now()
	expect(t, "first", get(at, 0), 1)
	expect(t, "MaxAge 0 asks", get(at+1, 0), 2)
	expect(t, "young enough", get(at+second/2, 1000), 2)
	expect(t, "too old", get(at+3*second, 1000), 3)
}

func TestPanicsInCallbacks(t *testing.T) {
	s := newSpace(t)
	v := s.AddVariable(s.Objects(), "V", ua.Int32(0),
		OnRead(func(Read) ua.DataValue { panic("read") }), Writable(func(Write) ua.StatusCode { panic("write") }))
	wrong := s.AddVariable(s.Objects(), "Wrong", ua.Int32(0),
		OnRead(func(Read) ua.DataValue { return ua.DataValue{Value: ua.String("x")} }))
	m := s.AddMethod(s.Objects(), "M", Method{Call: func(Call) ([]ua.Variant, error) { panic(nil) }})
	expect(t, "read", read(s, v.ID(), ua.AttributeValue).Status, ua.BadInternalError)
	expect(t, "write", write(s, v.ID(), ua.Int32(1)), ua.BadInternalError)
	expect(t, "value of another type", read(s, wrong.ID(), ua.AttributeValue).Status, ua.BadInternalError)
	expect(t, "call", call(s, s.Objects().ID(), m.ID()).StatusCode, ua.BadInternalError)
}
