package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

func (a *app) readCommand() *cobra.Command {
	f := &clientFlags{}
	var attribute, indexRange string
	cmd := &cobra.Command{
		Use:   "read URL NODE...",
		Short: "Read values and other attributes of nodes",
		Example: "  actua read localhost i=2258\n  actua read localhost /Objects/Server/ServerStatus --attribute all\n" +
			"  actua read localhost 'ns=2;s=Samples' --range 0:9 --json",
		Args: exactly("URL", "NODE..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			attributes, err := parseAttributes(attribute)
			if err != nil {
				return err
			}
			if _, err := ua.ParseNumericRange(indexRange); err != nil {
				return usage("--range: %s; such as 0:9, or 1,0 in a matrix", why(err))
			}
			nodes, err := parseNodes(args[1:])
			if err != nil {
				return err
			}
			c, err := a.dial(cmd.Context(), cmd, f, args[0])
			if err != nil {
				return err
			}
			defer a.hangUp()
			return a.read(cmd.Context(), c, nodes, attributes, indexRange)
		},
	}
	cmd.Flags().StringVar(&attribute, "attribute", "Value", "attribute to read, or all")
	cmd.Flags().StringVar(&indexRange, "range", "", "part of an array, string or byte string, such as 0:9")
	f.register(cmd)
	return cmd
}

// parseAttributes returns nil for all.
func parseAttributes(name string) ([]ua.AttributeID, error) {
	if name == "all" {
		return nil, nil
	}
	id, err := ua.ParseAttributeID(name)
	if err == nil {
		return []ua.AttributeID{id}, nil
	}
	names := []string{"all"}
	for _, id := range allAttributes() {
		names = append(names, id.String())
	}
	for _, id := range allAttributes() {
		if editDistance(lower(name), lower(id.String())) == 0 {
			return []ua.AttributeID{id}, nil
		}
	}
	return nil, usage("--attribute %s is no attribute%s", name, didYouMean(name, names))
}

func allAttributes() (all []ua.AttributeID) {
	for id := ua.AttributeNodeID; id.IsValid(); id++ {
		all = append(all, id)
	}
	return all
}

// reading is one attribute that was read.
type reading struct {
	node      ua.NodeID
	text      string // of the node
	attribute ua.AttributeID
	value     ua.DataValue
}

// valueText is the value for people, with the name of an enumeration's value behind its number.
func (r *reading) valueText(names map[ua.NodeID]string) string {
	text := attributeText(r.attribute, r.value.Value)
	if name := names[r.node]; name != "" && r.attribute == ua.AttributeValue {
		text += " (" + name + ")"
	}
	return text
}

// enumNames finds the names of the values that are of a standard enumeration.
func enumNames(ctx context.Context, c *uaclient.Client, list []reading) map[ua.NodeID]string {
	names := map[ua.NodeID]string{}
	var items []ua.ReadValueID
	var at []*reading
	for i := range list {
		r := &list[i]
		if v := r.value.Value; r.attribute == ua.AttributeValue && v.Type() == ua.TypeInt32 && !v.IsArray() {
			items = append(items, ua.ReadValueID{NodeID: r.node, AttributeID: uint32(ua.AttributeDataType)})
			at = append(at, r)
		}
	}
	if len(items) == 0 {
		return names
	}
	types, err := c.ReadAttributes(ctx, items)
	if err != nil {
		return names // the numbers say it too
	}
	for i, r := range at {
		id := types[i].Value.NodeID()
		if id.Namespace() != 0 || id.Type() != ua.IDTypeNumeric {
			continue
		}
		if e := ua.EnumOf(id.Numeric()); e != nil && !e.OptionSet {
			names[r.node] = e.ValueName(r.value.Value.Int())
		}
	}
	return names
}

func (a *app) read(ctx context.Context, c *uaclient.Client, nodes []nodeRef, attributes []ua.AttributeID, indexRange string) error {
	all := attributes == nil
	if all {
		attributes = allAttributes()
	}
	var list []reading
	var items []ua.ReadValueID
	var asked []int
	for _, n := range nodes {
		id, err := n.find(ctx, c)
		if err != nil {
			if a.classifyClient(err).code != exitBadStatus {
				return err
			}
			fmt.Fprintf(a.err, "actua read: %s\n", clean(err.Error()))
			list = append(list, reading{text: n.text, attribute: attributes[0], value: ua.DataValue{Status: ua.StatusOf(err)}})
			continue
		}
		for _, at := range attributes {
			item := ua.ReadValueID{NodeID: id, AttributeID: uint32(at)}
			if at == ua.AttributeValue || !all {
				item.IndexRange = indexRange
			}
			items, asked = append(items, item), append(asked, len(list))
			list = append(list, reading{node: id, text: id.String(), attribute: at})
		}
	}
	values, err := readKnown(ctx, c, items)
	if err != nil {
		return err
	}
	for i, at := range asked {
		list[at].value = values[i]
	}
	if all {
		list = withoutMissing(list)
	}
	for i := range list {
		a.bad = a.bad || list[i].value.Status.IsBad()
	}
	if a.json {
		return a.readLines(list)
	}
	return a.readTable(list, enumNames(ctx, c, list))
}

// withoutMissing drops the attributes that a node of its class does not have. A node that does not
// exist keeps its first line.
func withoutMissing(list []reading) []reading {
	var kept []reading
	for i := range list {
		status := list[i].value.Status.Base()
		unknown := status == ua.BadNodeIdUnknown || status == ua.BadNodeIdInvalid
		if status == ua.BadAttributeIdInvalid || unknown && list[i].attribute != ua.AttributeNodeID {
			continue
		}
		kept = append(kept, list[i])
	}
	return kept
}

func (a *app) readLines(list []reading) error {
	for i := range list {
		r := &list[i]
		v := &r.value
		l := new(line).set("node", r.text).set("attribute", r.attribute.String()).value("value", v.Value).
			text("type", typeName(v.Value)).set("status", v.Status.String()).
			time("sourceTimestamp", v.SourceTimestamp).time("serverTimestamp", v.ServerTimestamp)
		if err := a.print(l); err != nil {
			return err
		}
	}
	return nil
}

// readTable shows one reading in full and several as a table.
func (a *app) readTable(list []reading, names map[ua.NodeID]string) error {
	if len(list) == 1 {
		r := &list[0]
		var t table
		t.add("node", clean(r.text))
		label := "value"
		if r.attribute != ua.AttributeValue {
			label = r.attribute.String()
		}
		t.add(label, r.valueText(names))
		t.add("type", orDash(typeName(r.value.Value)))
		t.add("status", a.statusText(r.value.Status))
		t.add("source time", timeText(r.value.SourceTimestamp))
		t.add("server time", timeText(r.value.ServerTimestamp))
		return a.printf("%s", t.String())
	}
	// A terminal that is too narrow for both times shows the source's, or none, then shorter values.
	t := readingTable(list, names, 2, longestCell)
	for times := 1; times >= 0 && a.width > 0 && t.width() > a.width; times-- {
		t = readingTable(list, names, times, longestCell)
	}
	if over := t.width() - a.width; a.width > 0 && over > 0 {
		t = readingTable(list, names, 0, max(longestCell-over, len("VALUE")))
	}
	return a.printf("%s", t.String())
}

// longestCell is how many characters of a node or a value a table shows.
const longestCell = 40

// readingTable shows readings with both times (2), the source's (1) or none.
func readingTable(list []reading, names map[ua.NodeID]string, times, longest int) *table {
	sameAttribute, sameNode := true, true
	for i := range list {
		sameAttribute = sameAttribute && list[i].attribute == list[0].attribute
		sameNode = sameNode && list[i].text == list[0].text
	}
	var t table
	row := func(node, attribute string, rest ...string) {
		var cells []string
		if !sameNode || sameAttribute {
			cells = append(cells, node)
		}
		if !sameAttribute {
			cells = append(cells, attribute)
		}
		t.add(append(cells, rest[:len(rest)-2+times]...)...)
	}
	row("NODE", "ATTRIBUTE", "VALUE", "TYPE", "STATUS", "SOURCE TIME", "SERVER TIME")
	for i := range list {
		r := &list[i]
		row(shorten(clean(r.text), longestCell), r.attribute.String(), shorten(r.valueText(names), longest), orDash(typeName(r.value.Value)),
			r.value.Status.String(), timeText(r.value.SourceTimestamp), timeText(r.value.ServerTimestamp))
	}
	return &t
}

func timeText(t ua.DateTime) string {
	if t.IsZero() {
		return "-"
	}
	return t.Time().Format("2006-01-02T15:04:05.0000000Z")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *app) statusText(s ua.StatusCode) string {
	switch {
	case s.IsBad():
		return a.paint(red, s.String())
	case s.IsUncertain():
		return a.paint(yellow, s.String())
	}
	return a.paint(green, s.String())
}
