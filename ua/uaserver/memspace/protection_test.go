package memspace

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/actua/actua/ua"
)

const protectedFile = `<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>urn:p</Uri><Uri>urn:roles</Uri></NamespaceUris>
<Models><Model ModelUri="urn:p" AccessRestrictions="4"><RolePermissions><RolePermission Permissions="1">ns=2;i=8</RolePermission></RolePermissions></Model></Models>
<UAObject NodeId="ns=1;i=1" BrowseName="1:A" AccessRestrictions="3"><DisplayName>A</DisplayName>
<References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References>
<RolePermissions><RolePermission Permissions="33">i=15644</RolePermission><RolePermission Permissions="4095">ns=2;i=7</RolePermission></RolePermissions></UAObject>
<UAObject NodeId="ns=1;i=2" BrowseName="1:B" AccessRestrictions="0"><DisplayName>B</DisplayName>
<References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References></UAObject>
<UAObject NodeId="ns=1;i=3" BrowseName="1:C"><DisplayName>C</DisplayName>
<References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References></UAObject></UANodeSet>`

// What a nodeset says about roles survives an export, with the namespaces of the server, and reads as not
// there, since it is not enforced.
func TestRolesSurviveAnExport(t *testing.T) {
	s := newSpace(t)
	if _, err := s.Import(ImportOptions{}, NodeSetSource{"p.xml", []byte(protectedFile)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Attach(nil, []uint16{0, 5, 9, 7}); err != nil { // own, urn:p, urn:roles
		t.Fatal(err)
	}
	a := s.Node(ua.NewNodeID(9, 1))
	if a == nil || a.more.protection == nil || a.more.protection.roles[1].RoleID != ua.NewNodeID(7, 7) {
		t.Fatalf("%+v", a)
	}
	for _, attribute := range []ua.AttributeID{ua.AttributeRolePermissions, ua.AttributeUserRolePermissions, ua.AttributeAccessRestrictions} {
		expect(t, attribute.String(), read(s, a.id, attribute).Status, ua.BadAttributeIdInvalid)
	}
	var b bytes.Buffer
	if err := s.ExportModels(&b, "urn:p"); err != nil {
		t.Fatal(err)
	}
	again := newSpace(t)
	if _, err := again.Import(ImportOptions{}, source("roles.xml", "urn:roles", "")); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Import(ImportOptions{}, NodeSetSource{"again.xml", b.Bytes()}); err != nil {
		t.Fatal(err, b.String())
	}
	of := func(s *Space, uri string, id uint32) *protection {
		i, _ := s.index(uri)
		return s.Node(ua.NewNodeID(i, id)).more.protection
	}
	roles, _ := again.index("urn:roles")
	want := []ua.RolePermissionType{{RoleID: ua.ID(15644), Permissions: 33}, {RoleID: ua.NewNodeID(roles, 7), Permissions: 4095}}
	if p := of(again, "urn:p", 1); p == nil || !slices.Equal(p.roles, want) || p.restrictions != 3 || !p.restricted {
		t.Errorf("%+v, want %+v", p, want)
	}
	if p := of(again, "urn:p", 2); p == nil || len(p.roles) > 0 || p.restrictions != 0 || !p.restricted {
		t.Errorf("%+v", p)
	}
	i, _ := again.index("urn:p")
	if n := again.Node(ua.NewNodeID(i, 3)); n.more != nil && n.more.protection != nil {
		t.Errorf("%+v", n.more.protection)
	}
	m := again.models["urn:p"].model
	if m.AccessRestrictions != 4 || len(m.RolePermissions) != 1 || m.RolePermissions[0].RoleID != ua.NewNodeID(roles, 8) {
		t.Errorf("%+v", m)
	}
	if !regexp.MustCompile(`(?s)<Model ModelUri="urn:p" AccessRestrictions="4">.*<RolePermissions>.*<RequiredModel`).MatchString(b.String()) {
		t.Error(b.String())
	}
}
