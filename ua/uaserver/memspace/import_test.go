package memspace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

const (
	plantFile    = "testdata/plant.xml"
	machinesFile = "testdata/machines.xml"
)

// Indexes of the namespaces of the two files, which come behind that of the Space.
const (
	machinesNS = 3
	plantNS    = 4
)

func imported(t testing.TB) *Space {
	t.Helper()
	s := newSpace(t)
	if _, err := s.ImportFiles(ImportOptions{}, plantFile, machinesFile); err != nil {
		t.Fatal(err)
	}
	return s
}

func inPlant(name string) ua.NodeID { return ua.NewStringNodeID(plantNS, name) }

func TestImport(t *testing.T) {
	s := newSpace(t)
	before := s.Len()
	report, err := s.ImportFiles(ImportOptions{}, plantFile, machinesFile)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "models", fmt.Sprint(report.Models), "[{testdata/machines.xml urn:example:machines 1.0.0} {testdata/plant.xml urn:example:plant 2.1.0}]")
	expect(t, "nodes", report.Nodes, s.Len()-before)
	expect(t, "skipped and doubtful", len(report.Skipped)+len(report.Doubtful), 0)
	expect(t, "namespaces", fmt.Sprint(s.NamespaceURIs()), "[http://opcfoundation.org/UA/ urn:actua:test urn:example:machines urn:example:plant]")

	press := inPlant("Press")
	expect(t, "display name", read(s, press, ua.AttributeDisplayName).Value.Any(), any(ua.LocalizedText{Locale: "de", Text: "Presse"}))
	expect(t, "notifier", read(s, press, ua.AttributeEventNotifier).Value.Uint(), 1)
	state := read(s, inPlant("Press.State"), ua.AttributeValue)
	expect(t, "state", state.Value.Int(), 1)
	expect(t, "sampling", read(s, inPlant("Press.State"), ua.AttributeMinimumSamplingInterval).Value.Float(), 100)
	expect(t, "write of a wrong type", write(s, inPlant("Press.State"), ua.Double(1)), ua.BadTypeMismatch)
	expect(t, "write", write(s, inPlant("Press.State"), ua.Int32(0)), ua.Good)
	expect(t, "subtype", s.IsSubtype(ua.NewNodeID(plantNS, 1), ua.NewNodeID(machinesNS, 1)), true)
	feeds := ua.NewNodeID(machinesNS, 3)
	expect(t, "inverse name", read(s, feeds, ua.AttributeInverseName).Value.Any(), any(ua.LocalizedText{Text: "FedBy"}))

	// References exist at both ends, whichever the file has them at.
	refs := browseAll(t, s, uaserver.BrowseItem{NodeID: inPlant("Oven"), Direction: ua.BrowseDirectionInverse, ReferenceType: feeds})
	expect(t, "inverse references", len(refs), 1)
	refs = browseAll(t, s, uaserver.BrowseItem{NodeID: press, ReferenceType: ua.ID(uaid.HasComponent)})
	expect(t, "components, one by its ParentNodeId", len(refs), 5)
	refs = browseAll(t, s, uaserver.BrowseItem{NodeID: s.Objects().ID(), ReferenceType: ua.ID(uaid.HasComponent)})
	expect(t, "below Objects", len(refs), 1)
	expect(t, "type that the file leaves out", s.Node(inPlant("Oven")).typeDef, s.known.baseObject)

	job, ok := s.Variable(inPlant("Press.Job")).Get().Structure().(*ua.DynamicStructure)
	if !ok {
		t.Fatalf("the job is %v", s.Variable(inPlant("Press.Job")).Get())
	}
	x, _ := job.Get("X")
	target, _ := job.Get("Target")
	note, _ := job.Get("Note")
	path, _ := job.Get("Path")
	expect(t, "field of the base type", x.Float(), 1.5)
	expect(t, "id in a structure", target.NodeID(), inPlant("Oven"))
	expect(t, "optional field", note.Type(), ua.TypeNull)
	expect(t, "array of structures", path.Len(), 1)

	def := read(s, ua.NewNodeID(plantNS, 10), ua.AttributeDataTypeDefinition).Value.Structure().(*ua.StructureDefinition)
	expect(t, "fields", len(def.Fields), 6)
	expect(t, "encoding", def.DefaultEncodingID, ua.NewNodeID(plantNS, 11))

	expect(t, "method without a function", call(s, press, inPlant("Press.Start")).StatusCode, ua.BadNotImplemented)
	if err := s.Node(inPlant("Press.Start")).HandleMethod(func(Call) ([]ua.Variant, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	expect(t, "argument", call(s, press, inPlant("Press.Start"), ua.Int32(1)).StatusCode, ua.BadInvalidArgument)
}

// What clients write is decoded by the descriptions of the nodeset, also when the server gives the
// namespaces other indexes.
func TestImportedStructuresAreDecoded(t *testing.T) {
	other := New("urn:other", "urn:example:more")
	first := New("urn:actua:test")
	if _, err := first.ImportFiles(ImportOptions{}, machinesFile, plantFile); err != nil {
		t.Fatal(err)
	}
	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{alone{other}, first}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	index, _ := first.index("urn:example:plant")
	if index == plantNS {
		t.Fatal("the indexes are the same as before")
	}
	v := first.Variable(ua.NewStringNodeID(index, "Press.Job"))
	job := v.Get()
	target, _ := job.Structure().(*ua.DynamicStructure).Get("Target")
	expect(t, "id in a structure", target.NodeID(), ua.NewStringNodeID(index, "Oven"))
	r := uabin.NewReader(job.AppendBinary(nil))
	r.Types = server.Types()
	var received ua.Variant
	received.DecodeBinary(r)
	if _, ok := received.Structure().(*ua.DynamicStructure); !ok {
		t.Fatalf("the server got %v", received)
	}
	expect(t, "write", write(first, v.ID(), received), ua.Good)
	_, err = first.Import(ImportOptions{}, source("late.xml", "urn:late", ""))
	wantImportError(t, err, "late.xml: the namespace urn:late is not one of the Space", "")
}

// alone is a Space without namespace 0.
type alone struct{ *Space }

func (a alone) NamespaceURIs() []string { return a.Space.NamespaceURIs()[1:] }

func (a alone) Attach(*uaserver.Server, []uint16) error { return nil }

// source is a file with one namespace and these nodes.
func source(name, uri, nodes string) NodeSetSource {
	return NodeSetSource{name, []byte(`<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>` + uri + `</Uri></NamespaceUris>
<Models><Model ModelUri="` + uri + `"><RequiredModel ModelUri="http://opcfoundation.org/UA/"/></Model></Models>
<Aliases><Alias Alias="HasComponent">i=47</Alias><Alias Alias="Part">HasComponent</Alias><Alias Alias="Speed">ns=1;s=Speed</Alias>
<Alias Alias="Number">Real</Alias><Alias Alias="Real">i=11</Alias><Alias Alias="Round">Trip</Alias><Alias Alias="Trip">Round</Alias></Aliases>
` + nodes + `</UANodeSet>`)}
}

func wantImportError(t *testing.T, err error, text, model string) {
	t.Helper()
	var e *ImportError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), text) || e.Model != model {
		t.Errorf("got %v, want %q about model %q", err, text, model)
	}
}

const inObjects = `<References><Reference ReferenceType="HasComponent" IsForward="false">i=85</Reference></References>`

func TestImportErrors(t *testing.T) {
	plant := NodeSetSource{"plant.xml", nil}
	plant.Data = append(plant.Data, fileOf(t, plantFile)...)
	for _, c := range []struct {
		want, model string
		files       []NodeSetSource
	}{
		{"plant.xml: the nodeset needs the model urn:example:machines, which none of the files has", "urn:example:machines", []NodeSetSource{plant}},
		{"b.xml: the model urn:a is in a.xml too", "urn:a", []NodeSetSource{source("a.xml", "urn:a", ""), source("b.xml", "urn:a", "")}},
		{"a.xml: line 1: the file is no NodeSet2: its XML does not begin with UANodeSet", "", []NodeSetSource{{"a.xml", []byte("<x/>")}}},
		{"a.xml: line 2: the file ends in the middle of an element", "", []NodeSetSource{{"a.xml", []byte("<UANodeSet>\n<UAObject>")}}},
		{"a.xml: line 2: this is no XML: ", "", []NodeSetSource{{"a.xml", []byte("<UANodeSet>\n<UAObject></UAVariable></UANodeSet>")}}},
		{"a.xml: there is no XML element in the file", "", []NodeSetSource{{"a.xml", []byte("listen:\n  - opc.tcp://:4840\n")}}},
		{"a.xml: line 7: node ns=1;i=1 (1:A): the node stands in line 6 already", "", []NodeSetSource{source("a.xml", "urn:a", "<UAObject NodeId=\"ns=1;i=1\" BrowseName=\"1:A\"/>\n<UAObject NodeId=\"ns=1;i=1\" BrowseName=\"1:A\"/>")}},
		{"a.xml: line 6: node i=4000000 (A): namespace 0 is built in", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObject NodeId="i=4000000" BrowseName="A"/>`)}},
		{"line 6: node ns=1;i=1 (1:A): the data type nsu=urn:a;i=5 is in none", "", []NodeSetSource{source("a.xml", "urn:a", `<UAVariable NodeId="ns=1;i=1" BrowseName="1:A" DataType="ns=1;i=5"/>`)}},
		{"the reference type i=85 is in none", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObject NodeId="ns=1;i=1" BrowseName="1:A"><References><Reference ReferenceType="i=85">i=85</Reference></References></UAObject>`)}},
		{"i=63 is no type for a node of class Object", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObject NodeId="ns=1;i=1" BrowseName="1:A"><References><Reference ReferenceType="i=40">i=63</Reference></References></UAObject>`)}},
		{"nsu=urn:a;i=1 has two type definitions", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObject NodeId="ns=1;i=1" BrowseName="1:A"><References><Reference ReferenceType="i=40">i=61</Reference><Reference ReferenceType="i=40">i=58</Reference></References></UAObject>`)}},
		{"HasSubtype from i=85 to nsu=urn:a;i=1", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObjectType NodeId="ns=1;i=1" BrowseName="1:A"><References><Reference ReferenceType="i=45" IsForward="false">i=85</Reference></References></UAObjectType>`)}},
		{"BadBrowseNameInvalid", "", []NodeSetSource{source("a.xml", "urn:a", `<UAObject NodeId="ns=1;i=1" BrowseName="1:"/>`)}},
	} {
		s := newSpace(t)
		before := s.Len()
		_, err := s.Import(ImportOptions{}, c.files...)
		wantImportError(t, err, c.want, c.model)
		expect(t, "nodes after an error", s.Len(), before)
		expect(t, "namespaces after an error", len(s.NamespaceURIs()), 2)
	}
	s := imported(t)
	_, err := s.ImportFiles(ImportOptions{}, machinesFile)
	wantImportError(t, err, "the model urn:example:machines was imported from testdata/machines.xml already", "urn:example:machines")
	_, err = s.ImportFiles(ImportOptions{}, "testdata/absent.xml")
	wantImportError(t, err, "testdata/absent.xml: the file cannot be read: ", "")
}

// Report V27: one bad node aborts everything, without a name; values of unknown structures, variables
// without values and references to nodes that are missing do harm.
func TestReportV27LenientImport(t *testing.T) {
	bad := source("bad.xml", "urn:bad", `
<UAVariable NodeId="ns=1;s=Speed" BrowseName="1:Speed" DataType="i=11">`+inObjects+`</UAVariable>
<UAVariable NodeId="ns=1;s=Own" BrowseName="1:Own" DataType="i=22">`+inObjects+`<Value><ExtensionObject><TypeId><Identifier>ns=1;i=99</Identifier></TypeId><Body><Own><A>1</A></Own></Body></ExtensionObject></Value></UAVariable>
<UAVariable NodeId="ns=1;s=Text" BrowseName="1:Text" DataType="i=6">`+inObjects+`<Value><Int32>seven</Int32></Value></UAVariable>
<UAObject NodeId="ns=1;s=Far" BrowseName="1:Far"><References><Reference ReferenceType="HasComponent" IsForward="false">i=85</Reference><Reference ReferenceType="i=35">i=4000000</Reference></References></UAObject>
<UAObject NodeId="ns=7;s=X" BrowseName="1:X"/>
<UAVariable NodeId="ns=1;s=Odd" BrowseName="1:Odd" DataType="ns=1;i=5">`+inObjects+`</UAVariable>
<UAObject NodeId="ns=1;s=Child" BrowseName="1:Child" ParentNodeId="ns=1;s=Odd"/>
<UAVariable NodeId="ns=1;s=List" BrowseName="1:List" DataType="i=6" ValueRank="1">`+inObjects+`<Value><Int32>7</Int32></Value></UAVariable>`)
	machines := NodeSetSource{"plant.xml", fileOf(t, plantFile)}
	s := newSpace(t)
	if _, err := s.Import(ImportOptions{}, bad); err == nil {
		t.Error("a strict import takes the file")
	}
	report, err := s.Import(ImportOptions{Lenient: true}, bad, machines, NodeSetSource{"broken.xml", []byte("<UANodeSet><UAObject")},
		source("Opc.Ua.NodeSet2.xml", uaserver.NamespaceURI0, ""))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range report.Skipped {
		lines = append(lines, report.Skipped[i].Error())
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"broken.xml: line 1: ",
		"Opc.Ua.NodeSet2.xml: the file is left out: namespace 0 is built in",
		"plant.xml: the nodeset needs the model urn:example:machines",
		"bad.xml: line 11: node ns=7;s=X (1:X): attribute NodeId: namespace index 7, but the file has 1 NamespaceUris",
		"bad.xml: line 12: node ns=1;s=Odd (1:Odd): the data type nsu=urn:bad;i=5 is in none of the nodesets",
		"bad.xml: line 13: node ns=1;s=Child (1:Child): its parent is left out",
		"bad.xml: line 10: node ns=1;s=Far (1:Far): the node i=4000000, to which a reference leads, is in none of the nodesets",
		"bad.xml: line 9: node ns=1;s=Text (1:Text): Int32: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not listed: %s", want)
		}
	}
	expect(t, "number of skipped parts", len(report.Skipped), 8)
	if len(report.Doubtful) != 1 || report.Doubtful[0].Line != 14 {
		t.Errorf("doubtful: %v", report.Doubtful)
	}
	expect(t, "nodes", report.Nodes, 5)
	at := func(name string) ua.DataValue { return read(s, ua.NewStringNodeID(3, name), ua.AttributeValue) }
	expect(t, "without a value", at("Speed").Status, ua.BadWaitingForInitialData)
	expect(t, "value that cannot be read", at("Text").Status, ua.BadWaitingForInitialData)
	own, _ := ua.As[ua.ExtensionObject](at("Own").Value)
	expect(t, "unknown structure", string(own.Body), "<Own><A>1</A></Own>")
	expect(t, "doubtful value", at("List").Value.Int(), 7)
}

// Report V29: aliases as target of a reference, as data type, in an Argument, of another alias, unknown
// and circular ones.
func TestReportV29Aliases(t *testing.T) {
	s := newSpace(t)
	const argument = `<Value><ListOfExtensionObject><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument><Name>X</Name><DataType><Identifier>Number</Identifier></DataType><ValueRank>-1</ValueRank></Argument></Body></ExtensionObject></ListOfExtensionObject></Value>`
	_, err := s.Import(ImportOptions{}, source("a.xml", "urn:a", `
<UAVariable NodeId="Speed" BrowseName="1:Speed" DataType="Number"><References><Reference ReferenceType="Part" IsForward="false">i=85</Reference></References></UAVariable>
<UAObject NodeId="ns=1;s=O" BrowseName="1:O">`+inObjects+`<References><Reference ReferenceType="Part">Speed</Reference></References></UAObject>
<UAVariable NodeId="ns=1;s=A" BrowseName="1:A" DataType="i=296" ValueRank="1" ParentNodeId="Speed">`+argument+`</UAVariable>
<UAVariable NodeId="ns=1;s=E" BrowseName="1:E" DataType="i=18" ParentNodeId="Speed"><Value><ExpandedNodeId><Identifier>Speed</Identifier></ExpandedNodeId></Value></UAVariable>`))
	if err != nil {
		t.Fatal(err)
	}
	speed := ua.NewStringNodeID(3, "Speed")
	expect(t, "data type", s.Variable(speed).DataType(), ua.ID(uaid.Double))
	expect(t, "parents", len(browseAll(t, s, uaserver.BrowseItem{NodeID: speed, Direction: ua.BrowseDirectionInverse, ReferenceType: ua.ID(uaid.HasComponent)})), 2)
	list, _ := ua.ArrayOf[ua.ExtensionObject](s.Variable(ua.NewStringNodeID(3, "A")).Get())
	expect(t, "argument", list[0].Value.(*ua.Argument).DataType, ua.ID(uaid.Double))
	expanded, _ := ua.As[ua.ExpandedNodeID](s.Variable(ua.NewStringNodeID(3, "E")).Get())
	expect(t, "expanded id", expanded.NodeID, speed)
	for nodes, want := range map[string]string{
		`<UAVariable NodeId="ns=1;s=V" BrowseName="1:V" DataType="Nonsense"/>`: `b.xml: line 6: node ns=1;s=V (1:V): attribute DataType: "Nonsense" is neither a NodeId nor an alias of the file`,
		`<UAVariable NodeId="ns=1;s=V" BrowseName="1:V" DataType="Round"/>`:    `attribute DataType: alias "Round" stands for itself`,
	} {
		_, err := s.Import(ImportOptions{}, source("b.xml", "urn:b", nodes))
		wantImportError(t, err, want, "")
	}
}

// A type that contains itself, or one that nobody has, keeps its values as they stand in the file.
func TestImportOfEndlessTypes(t *testing.T) {
	s := newSpace(t)
	dataType := func(id, field string) string {
		return `<UADataType NodeId="ns=1;i=` + id + `" BrowseName="1:T` + id + `"><References><Reference ReferenceType="i=45" IsForward="false">i=22</Reference><Reference ReferenceType="i=38">ns=1;i=` + id + `0</Reference></References><Definition Name="T">` + field + `</Definition></UADataType>
<UAObject NodeId="ns=1;i=` + id + `0" BrowseName="Default Binary"/>`
	}
	_, err := s.Import(ImportOptions{}, source("a.xml", "urn:a", dataType("1", `<Field Name="A" DataType="ns=1;i=2"/>`)+dataType("2", `<Field Name="A" DataType="ns=1;i=1"/>`)+
		dataType("3", `<Field Name="A" DataType="ns=1;i=3" ValueRank="1"/>`)+dataType("4", `<Field Name="A" DataType="ns=1;i=77"/>`)+dataType("5", `<Field Name="A" DataType="ns=1;i=4"/>`)))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uint32]bool{1: false, 2: false, 3: true, 4: false, 5: false} {
		expect(t, fmt.Sprintf("type %d is described", id), s.Node(ua.NewNodeID(3, id)).info().structure != nil, want)
	}
}

func TestExport(t *testing.T) {
	s := imported(t)
	for name, export := range map[string]func(*bytes.Buffer) error{
		"subtree": func(b *bytes.Buffer) error { return s.Export(b, s.zero(uaid.RootFolder)) },
		"models":  func(b *bytes.Buffer) error { return s.ExportModels(b, "urn:example:plant", "urn:example:machines") },
	} {
		var b bytes.Buffer
		if err := export(&b); err != nil {
			t.Fatal(err)
		}
		again := newSpace(t)
		if _, err := again.Import(ImportOptions{}, NodeSetSource{name, b.Bytes()}); err != nil {
			t.Fatal(err)
		}
		sameSpace(t, s, again)
	}
	// A part of one namespace: the other is required, the lost parent replaced.
	var b bytes.Buffer
	if err := s.Export(&b, s.Node(inPlant("Press.Job"))); err != nil {
		t.Fatal(err)
	}
	again := newSpace(t)
	_, err := again.Import(ImportOptions{}, NodeSetSource{"job.xml", b.Bytes()})
	wantImportError(t, err, "job.xml: the nodeset needs the model urn:example:machines", "urn:example:machines")
	if _, err := again.Import(ImportOptions{}, NodeSetSource{"job.xml", b.Bytes()}, NodeSetSource{"machines.xml", fileOf(t, machinesFile)}); err != nil {
		t.Fatal(err)
	}
	index, _ := again.index("urn:example:plant")
	if v := again.Variable(ua.NewStringNodeID(index, "Press.Job")); v == nil || v.Get().Structure() == nil {
		t.Error("the job or its type is missing")
	}
	expect(t, "the press", again.Node(ua.NewStringNodeID(index, "Press")), nil)
	expect(t, "below Objects", len(browseAll(t, again, uaserver.BrowseItem{NodeID: again.Objects().ID(), ReferenceType: ua.ID(uaid.Organizes)})),
		len(browseAll(t, s, uaserver.BrowseItem{NodeID: s.Objects().ID(), ReferenceType: ua.ID(uaid.Organizes)}))+1)

	s.AddVariable(s.Objects(), "Bell", ua.String("\a"))
	if err := s.Export(&b, s.Objects()); err == nil || !strings.Contains(err.Error(), "node ns=2;s=Bell (Bell): the text") {
		t.Errorf("text that XML cannot hold: %v", err)
	}
	if err := s.ExportModels(&b, "urn:absent"); !errors.Is(err, ua.BadNotFound) {
		t.Errorf("absent namespace: %v", err)
	}
}

// FuzzImport imports what it gets, leniently, and exports it again.
func FuzzImport(f *testing.F) {
	f.Add(fileOf(f, machinesFile))
	f.Add(fileOf(f, plantFile))
	f.Add(source("a.xml", "urn:a", `<UADataType NodeId="ns=1;i=1" BrowseName="1:T"><References><Reference ReferenceType="i=45" IsForward="false">i=22</Reference><Reference ReferenceType="i=38">i=85</Reference></References><Definition Name="T"><Field Name="A" DataType="ns=1;i=1"/></Definition></UADataType>`).Data)
	f.Add(source("a.xml", "urn:a", `<UAVariable NodeId="ns=1;i=1" BrowseName="1:V" ParentNodeId="ns=1;i=1" ValueRank="-2"><References><Reference ReferenceType="i=45">i=58</Reference></References><Value><ListOfVariant><Variant><Value><Int16>4</Int16></Value></Variant></ListOfVariant></Value></UAVariable>`).Data)
	machines := fileOf(f, machinesFile)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSpace(t)
		report, err := s.Import(ImportOptions{Lenient: true}, NodeSetSource{"fuzz.xml", data}, NodeSetSource{"machines.xml", machines})
		if err != nil || report.Nodes == 0 {
			return
		}
		var b bytes.Buffer
		if s.Export(&b, s.zero(uaid.RootFolder)) != nil {
			return // text that XML cannot hold
		}
		if _, err := newSpace(t).Import(ImportOptions{Lenient: true}, NodeSetSource{"again.xml", b.Bytes()}); err != nil {
			t.Errorf("the export does not load: %v", err)
		}
	})
}
