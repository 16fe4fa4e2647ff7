package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// live0 has the server run its own methods, unless they were given other functions, and decide who may read
// what is not for everybody.
func (s *Space) live0(server *uaserver.Server) {
	for id, f := range server.LiveMethods() {
		n := s.zero(id)
		if n == nil || n.more.method.Load() != nil {
			continue
		}
		err := n.HandleMethod(func(c Call) ([]ua.Variant, error) {
			out, status := f(c.Context, c.Inputs)
			if status != ua.Good {
				return out, status
			}
			return out, nil
		}, NonBlocking())
		if err != nil {
			s.log.Load().Error("memspace: a method of the Server object cannot be run", "node", n.id, "error", err)
		}
	}
	const security = uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray
	if n := s.zero(security); n != nil && !n.guarded {
		n.mu.Lock()
		n.guarded = true
		n.more.allow = func(session *uaserver.SessionInfo, p ua.PermissionType) bool {
			return p != ua.PermissionTypeRead || server.MayReadLive(security, session)
		}
		n.mu.Unlock()
	}
}
