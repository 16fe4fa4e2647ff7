package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
)

func (a *app) browseCommand() *cobra.Command {
	f := &clientFlags{}
	var depth int
	var refs, class string
	cmd := &cobra.Command{
		Use:   "browse URL [NODE]",
		Short: "Show the tree of nodes",
		Example: "  actua browse localhost\n  actua browse localhost /Objects/Server --depth 1\n" +
			"  actua browse localhost --class Method --depth 5 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return exactly("URL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t := &tree{app: a, depth: depth, seen: map[ua.NodeID]bool{}, names: map[ua.NodeID]string{}}
			if !cmd.Flags().Changed("depth") {
				if t.depth = 3; a.json {
					t.depth = 1
				}
				t.fold = !a.json && !cmd.Flags().Changed("refs")
			}
			if t.depth < 1 {
				return usage("--depth %d: 1 or more is wanted", depth)
			}
			if err := t.setClasses(class); err != nil {
				return err
			}
			refType, err := t.setReferences(refs)
			if err != nil {
				return err
			}
			start := nodeRef{text: "i=85", id: ua.ID(uaid.ObjectsFolder).Expanded()}
			if len(args) == 2 {
				if start, err = parseNode(args[1]); err != nil {
					return err
				}
			}
			if t.client, err = a.dial(cmd.Context(), cmd, f, args[0]); err != nil {
				return err
			}
			defer a.hangUp()
			if a.outTerminal {
				return t.show(cmd.Context(), start, refType) // the tree itself shows how far it is
			}
			stop := a.progress(func() string { return fmt.Sprintf("%d nodes so far", t.shown.Load()) })
			defer stop()
			return t.show(cmd.Context(), start, refType)
		},
	}
	cmd.Flags().IntVar(&depth, "depth", 3, "levels to show (1 with --json)")
	cmd.Flags().StringVar(&refs, "refs", "hierarchical", "references to follow: hierarchical, all or the NODE of a reference type")
	cmd.Flags().StringVar(&class, "class", "", "only nodes of these classes, such as Variable,Method")
	f.register(cmd)
	return cmd
}

// tree prints nodes as they are found, level by level below each node.
type tree struct {
	*app
	client  *uaclient.Client
	depth   int
	options uaclient.BrowseOptions
	classes ua.NodeClass // to show; 0: all
	fold    bool         // an overview: leave out what is below Server, and most of long lists below the node
	seen    map[ua.NodeID]bool
	names   map[ua.NodeID]string // of reference types
	shown   atomic.Int64
}

var nodeClasses = []ua.NodeClass{
	ua.NodeClassObject, ua.NodeClassVariable, ua.NodeClassMethod, ua.NodeClassObjectType,
	ua.NodeClassVariableType, ua.NodeClassReferenceType, ua.NodeClassDataType, ua.NodeClassView,
}

func (t *tree) setClasses(text string) error {
	if text == "" {
		return nil
	}
	for _, name := range strings.Split(text, ",") {
		found := false
		var names []string
		for _, c := range nodeClasses {
			names = append(names, c.String())
			if strings.EqualFold(c.String(), strings.TrimSpace(name)) {
				t.classes |= c
				found = true
			}
		}
		if !found {
			return usage("--class %s is no node class%s", name, didYouMean(name, names))
		}
	}
	return nil
}

func (t *tree) setReferences(text string) (*nodeRef, error) {
	switch text {
	case "hierarchical":
		return nil, nil
	case "all":
		t.options.AllReferences = true
		return nil, nil
	}
	if !strings.ContainsAny(text, "=/") {
		return nil, usage("--refs %s is neither hierarchical, all nor the NODE of a reference type, such as i=47%s", text, didYouMeanReference(text))
	}
	n, err := parseNode(text)
	return &n, err
}

// didYouMeanReference is a hint to the kinds of references that --refs names, or to the NODE of a standard
// reference type whose name was given.
func didYouMeanReference(text string) string {
	nodes := map[string]uint32{
		"HasComponent": uaid.HasComponent, "HasProperty": uaid.HasProperty, "Organizes": uaid.Organizes, "HasSubtype": uaid.HasSubtype,
		"HasTypeDefinition": uaid.HasTypeDefinition, "HasNotifier": uaid.HasNotifier, "HasEventSource": uaid.HasEventSource,
		"References": uaid.References, "HasEncoding": uaid.HasEncoding, "HasInterface": uaid.HasInterface,
	}
	for name, id := range nodes {
		if strings.EqualFold(name, text) {
			return fmt.Sprintf("; did you mean i=%d?", id)
		}
	}
	if hint := didYouMean(text, []string{"hierarchical", "all"}); strings.Contains(hint, "mean") {
		return hint
	}
	return ""
}

func (t *tree) show(ctx context.Context, start nodeRef, refType *nodeRef) error {
	root, err := start.find(ctx, t.client)
	if err != nil {
		return err
	}
	if refType != nil {
		if t.options.ReferenceType, err = refType.find(ctx, t.client); err != nil {
			return err
		}
	}
	if !t.json {
		name, err := t.client.ReadAttribute(ctx, root, ua.AttributeDisplayName)
		if err != nil {
			return err
		}
		if err := t.printf("%s  %s\n", t.paint(bold, clean(name.Value.Str())), t.paint(dim, root.String())); err != nil {
			return err
		}
	}
	t.seen[root] = true
	if err := t.below(ctx, root, 1, ""); err != nil {
		return err
	}
	if t.shown.Load() == 0 && !t.json {
		return t.printf("└─ %s\n", t.paint(dim, "no such references"))
	}
	return nil
}

// below shows the references of a node and what is below them.
func (t *tree) below(ctx context.Context, node ua.NodeID, depth int, indent string) error {
	found, err := t.client.BrowseAll(ctx, []ua.NodeID{node}, t.options)
	if err != nil {
		return err
	}
	if status := found[0].Status; status.IsBad() {
		if depth > 1 { // the rest of the tree is worth seeing
			t.bad = true
			if t.json {
				fmt.Fprintf(t.err, "%v: %v\n", node, status)
				return nil
			}
			return t.printf("%s└─ %s\n", indent, t.statusText(status))
		}
		return &uaclient.Error{Step: uaclient.StepService, Op: "Browse", Node: node.String(), Err: status}
	}
	refs := t.filter(found[0].References, depth)
	if !t.json {
		refs = oncePerNode(refs, t.options.AllReferences)
		slices.SortStableFunc(refs, ownFirst)
	}
	left := 0
	if t.fold && depth > 1 && len(refs) > longList {
		left = len(refs) - shownOfLong
		refs = refs[:shownOfLong]
	}
	values := t.values(ctx, refs)
	if err := ctx.Err(); err != nil {
		return err // values that are missing for that reason are not shown as missing
	}
	for i := range refs {
		ref := &refs[i]
		branch, more := "├─ ", "│  "
		if i == len(refs)-1 && left == 0 {
			branch, more = "└─ ", "   "
		}
		local := ref.NodeID.IsLocal()
		again := local && t.seen[ref.NodeID.NodeID]
		if err := t.row(ctx, node, ref, depth, indent+branch, values[i], again); err != nil {
			return err
		}
		if !local || again {
			continue
		}
		t.seen[ref.NodeID.NodeID] = true
		if depth < t.depth && !t.folds(ref.NodeID.NodeID) {
			if err := t.below(ctx, ref.NodeID.NodeID, depth+1, indent+more); err != nil {
				return err
			}
		}
	}
	if left > 0 {
		return t.printf("%s\n", t.paint(dim, fmt.Sprintf("%s└─ … %d more: browse %v, or give --depth", indent, left, node)))
	}
	return nil
}

// Of a list longer than longList an overview shows only the first few.
const (
	longList    = 20
	shownOfLong = 8
)

// folds reports whether what is below a node is left out unless it is asked for: the hundreds of nodes
// below Server are in every server, and bury those that make it another.
func (t *tree) folds(node ua.NodeID) bool {
	return t.fold && node == ua.ID(uaid.Server)
}

// oncePerNode drops further references to a node that has one already. With all kinds of references
// each of them is of interest.
func oncePerNode(refs []ua.ReferenceDescription, all bool) []ua.ReferenceDescription {
	seen := map[ua.ExpandedNodeID]bool{}
	return slices.DeleteFunc(refs, func(r ua.ReferenceDescription) bool {
		again := seen[r.NodeID] && !all
		seen[r.NodeID] = true
		return again
	})
}

// ownFirst puts the nodes of applications before those that every server has.
func ownFirst(a, b ua.ReferenceDescription) int {
	return standard(&a) - standard(&b)
}

func standard(r *ua.ReferenceDescription) int {
	if r.NodeID.IsLocal() && r.NodeID.NodeID.Namespace() == 0 {
		return 1
	}
	return 0
}

// filter drops nodes of other classes than those wanted. While there are levels below, objects stay: the
// way to the others leads through them.
func (t *tree) filter(refs []ua.ReferenceDescription, depth int) []ua.ReferenceDescription {
	if t.classes == 0 {
		return refs
	}
	wanted := t.classes
	if depth < t.depth {
		wanted |= ua.NodeClassObject
	}
	var kept []ua.ReferenceDescription
	for _, r := range refs {
		if wanted&r.NodeClass != 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// values reads the variables of a level for people; a failure only leaves them out.
func (t *tree) values(ctx context.Context, refs []ua.ReferenceDescription) []string {
	texts := make([]string, len(refs))
	if t.json {
		return texts
	}
	var items []ua.ReadValueID
	var at []int
	for i := range refs {
		if refs[i].NodeClass == ua.NodeClassVariable && refs[i].NodeID.IsLocal() {
			items = append(items, ua.ReadValueID{NodeID: refs[i].NodeID.NodeID, AttributeID: uint32(ua.AttributeValue)})
			at = append(at, i)
		}
	}
	values, err := readKnown(ctx, t.client, items)
	if err != nil {
		return texts
	}
	list := make([]reading, len(at))
	for k := range at {
		list[k] = reading{node: items[k].NodeID, attribute: ua.AttributeValue, value: values[k]}
	}
	names := enumNames(ctx, t.client, list)
	for k, i := range at {
		if v := &values[k]; v.Status.IsBad() {
			texts[i] = v.Status.String()
		} else {
			texts[i] = shorten(rounded(v.Value, list[k].valueText(names)), 48)
		}
	}
	return texts
}

// rounded shows a Float or Double with six digits, which is enough to look at.
func rounded(v ua.Variant, text string) string {
	if t := v.Type(); !v.IsArray() && (t == ua.TypeDouble || t == ua.TypeFloat) {
		return strconv.FormatFloat(v.Float(), 'g', 6, 64)
	}
	return text
}

// classTags are the short forms of node classes in the tree.
var classTags = map[ua.NodeClass]string{
	ua.NodeClassObject: "obj", ua.NodeClassVariable: "var", ua.NodeClassMethod: "fn ", ua.NodeClassView: "view",
	ua.NodeClassObjectType: "objtype", ua.NodeClassVariableType: "vartype",
	ua.NodeClassReferenceType: "reftype", ua.NodeClassDataType: "datatype",
}

var classColors = map[ua.NodeClass]string{ua.NodeClassVariable: cyan, ua.NodeClassMethod: yellow}

func (t *tree) row(ctx context.Context, parent ua.NodeID, ref *ua.ReferenceDescription, depth int, indent, value string, again bool) error {
	if t.json {
		if t.classes != 0 && t.classes&ref.NodeClass == 0 {
			return nil
		}
		t.shown.Add(1)
		return t.print(new(line).set("node", ref.NodeID.String()).set("browseName", ref.BrowseName.String()).
			set("displayName", ref.DisplayName.Text).set("class", ref.NodeClass.String()).
			text("type", expandedText(ref.TypeDefinition)).set("parent", parent.String()).
			set("reference", ref.ReferenceTypeID.String()).set("depth", depth))
	}
	t.shown.Add(1)
	color := classColors[ref.NodeClass]
	text := t.paint(dim, indent+classTags[ref.NodeClass]) + " "
	name := clean(ref.DisplayName.Text)
	if name == "" {
		name = clean(ref.BrowseName.String())
	}
	if color != "" {
		name = t.paint(color, name)
	}
	text += name
	if value != "" && t.width > 0 { // cut it to what fits on the line, or leave it out
		others := indent + classTags[ref.NodeClass] + clean(ref.DisplayName.Text) + clean(ref.NodeID.String()) + "  =   "
		if rest := t.width - utf8.RuneCountInString(others); rest > 0 {
			value = shorten(value, rest)
		} else {
			value = ""
		}
	}
	if value != "" {
		text += " = " + value
	}
	text += "  " + t.paint(dim, clean(ref.NodeID.String()))
	if t.options.AllReferences {
		text += "  " + t.paint(dim, "by "+t.referenceName(ctx, ref))
	}
	if again {
		text += "  " + t.paint(dim, "(shown above)")
	} else if depth < t.depth && ref.NodeID.IsLocal() && t.folds(ref.NodeID.NodeID) {
		text += "  " + t.paint(dim, "(much the same in every server: /Objects/Server or --depth shows it)")
	}
	return t.printf("%s\n", text)
}

// referenceName is the name of a reference, as it reads in its direction.
func (t *tree) referenceName(ctx context.Context, ref *ua.ReferenceDescription) string {
	id := ref.ReferenceTypeID
	if name, ok := t.names[id]; ok {
		return name
	}
	name := id.String()
	if v, err := t.client.ReadAttribute(ctx, id, ua.AttributeDisplayName); err == nil && v.Value.Str() != "" {
		name = clean(v.Value.Str())
	}
	t.names[id] = name
	return name
}

func expandedText(id ua.ExpandedNodeID) string {
	if id.IsNull() {
		return ""
	}
	return id.String()
}
