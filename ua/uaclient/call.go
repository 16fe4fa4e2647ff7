package uaclient

import (
	"context"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Call sends one Call request (Part 4, 5.12.2). Results stand in the order of MethodsToCall.
func (c *Client) Call(ctx context.Context, req *ua.CallRequest) (*ua.CallResponse, error) {
	r := *req
	resp := new(ua.CallResponse)
	if err := c.send(ctx, "Call", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("Call", len(resp.Results), len(r.MethodsToCall))
}

// ArgumentError says which arguments of a method call were refused. It wraps the status of the call.
type ArgumentError struct {
	Status ua.StatusCode
	Inputs []ua.StatusCode // one for each argument; Good for those that were accepted
}

// Error lists the arguments that were refused, counted from 1.
func (e *ArgumentError) Error() string {
	var bad []string
	for i, s := range e.Inputs {
		if s.IsBad() {
			bad = append(bad, fmt.Sprintf("argument %d: %v", i+1, s))
		}
	}
	return e.Status.Error() + " (" + strings.Join(bad, ", ") + ")"
}

// Unwrap is the status of the call.
func (e *ArgumentError) Unwrap() error { return e.Status }

// CallMethod calls a method of an object and returns its outputs. A bad status is an error, with an
// *ArgumentError inside when the server says which arguments it refused. A call is never repeated.
func (c *Client) CallMethod(ctx context.Context, object, method ua.NodeID, args ...ua.Variant) ([]ua.Variant, error) {
	resp, err := c.Call(ctx, &ua.CallRequest{MethodsToCall: []ua.CallMethodRequest{
		{ObjectID: object, MethodID: method, InputArguments: args},
	}})
	if err != nil {
		return nil, nodeError("Call", method, err)
	}
	r := &resp.Results[0]
	if !r.StatusCode.IsBad() {
		return r.OutputArguments, nil
	}
	err = r.StatusCode
	for _, s := range r.InputArgumentResults {
		if s.IsBad() {
			err = &ArgumentError{Status: r.StatusCode, Inputs: r.InputArgumentResults}
			break
		}
	}
	return nil, nodeError("Call", method, err)
}

// Arguments reads the descriptions of a method's inputs and outputs; nil where it has none (Part 3,
// 5.7).
func (c *Client) Arguments(ctx context.Context, method ua.NodeID) (inputs, outputs []ua.Argument, err error) {
	var nodes []ua.NodeID
	var into []*[]ua.Argument
	for ref, err := range c.References(ctx, method, BrowseOptions{ReferenceType: ua.ID(uaid.HasProperty), NodeClasses: ua.NodeClassVariable}) {
		if err != nil {
			return nil, nil, err
		}
		target := &inputs
		switch ref.BrowseName {
		case ua.QualifiedName{Name: "InputArguments"}:
		case ua.QualifiedName{Name: "OutputArguments"}:
			target = &outputs
		default:
			continue
		}
		nodes, into = append(nodes, ref.NodeID.NodeID), append(into, target)
	}
	values, err := c.ReadValues(ctx, nodes...)
	if err != nil {
		return nil, nil, err
	}
	for i := range values {
		if err := values[i].Status.Err(); err != nil {
			return nil, nil, nodeError("Read", nodes[i], err)
		}
		list, _ := ua.ArrayOf[ua.ExtensionObject](values[i].Value)
		for k := range list {
			if a, ok := list[k].Value.(*ua.Argument); ok {
				*into[i] = append(*into[i], *a)
			}
		}
	}
	return inputs, outputs, nil
}
