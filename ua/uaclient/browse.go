package uaclient

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Browse sends one Browse request (Part 4, 5.9.2). Results stand in the order of NodesToBrowse;
// continuation points in them are the caller's to use or to release.
func (c *Client) Browse(ctx context.Context, req *ua.BrowseRequest) (*ua.BrowseResponse, error) {
	r := *req
	resp := new(ua.BrowseResponse)
	if err := c.send(ctx, "Browse", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("Browse", len(resp.Results), len(r.NodesToBrowse))
}

// BrowseNext sends one BrowseNext request (Part 4, 5.9.3).
func (c *Client) BrowseNext(ctx context.Context, req *ua.BrowseNextRequest) (*ua.BrowseNextResponse, error) {
	r := *req
	resp := new(ua.BrowseNextResponse)
	if err := c.send(ctx, "BrowseNext", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	if r.ReleaseContinuationPoints {
		return resp, nil
	}
	return resp, results("BrowseNext", len(resp.Results), len(r.ContinuationPoints))
}

// BrowseOptions narrow what References and BrowseAll return. The zero value is all forward
// hierarchical references.
type BrowseOptions struct {
	Direction     ua.BrowseDirection
	ReferenceType ua.NodeID // with its subtypes; null is HierarchicalReferences
	AllReferences bool      // every type of reference, hierarchical or not
	ExactType     bool      // without subtypes of ReferenceType
	NodeClasses   ua.NodeClass
	PageSize      uint32 // references a node and answer, default 1000; halved when an answer gets too large
}

const defaultPage = 1000

// maxEmptyPages is how many answers in a row may bring a continuation point and no reference. A server may
// pause like that; one that never goes on would keep a browse busy for ever.
const maxEmptyPages = 100

var errEmptyPages = reason(ua.BadUnknownResponse, "%d answers in a row hold a continuation point and no reference", maxEmptyPages)

func (o *BrowseOptions) page() uint32 {
	if o.PageSize == 0 {
		return defaultPage
	}
	return o.PageSize
}

func (o *BrowseOptions) description(node ua.NodeID) ua.BrowseDescription {
	d := ua.BrowseDescription{
		NodeID: node, BrowseDirection: o.Direction, ReferenceTypeID: o.ReferenceType, IncludeSubtypes: !o.ExactType,
		NodeClassMask: uint32(o.NodeClasses), ResultMask: uint32(ua.BrowseResultMaskAll),
	}
	switch {
	case o.AllReferences:
		d.ReferenceTypeID = ua.NodeID{}
	case d.ReferenceTypeID.IsNull():
		d.ReferenceTypeID = ua.ID(uaid.HierarchicalReferences)
	}
	return d
}

// References yields the references of a node page by page. An error ends the sequence. Leaving the
// loop early releases the server's continuation point.
func (c *Client) References(ctx context.Context, node ua.NodeID, options BrowseOptions) iter.Seq2[ua.ReferenceDescription, error] {
	return func(yield func(ua.ReferenceDescription, error) bool) {
		page, seen, skip, empty := options.page(), 0, 0, 0
		var point []byte
		defer func() { c.release(ctx, point) }()
		for {
			result, err := c.browsePage(ctx, node, &options, page, point)
			if tooLarge(err) && page > 1 {
				c.release(ctx, point)
				page, point, skip = page/2, nil, seen
				continue
			}
			if err == nil {
				point = result.ContinuationPoint
				err = result.StatusCode.Err()
				if empty++; len(result.References) > 0 {
					empty = 0
				}
				if err == nil && empty > maxEmptyPages {
					err = errEmptyPages
				}
			}
			if err != nil {
				yield(ua.ReferenceDescription{}, nodeError("Browse", node, err))
				return
			}
			for _, ref := range result.References {
				if skip > 0 {
					skip--
					continue
				}
				seen++
				if !yield(ref, nil) {
					return
				}
			}
			if len(point) == 0 {
				return
			}
		}
	}
}

// browsePage gets the first page of a node, or the next one of a continuation point.
func (c *Client) browsePage(ctx context.Context, node ua.NodeID, o *BrowseOptions, page uint32, point []byte) (*ua.BrowseResult, error) {
	if len(point) > 0 {
		resp, err := c.BrowseNext(ctx, &ua.BrowseNextRequest{ContinuationPoints: [][]byte{point}})
		if err != nil {
			return nil, err
		}
		return &resp.Results[0], nil
	}
	resp, err := c.Browse(ctx, &ua.BrowseRequest{
		RequestedMaxReferencesPerNode: page, NodesToBrowse: []ua.BrowseDescription{o.description(node)},
	})
	if err != nil {
		return nil, err
	}
	return &resp.Results[0], nil
}

// release gives continuation points back, even when the context of the browse has ended.
func (c *Client) release(ctx context.Context, points ...[]byte) {
	held := points[:0:0]
	for _, p := range points {
		if len(p) > 0 {
			held = append(held, p)
		}
	}
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	if _, err := c.BrowseNext(ctx, &ua.BrowseNextRequest{ReleaseContinuationPoints: true, ContinuationPoints: held}); err != nil {
		c.settings.Log.Debug("releasing continuation points", "error", err)
	}
}

// BrowseResult is what BrowseAll found at one node.
type BrowseResult struct {
	Node       ua.NodeID
	References []ua.ReferenceDescription
	Status     ua.StatusCode
}

// BrowseAll returns the references of any number of nodes, in the order of the nodes. It keeps the
// server's limits, pages, and when the server runs out of continuation points finishes the nodes that
// have one before it browses the others again (Part 4, 5.9.2). A node that cannot be browsed has its
// own status; the error is about the browse as a whole.
func (c *Client) BrowseAll(ctx context.Context, nodes []ua.NodeID, options BrowseOptions) ([]BrowseResult, error) {
	w := walk{
		c: c, options: &options, page: options.page(),
		batch: c.limit(ctx, len(nodes), func(l *Limits) uint32 { return l.MaxNodesPerBrowse }),
		out:   make([]BrowseResult, len(nodes)),
	}
	if w.batch == 0 {
		w.batch = max(len(nodes), 1)
	}
	for i, n := range nodes {
		w.out[i].Node = n
		w.todo = append(w.todo, i)
	}
	for len(w.todo) > 0 {
		err := w.round(ctx)
		if tooLarge(err) && (w.page > 1 || w.batch > 1) {
			w.page, w.batch = max(w.page/2, 1), max(w.batch/2, 1)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// walk is the state of BrowseAll: indexes of nodes that are still to be browsed.
type walk struct {
	c       *Client
	options *BrowseOptions
	page    uint32
	batch   int
	todo    []int
	out     []BrowseResult
}

// paging is a node with a continuation point.
type paging struct {
	index int
	point []byte
}

// round browses the next batch to its end. On an error the nodes of the batch that are not finished
// stay in todo, to be browsed from their beginning.
func (w *walk) round(ctx context.Context) (err error) {
	size := min(w.batch, len(w.todo))
	mine := w.todo[:size:size]
	req := &ua.BrowseRequest{RequestedMaxReferencesPerNode: w.page}
	for _, i := range mine {
		w.out[i].References = nil
		req.NodesToBrowse = append(req.NodesToBrowse, w.options.description(w.out[i].Node))
	}
	resp, err := w.c.Browse(ctx, req)
	if err != nil {
		return err
	}
	var again []int
	var open []paging
	for k, i := range mine {
		r := &resp.Results[k]
		if errors.Is(r.StatusCode, ua.BadNoContinuationPoints) {
			again = append(again, i)
			w.c.release(ctx, r.ContinuationPoint) // there should be none
			continue
		}
		if point := w.take(i, r); len(point) > 0 {
			open = append(open, paging{i, point})
		}
	}
	if len(again) == size {
		if size == 1 {
			w.out[again[0]].Status = ua.BadNoContinuationPoints // others hold them all
			again = nil
		}
		w.batch = max(size/2, 1)
	} else if len(again) > 0 {
		w.batch = size - len(again) // as many as the server has points for
	}
	open, err = w.finish(ctx, open)
	for _, p := range open {
		again = append(again, p.index)
	}
	w.todo = append(again, w.todo[size:]...)
	return err
}

// take keeps what a result brings and returns the continuation point.
func (w *walk) take(i int, r *ua.BrowseResult) []byte {
	w.out[i].Status = r.StatusCode
	if r.StatusCode.IsBad() {
		return nil
	}
	w.out[i].References = append(w.out[i].References, r.References...)
	return r.ContinuationPoint
}

// finish follows continuation points to their ends. On an error it releases and returns those left.
func (w *walk) finish(ctx context.Context, open []paging) ([]paging, error) {
	empty := 0
	for len(open) > 0 {
		size := min(w.batch, len(open))
		req := &ua.BrowseNextRequest{}
		for _, p := range open[:size] {
			req.ContinuationPoints = append(req.ContinuationPoints, p.point)
		}
		resp, err := w.c.BrowseNext(ctx, req)
		if err == nil {
			if empty++; slices.ContainsFunc(resp.Results, func(r ua.BrowseResult) bool { return len(r.References) > 0 || len(r.ContinuationPoint) == 0 }) {
				empty = 0
			}
			if empty > maxEmptyPages {
				err = &Error{Step: StepService, Op: "BrowseNext", Err: errEmptyPages}
			}
		}
		if err != nil {
			points := make([][]byte, len(open))
			for k, p := range open {
				points[k] = p.point
			}
			w.c.release(ctx, points...)
			return open, err
		}
		var next []paging
		for k, p := range open[:size] {
			if point := w.take(p.index, &resp.Results[k]); len(point) > 0 {
				next = append(next, paging{p.index, point})
			}
		}
		open = append(next, open[size:]...)
	}
	return nil, nil
}
