package akkapb

import "slices"

// The messages of this file are those of serializer 22. Suspend and Terminate have no bytes.

// WatchData is Watch and Unwatch.
type WatchData struct {
	Watchee    []byte // path
	Watcher    []byte // path
	HasWatchee bool
	HasWatcher bool
}

// Size is the number of bytes that Append adds.
func (m *WatchData) Size() int {
	return sizeRef(m.HasWatchee, m.Watchee) + sizeRef(m.HasWatcher, m.Watcher)
}

// Append adds the message to dst.
func (m *WatchData) Append(dst []byte) []byte {
	dst = appendRef(slices.Grow(dst, m.Size()), 1, m.HasWatchee, m.Watchee)
	return appendRef(dst, 2, m.HasWatcher, m.Watcher)
}

// Decode reads the message from b, see the package comment.
func (m *WatchData) Decode(b []byte) error {
	*m = WatchData{}
	f := fields{rest: b}
	for f.next() {
		var err error
		switch f.tag {
		case 1<<3 | blob:
			m.HasWatchee = true
			err = mergeRef(&m.Watchee, f.body)
		case 2<<3 | blob:
			m.HasWatcher = true
			err = mergeRef(&m.Watcher, f.body)
		}
		if err != nil {
			return err
		}
	}
	return f.err("WatchData")
}

// DeathWatchNotificationData says that an actor has ended.
type DeathWatchNotificationData struct {
	Actor              []byte // path
	HasActor           bool
	ExistenceConfirmed bool
	AddressTerminated  bool
}

// Size is the number of bytes that Append adds.
func (m *DeathWatchNotificationData) Size() int {
	return sizeRef(m.HasActor, m.Actor) + sizeBool(m.ExistenceConfirmed) + sizeBool(m.AddressTerminated)
}

// Append adds the message to dst.
func (m *DeathWatchNotificationData) Append(dst []byte) []byte {
	dst = appendRef(slices.Grow(dst, m.Size()), 1, m.HasActor, m.Actor)
	dst = appendBool(dst, 2, m.ExistenceConfirmed)
	return appendBool(dst, 3, m.AddressTerminated)
}

// Decode reads the message from b, see the package comment.
func (m *DeathWatchNotificationData) Decode(b []byte) error {
	*m = DeathWatchNotificationData{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasActor = true
			if err := mergeRef(&m.Actor, f.body); err != nil {
				return err
			}
		case 2<<3 | vint:
			m.ExistenceConfirmed = f.num != 0
		case 3<<3 | vint:
			m.AddressTerminated = f.num != 0
		}
	}
	return f.err("DeathWatchNotificationData")
}

// SuperviseData announces a child to its parent.
type SuperviseData struct {
	Child    []byte // path
	HasChild bool
	Async    bool
}

// Size is the number of bytes that Append adds.
func (m *SuperviseData) Size() int { return sizeRef(m.HasChild, m.Child) + sizeBool(m.Async) }

// Append adds the message to dst.
func (m *SuperviseData) Append(dst []byte) []byte {
	return appendBool(appendRef(slices.Grow(dst, m.Size()), 1, m.HasChild, m.Child), 2, m.Async)
}

// Decode reads the message from b, see the package comment.
func (m *SuperviseData) Decode(b []byte) error {
	*m = SuperviseData{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasChild = true
			if err := mergeRef(&m.Child, f.body); err != nil {
				return err
			}
		case 2<<3 | vint:
			m.Async = f.num != 0
		}
	}
	return f.err("SuperviseData")
}

// FailedData tells a parent that its child has failed.
type FailedData struct {
	Child    []byte // path
	Cause    ExceptionData
	UID      uint64 // of the child
	HasChild bool
	HasCause bool
}

// Size is the number of bytes that Append adds.
func (m *FailedData) Size() int {
	return sizeRef(m.HasChild, m.Child) + sizeCause(m.HasCause, &m.Cause) + sizeUint(m.UID)
}

// Append adds the message to dst.
func (m *FailedData) Append(dst []byte) []byte {
	dst = appendRef(slices.Grow(dst, m.Size()), 1, m.HasChild, m.Child)
	dst = appendCause(dst, 2, m.HasCause, &m.Cause)
	return appendUint(dst, 3, m.UID)
}

// Decode reads the message from b, see the package comment.
func (m *FailedData) Decode(b []byte) error {
	m.Cause.reset()
	*m = FailedData{Cause: m.Cause}
	f := fields{rest: b}
	for f.next() {
		var err error
		switch f.tag {
		case 1<<3 | blob:
			m.HasChild = true
			err = mergeRef(&m.Child, f.body)
		case 2<<3 | blob:
			m.HasCause = true
			err = m.Cause.merge(f.body)
		case 3<<3 | vint:
			m.UID = f.num
		}
		if err != nil {
			return err
		}
	}
	if err := f.err("FailedData"); err != nil {
		return err
	}
	return m.Cause.checkInner()
}

// CauseData is Create, Recreate and Resume, which look alike. The cause must be present for .NET, empty
// for none.
type CauseData struct {
	Cause    ExceptionData
	HasCause bool
}

// Size is the number of bytes that Append adds.
func (m *CauseData) Size() int { return sizeCause(m.HasCause, &m.Cause) }

// Append adds the message to dst.
func (m *CauseData) Append(dst []byte) []byte {
	return appendCause(slices.Grow(dst, m.Size()), 1, m.HasCause, &m.Cause)
}

// Decode reads the message from b, see the package comment.
func (m *CauseData) Decode(b []byte) error {
	m.Cause.reset()
	m.HasCause = false
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|blob {
			m.HasCause = true
			if err := m.Cause.merge(f.body); err != nil {
				return err
			}
		}
	}
	if err := f.err("CauseData"); err != nil {
		return err
	}
	return m.Cause.checkInner()
}
