package assoc

import "testing"

// The rows of the list of Akka.NET's own tests that a peer has to satisfy, as far as they are about decisions. More of the same is in testdata.

func TestRow01InboundTakesPayloadAfterAssociate(t *testing.T) {
	playConn(t, `
> accept
> recv associate tcp A a 2552 7
send ASSOCIATE
associated akka.tcp://A@a:2552 7
> recv payload early
> attach
deliver early
> recv payload next
deliver next
`)
}

func TestRow02InboundUnexpectedFirst(t *testing.T) {
	playConn(t, `
> accept
> recv payload x
send DISASSOCIATE
ended Unknown: unexpected first PDU
> accept
> recv heartbeat
send DISASSOCIATE
ended Unknown: unexpected first PDU
`)
}

func TestRow03OutboundReadyAfterReply(t *testing.T) {
	playConn(t, `
> dial
send ASSOCIATE
> quiet 10s
> recv associate tcp B b 1 42
associated akka.tcp://B@b:1 42
`)
}

func TestRow04ExplicitDisassociate(t *testing.T) {
	playConn(t, `
> accept
> recv associate tcp A a 2552 7
send ASSOCIATE
associated akka.tcp://A@a:2552 7
> recv disassociate
ended Unknown: disassociated by the peer
> recv disassociate
> recv payload x
`)
}

func TestRow05TransportLoss(t *testing.T) {
	playConn(t, `
> dial
send ASSOCIATE
> recv associate tcp B b 1 42
associated akka.tcp://B@b:1 42
> closed reset
ended Shutdown: connection reset
> accept
> closed fin
ended Unknown: closed by the peer
`)
}

func TestRow06FailureDetector(t *testing.T) {
	playConn(t, `
> dial
send ASSOCIATE
> recv associate tcp B b 1 42
associated akka.tcp://B@b:1 42
> quiet 124s
> until 4s
at 2m8s
send DISASSOCIATE
ended Unknown: no heartbeat
`)
}

func TestRow07LateReader(t *testing.T) {
	playConn(t, `
> accept
> recv associate tcp A a 2552 7
send ASSOCIATE
associated akka.tcp://A@a:2552 7
> recv disassociate
ended Unknown: disassociated by the peer
> attach
ended Unknown: disassociated by the peer
`)
}

func TestRow08HandshakeTimeouts(t *testing.T) {
	playConn(t, `
> dial
send ASSOCIATE
> quiet 14999ms
> until 1ms
at 15s
send DISASSOCIATE
ended Unknown: handshake timed out
> accept
> until 14999ms
> until 1ms
at 30s
send DISASSOCIATE
ended Unknown: handshake timed out
`)
}

func TestRow14PoliciesAndRefusal(t *testing.T) {
	play(t, `
> state
idle, writer #0, 0 unacknowledged, 0 waiting, done false, forgettable true
> send a
dial #1
> send b
> ended #1 unknown dial-failed
event AssociationError dialer: dial failed
dead letter a: dial failed
dead letter b: dial failed
event Gated: dial failed
> wait 4999ms
> send c
dead letter c: gated
> wait 1ms
> send d
dial #2
> associated #2 42
event Associated #2 dialer, UID 42
attach #2
write #2 d
> quarantine 41
> quarantine 42
event Disassociated #2 dialer, Quarantined: local
disassociate #2 Quarantined
event Quarantined UID 42: quarantined
event AddressTerminated: quarantined
> send e
dial #3, refuse 42
> associated #3 43
event Associated #3 dialer, UID 43
attach #3
write #3 e
> ended #3 unknown fin
event Disassociated #3 dialer, Unknown: closed by the peer
event Gated: closed by the peer
> until 6s
> send f
dial #4, refuse 42
> ended #4 quarantined refused
event AssociationError dialer: refused UID
dead letter f: peer refused
event Gated: refused UID
> until 5d
> state
idle, writer #0, 0 unacknowledged, 0 waiting, done false, forgettable true
> send g
dial #5
`)
}

// Many incarnations of one address: none comes back, and what is remembered is bounded.
func TestRow14ManyIncarnations(t *testing.T) {
	set := defaultSettings()
	r := NewRemote[string, string](&set, 0)
	for uid := range UID(100) {
		if _, acts := r.Inbound(0, uid, nil); r.State() != StateActive {
			t.Fatalf("UID %d: %v", uid, acts)
		}
		if uid > 0 {
			if _, acts := r.Inbound(0, uid-1, nil); len(acts) != 1 || acts[0].Do != Disassociate || acts[0].Reason != Quarantined {
				t.Fatalf("the one before %d: %v", uid, acts)
			}
		}
	}
	if len(r.refused) > maxRefused || len(r.links) != 1 {
		t.Errorf("%d refused, %d connections", len(r.refused), len(r.links))
	}
}

func TestRow18StashUntilUIDKnown(t *testing.T) {
	play(t, `
> send a
dial #1
> inbound 42
is #2
> associated #1 42
event Associated #1 dialer, UID 42
attach #1
write #1 a
event Associated #2 listener, UID 42
attach #2
> recv #2 0 hello
deliver hello
> send b
write #1 b
`)
}

func TestRow19QuarantineStashed(t *testing.T) {
	play(t, `
> send a
dial #1
> inbound 42
is #2
> quarantine 42
disassociate #2 Quarantined
event Quarantined UID 42: quarantined
event AddressTerminated: quarantined
> inbound 42
is #3
disassociate #3 Quarantined
> associated #1 43
event Associated #1 dialer, UID 43
attach #1
write #1 a
`)
}

func TestRow26NeverReached(t *testing.T) {
	play(t, `
> system watch
dial #1
> wait 170s
> ended #1 unknown dial-failed
event AssociationError dialer: dial failed
event Gated: dial failed
> until 5s
at 2m55s
dial #2
> ended #2 unknown dial-failed
event AssociationError dialer: dial failed
event Gated: dial failed
> until 5s
at 3m0s
dead letter watch: delivery timed out
event AddressTerminated: delivery timed out
event Gated: local
> until 5s
> inbound 42
is #3
event Associated #3 listener, UID 42
attach #3
> system again
write #3 again (0)
`)
}

// AttemptSysMsgRedelivery: a link that breaks and comes back loses no system message.
func TestRow40Redelivery(t *testing.T) {
	play(t, `
> inbound 42
is #1
event Associated #1 listener, UID 42
attach #1
> system watch
write #1 watch (0)
> recv #1 0 notification
deliver notification
> ended #1 unknown silent
event Disassociated #1 listener, Unknown: no heartbeat
event Gated: no heartbeat
> until 5s
at 5s
dial #2
> associated #2 42
event Associated #2 dialer, UID 42
attach #2
write #2 watch (0)
> recv #2 0 notification
> until 1s
at 5.3s
ack #2 0 nacks []
> ack #2 0
`)
}

// RemoteGatePiercing, RemoteNodeRestartGate: the peer comes by itself while the gate is closed.
func TestRow40GatePiercing(t *testing.T) {
	play(t, `
> send a
dial #1
> ended #1 unknown dial-failed
event AssociationError dialer: dial failed
dead letter a: dial failed
event Gated: dial failed
> system s
> inbound 42
is #2
event Associated #2 listener, UID 42
attach #2
write #2 s (0)
> send b
write #2 b
`)
}

// RemoteQuarantinePiercing, PiercingShouldKeepQuarantine: the quarantine holds for the incarnation, not for the address.
func TestRow40QuarantinePiercing(t *testing.T) {
	play(t, `
> inbound 42
is #1
event Associated #1 listener, UID 42
attach #1
> quarantine 42
event Disassociated #1 listener, Quarantined: local
disassociate #1 Quarantined
event Quarantined UID 42: quarantined
event AddressTerminated: quarantined
> inbound 42
is #2
disassociate #2 Quarantined
> inbound 43
is #3
event Associated #3 listener, UID 43
attach #3
> send a
write #3 a
> inbound 42
is #4
disassociate #4 Quarantined
`)
}

// RemoteNodeShutdownAndComesBack: new incarnation, new numbers.
func TestRow40ShutdownAndBack(t *testing.T) {
	play(t, `
> inbound 42
is #1
event Associated #1 listener, UID 42
attach #1
> system s
write #1 s (0)
> ended #1 shutdown said
event Disassociated #1 listener, Shutdown: disassociated by the peer
dead letter s: peer shut down
event Gated: disassociated by the peer
> inbound 43
is #2
event Quarantined UID 42: peer restarted
event AddressTerminated: peer restarted
event Associated #2 listener, UID 43
attach #2
> system t
write #2 t (0)
> recv #2 0 first
deliver first
`)
}

// RemoteRestartedQuarantined: this system hears that it is cut off.
func TestRow40ThisSystemQuarantined(t *testing.T) {
	play(t, `
> send a
dial #1
> ended #1 quarantined said
event AssociationError dialer: disassociated by the peer
event ThisActorSystemQuarantined
dead letter a: this system is quarantined
event Gated: disassociated by the peer
`)
}
