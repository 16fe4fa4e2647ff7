// Package ns0 holds the nodes of namespace 0, the OPC UA base information model (Part 5), in a form
// that a server loads in a few milliseconds.
package ns0

import (
	_ "embed"
	"encoding/binary"
	"math"

	"github.com/actua/actua/ua"
)

//go:embed ns0.bin
var blob []byte

// Node is a node of namespace 0. Namespace indexes are all 0, and so left out. Texts have no locale.
// All slices share memory with other nodes and are read only.
type Node struct {
	ID                      uint32
	Class                   ua.NodeClass
	BrowseName              string
	DisplayName             string
	Description             string                  // "" if there is none
	InverseName             string                  // of a reference type; "" if there is none
	WriteMask               uint32                  // ua.WriteMask
	RolePermissions         []ua.RolePermissionType // nil if the node has none of its own
	AccessRestrictions      uint16                  // ua.AccessRestrictionType
	HasAccessRestrictions   bool
	IsAbstract              bool // of types
	Symmetric               bool // of reference types
	ContainsNoLoops         bool // of views
	EventNotifier           uint8
	DataType                uint32 // of variables and variable types
	ValueRank               int32
	ArrayDimensions         []uint32
	AccessLevel             uint32  // ua.AccessLevelExType; for all users
	MinimumSamplingInterval float64 // ms
	Historizing             bool
	Executable              bool        // of methods
	UserExecutable          bool        // of methods
	Value                   []byte      // binary Variant; nil for null
	Definition              []byte      // DataTypeDefinition as a binary Variant; nil if there is none
	References              []Reference // in both directions
}

// Reference is a reference from the node that has it (Forward), or to it.
type Reference struct {
	Type, Target uint32
	Forward      bool
}

// The file ns0.bin is written by ua/internal/gen/ns0blob. Numbers are varints as in encoding/binary.
//
//	magic
//	strings: count, length of each, then all bytes
//	role permissions: number of sets, sum of their lengths; each set: length, then role and bits
//	nodes: count, number of all references, number of all array dimensions; then each node:
//	  distance of the id from the one before, class, flags, browse name, and what the flags say
//	  in the order of the flags, then the references: count, type and direction, distance of the target
const Magic = "actua ns0 1\n"

// The flags of a node in the file.
const (
	FlagDisplayName = 1 << iota // differs from the browse name
	FlagDescription
	FlagInverseName
	FlagWriteMask
	FlagRolePermissions
	FlagAccessRestrictions
	FlagEventNotifier
	FlagDataType // with the value rank as a signed number
	FlagArrayDimensions
	FlagAccessLevel
	FlagSamplingInterval // as 8 bytes
	FlagValue
	FlagDefinition
	// What follows has no data of its own.
	FlagIsAbstract
	FlagSymmetric
	FlagContainsNoLoops
	FlagHistorizing
	FlagExecutable
	FlagUserExecutable
)

// Load returns the nodes of namespace 0, sorted by ID. The result is new each time, and may be changed
// as far as it does not share memory (see Node).
func Load() []Node {
	d := decoder{b: blob[len(Magic):]}
	d.strings()
	d.rolePermissions()
	nodes := make([]Node, d.int())
	references := make([]Reference, d.int())
	dimensions := make([]uint32, d.int())
	var id uint32
	for i := range nodes {
		n := &nodes[i]
		id += d.uint32()
		n.ID, n.Class = id, ua.NodeClass(d.uint32())
		flags := d.uint32()
		n.BrowseName = d.str()
		n.DisplayName = n.BrowseName
		if flags&FlagDisplayName != 0 {
			n.DisplayName = d.str()
		}
		if flags&FlagDescription != 0 {
			n.Description = d.str()
		}
		if flags&FlagInverseName != 0 {
			n.InverseName = d.str()
		}
		if flags&FlagWriteMask != 0 {
			n.WriteMask = d.uint32()
		}
		if flags&FlagRolePermissions != 0 {
			n.RolePermissions = d.roles[d.int()]
		}
		if flags&FlagAccessRestrictions != 0 {
			n.AccessRestrictions, n.HasAccessRestrictions = uint16(d.uint32()), true
		}
		if flags&FlagEventNotifier != 0 {
			n.EventNotifier = uint8(d.uint32())
		}
		if flags&FlagDataType != 0 {
			n.DataType = d.uint32()
			n.ValueRank = int32(d.signed())
		}
		if flags&FlagArrayDimensions != 0 {
			count := d.int()
			n.ArrayDimensions, dimensions = dimensions[:count:count], dimensions[count:]
			for j := range n.ArrayDimensions {
				n.ArrayDimensions[j] = d.uint32()
			}
		}
		if flags&FlagAccessLevel != 0 {
			n.AccessLevel = d.uint32()
		}
		if flags&FlagSamplingInterval != 0 {
			n.MinimumSamplingInterval = math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))
		}
		if flags&FlagValue != 0 {
			n.Value = d.take(d.int())
		}
		if flags&FlagDefinition != 0 {
			n.Definition = d.take(d.int())
		}
		n.IsAbstract = flags&FlagIsAbstract != 0
		n.Symmetric = flags&FlagSymmetric != 0
		n.ContainsNoLoops = flags&FlagContainsNoLoops != 0
		n.Historizing = flags&FlagHistorizing != 0
		n.Executable = flags&FlagExecutable != 0
		n.UserExecutable = flags&FlagUserExecutable != 0
		count := d.int()
		n.References, references = references[:count:count], references[count:]
		for j := range n.References {
			t := d.uint32()
			n.References[j] = Reference{t >> 1, uint32(int64(id) + d.signed()), t&1 != 0}
		}
	}
	return nodes
}

// decoder reads the file. It is ours, and a test reads all of it, so nothing is checked: a file that
// is cut short panics.
type decoder struct {
	b     []byte
	table []string
	roles [][]ua.RolePermissionType
}

func (d *decoder) uint64() uint64 {
	if c := d.b[0]; c < 0x80 { // most numbers
		d.b = d.b[1:]
		return uint64(c)
	}
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 { return uint32(d.uint64()) }
func (d *decoder) int() int       { return int(d.uint64()) }

func (d *decoder) signed() int64 {
	v := d.uint64()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) take(n int) []byte {
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) str() string { return d.table[d.uint64()] }

// strings reads the table of strings, which are all parts of one.
func (d *decoder) strings() {
	lengths := make([]int, d.int())
	total := 0
	for i := range lengths {
		lengths[i] = d.int()
		total += lengths[i]
	}
	text := string(d.take(total))
	d.table = make([]string, len(lengths))
	for i, n := range lengths {
		d.table[i], text = text[:n], text[n:]
	}
}

func (d *decoder) rolePermissions() {
	d.roles = make([][]ua.RolePermissionType, d.int())
	all := make([]ua.RolePermissionType, d.int())
	for i := range d.roles {
		n := d.int()
		d.roles[i], all = all[:n:n], all[n:]
		for j := range d.roles[i] {
			d.roles[i][j] = ua.RolePermissionType{
				RoleID: ua.ID(d.uint32()), Permissions: ua.PermissionType(d.uint32()),
			}
		}
	}
}
