package memspace

import "testing"

// Report V29: a name that is no alias of the file is named with its line and node wherever it stands: as
// type or target of a reference, as parent, in an Argument.
func TestUnknownAliases(t *testing.T) {
	s := newSpace(t)
	const argument = `<Value><ListOfExtensionObject><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument><Name>X</Name><DataType><Identifier>Nonsense</Identifier></DataType><ValueRank>-1</ValueRank></Argument></Body></ExtensionObject></ListOfExtensionObject></Value>`
	for name, nodes := range map[string]string{
		"reference type": `<UAObject NodeId="ns=1;s=O" BrowseName="1:O">` + inObjects + `<References><Reference ReferenceType="Nonsense">i=85</Reference></References></UAObject>`,
		"target":         `<UAObject NodeId="ns=1;s=O" BrowseName="1:O">` + inObjects + `<References><Reference ReferenceType="i=35">Nonsense</Reference></References></UAObject>`,
		"parent":         `<UAObject NodeId="ns=1;s=O" BrowseName="1:O" ParentNodeId="Nonsense"/>`,
		"argument":       `<UAVariable NodeId="ns=1;s=O" BrowseName="1:O" DataType="i=296" ValueRank="1">` + inObjects + argument + `</UAVariable>`,
	} {
		before := s.Len()
		_, err := s.Import(ImportOptions{}, source("b.xml", "urn:b", nodes))
		wantImportError(t, err, `b.xml: line 6: node ns=1;s=O (1:O): `, "")
		wantImportError(t, err, `"Nonsense" is neither a NodeId nor an alias of the file`, "")
		expect(t, name+": nodes", s.Len(), before)
	}
}
