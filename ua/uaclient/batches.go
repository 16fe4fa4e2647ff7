package uaclient

import (
	"context"
	"sync"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Limits are the operation limits of a server (Part 5, 6.3.11). 0 is no limit, also where the server
// does not tell.
type Limits struct {
	MaxNodesPerRead             uint32
	MaxNodesPerWrite            uint32
	MaxNodesPerMethodCall       uint32
	MaxNodesPerBrowse           uint32
	MaxNodesPerRegisterNodes    uint32
	MaxNodesPerTranslate        uint32
	MaxMonitoredItemsPerCall    uint32
	MaxBrowseContinuationPoints uint32
}

// Limits reads the server's operation limits, once a session. Helpers keep them by themselves.
func (c *Client) Limits(ctx context.Context) (Limits, error) {
	return c.limits.get(func() (Limits, error) {
		ids := []uint32{
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead,
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite,
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerMethodCall,
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerBrowse,
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRegisterNodes,
			uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerTranslateBrowsePathsToNodeIds,
			uaid.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall,
			uaid.Server_ServerCapabilities_MaxBrowseContinuationPoints,
		}
		req := &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnNeither}
		for _, id := range ids {
			req.NodesToRead = append(req.NodesToRead, ua.ReadValueID{NodeID: ua.ID(id), AttributeID: uint32(ua.AttributeValue)})
		}
		resp, err := c.Read(ctx, req)
		if tooLarge(err) {
			resp, err = c.readSingly(ctx, req)
		}
		if err != nil {
			return Limits{}, err
		}
		var n [8]uint32
		for i := range resp.Results {
			if !resp.Results[i].Status.IsBad() {
				n[i] = uint32(resp.Results[i].Value.Uint())
			}
		}
		return Limits{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]}, nil
	})
}

// readSingly sends one request a node, for servers that allow fewer than there are limits.
func (c *Client) readSingly(ctx context.Context, req *ua.ReadRequest) (*ua.ReadResponse, error) {
	all := &ua.ReadResponse{}
	for i := range req.NodesToRead {
		one := *req
		one.NodesToRead = req.NodesToRead[i : i+1]
		resp, err := c.Read(ctx, &one)
		if err != nil {
			return nil, err
		}
		all.Results = append(all.Results, resp.Results...)
	}
	return all, nil
}

// limit is one of the operation limits for n operations: it asks the server only when there is more
// than one operation. Without an answer there is no limit.
func (c *Client) limit(ctx context.Context, n int, of func(*Limits) uint32) int {
	if n <= 1 {
		return 0
	}
	l, err := c.Limits(ctx)
	if err != nil {
		return 0
	}
	return int(of(&l))
}

// batches runs n operations in pieces of at most limit (0: all at once). A piece that is too large for
// the server or for the answer is halved.
func batches(n, limit int, run func(from, to int) error) error {
	if limit <= 0 {
		limit = max(n, 1)
	}
	for from := 0; from < n; {
		to := min(from+limit, n)
		err := run(from, to)
		switch {
		case err == nil:
			from = to
		case tooLarge(err) && to-from > 1:
			limit = (to - from) / 2
		default:
			return err
		}
	}
	return nil
}

// lazy holds a value that is fetched when first wanted. A failure is not kept.
type lazy[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

func (l *lazy[T]) get(fetch func() (T, error)) (T, error) {
	l.mu.Lock()
	if l.done {
		defer l.mu.Unlock()
		return l.value, nil
	}
	l.mu.Unlock()
	v, err := fetch() // without the lock: a slow server holds up nobody whose context ends earlier
	if err == nil {
		l.mu.Lock()
		l.done, l.value = true, v
		l.mu.Unlock()
	}
	return v, err
}

// forget makes the next get fetch again.
func (l *lazy[T]) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = false
}
