package memspace

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/nodeset"
	"github.com/actua/actua/ua/uaserver"
)

// NodeSetSource is a file in the UANodeSet format (Part 6, Annex F).
type NodeSetSource struct {
	Name string // of the file, for messages
	Data []byte
}

// ImportOptions say how strict an import is.
type ImportOptions struct {
	// Lenient leaves out what is wrong and lists it in ImportReport.Skipped: a value, a reference, a
	// node with its children, or a file. Without it the first thing that is wrong is the error of the
	// import, and the Space stays as it was.
	Lenient bool
}

// ImportReport tells what an import added and what it left out.
type ImportReport struct {
	Models     []ImportedModel // in the order of their dependencies
	Nodes      int
	References int
	Skipped    []ImportError // what was left out
	Doubtful   []ImportError // taken over as they stand: values that do not fit their variable, files that need a later model
}

// ImportedModel is an information model of a file (Part 6, F.5).
type ImportedModel struct {
	File, URI, Version string
}

// ImportError says what is wrong with a nodeset, and where.
type ImportError struct {
	File  string
	Line  int    // 0 when it is about the whole file
	Node  string // NodeId and browse name as the file has them; "" when it is about no node
	Model string // URI of the information model that is missing or there twice; else ""
	Err   error
}

// Error is the file, the line, the node and what is wrong with it.
func (e *ImportError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(": line %d", e.Line)
	}
	if e.Node != "" {
		text += ": node " + e.Node
	}
	return text + ": " + e.Err.Error()
}

// Unwrap is what is wrong.
func (e *ImportError) Unwrap() error { return e.Err }

// ImportFiles reads files and imports them; see Import. A file that cannot be read is an ImportError.
func (s *Space) ImportFiles(options ImportOptions, paths ...string) (*ImportReport, error) {
	im := s.newImporter(options)
	var sources []NodeSetSource
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			var where *os.PathError
			if errors.As(err, &where) {
				err = where.Err
			}
			if err := im.problem(ImportError{File: path, Err: fmt.Errorf("the file cannot be read: %w", err)}); err != nil {
				return nil, err
			}
			continue
		}
		sources = append(sources, NodeSetSource{path, data})
	}
	return im.run(sources)
}

// Import adds the nodes of nodesets with their references and values (Part 6, Annex F). The files may
// come in any order and refer to each other; what they require has to be among them, or in the Space.
// Namespaces that the Space does not have yet are added behind the others, which is possible only until
// the Space is attached to a server. Structures are described by the DataTypeDefinitions of the files:
// their values are ua.DynamicStructures, and the server decodes those that clients write.
//
// A file that holds namespace 0 is left out, since every Space has that; the report lists it. Variables
// without a value in the file have none yet (BadWaitingForInitialData), methods have no function until
// Node.HandleMethod gives them one. Of texts in several languages the first is taken. Role permissions
// and access restrictions are kept for exports, and not enforced: see Allow.
//
// Errors are of type *ImportError.
func (s *Space) Import(options ImportOptions, sources ...NodeSetSource) (*ImportReport, error) {
	im := s.newImporter(options)
	return im.run(sources)
}

// importer is one import. Nothing of it is visible before commit.
type importer struct {
	s       *Space
	lenient bool
	report  *ImportReport
	files   []*nodesetFile
	uris    []string // new namespaces, with the indexes from first on
	first   uint16
	nodes   map[ua.NodeID]*newNode
	order   []*newNode
	skipped map[ua.NodeID]bool // nodes that were left out
	links   []newLink
	encodes map[ua.NodeID]*Node // data types by their encodings
	infos   map[*Node]*ua.StructureInfo
	coded   map[ua.NodeID]*ua.StructureInfo // by data type and encodings
	table   *ua.TypeTable
	models  map[string]nodeset.Model // those in the report
}

func (s *Space) newImporter(options ImportOptions) *importer {
	return &importer{
		s: s, lenient: options.Lenient, report: new(ImportReport),
		nodes: map[ua.NodeID]*newNode{}, skipped: map[ua.NodeID]bool{}, encodes: map[ua.NodeID]*Node{},
		infos: map[*Node]*ua.StructureInfo{}, coded: map[ua.NodeID]*ua.StructureInfo{}, table: new(ua.TypeTable),
		models: map[string]nodeset.Model{},
	}
}

type nodesetFile struct {
	NodeSetSource
	header, set *nodeset.Set
	models      []nodeset.Model
}

// newNode is a node on its way into the Space.
type newNode struct {
	*Node
	src      *nodeset.Node
	file     *nodesetFile
	def      ua.Structure
	defining bool // its definition is being made
}

type newLink struct {
	a, kind, b *Node
}

func (im *importer) run(sources []NodeSetSource) (*ImportReport, error) {
	if err := im.headers(sources); err != nil {
		return nil, err
	}
	types, err := im.locked()
	if err != nil {
		return nil, err
	}
	if server := im.s.server.Load(); server != nil {
		for _, f := range types {
			server.Types().Register(f)
		}
	}
	return im.report, nil
}

// locked runs build with Space.mu held. The functions that make the user's structures are called before
// that.
func (im *importer) locked() ([]func() ua.Structure, error) {
	s := im.s
	for known := 0; ; {
		s.mu.Lock()
		rest := s.types[known:len(s.types):len(s.types)]
		if len(rest) == 0 {
			defer s.unlock()
			return im.build()
		}
		s.mu.Unlock()
		for _, f := range rest {
			im.table.Register(f)
		}
		known += len(rest)
	}
}

// build makes the nodes and adds them. Space.mu is held: readers do not need it.
func (im *importer) build() ([]func() ua.Structure, error) {
	for _, step := range []func() error{im.chooseFiles, im.assignIndexes, im.parse, im.create, im.connect, im.describeTypes, im.fill} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return im.commit()
}

// problem ends the import, or notes what is left out.
func (im *importer) problem(e ImportError) error {
	if !im.lenient {
		return &e
	}
	im.report.Skipped = append(im.report.Skipped, e)
	return nil
}

// headers reads namespaces and models of all files.
func (im *importer) headers(sources []NodeSetSource) error {
	for _, src := range sources {
		header, err := nodeset.ParseHeader(src.Data)
		if err != nil {
			if err := im.problem(located(src.Name, err)); err != nil {
				return err
			}
			continue
		}
		f := &nodesetFile{NodeSetSource: src, header: header, models: header.Models}
		if len(f.models) == 0 && len(header.NamespaceURIs) > 0 {
			f.models = []nodeset.Model{{URI: header.NamespaceURIs[0]}} // as old files mean it
		}
		if len(f.models) > 0 && f.models[0].URI == uaserver.NamespaceURI0 {
			im.report.Skipped = append(im.report.Skipped, ImportError{
				File: src.Name, Model: uaserver.NamespaceURI0, Err: errors.New("the file is left out: namespace 0 is built in"),
			})
			continue
		}
		im.files = append(im.files, f)
	}
	return nil
}

// located is an error of package nodeset with the file.
func located(file string, err error) ImportError {
	var e *nodeset.Error
	if errors.As(err, &e) {
		return ImportError{File: file, Line: e.Line, Node: e.Node, Err: e.Err}
	}
	return ImportError{File: file, Err: err}
}

// chooseFiles leaves out files whose models are there already or need others that are not, and sorts
// the rest: files come behind those that they require.
func (im *importer) chooseFiles() error {
	provider := map[string]*nodesetFile{}
	kept := im.files[:0]
	for _, f := range im.files {
		var wrong *ImportError
		for i := range f.models {
			uri := f.models[i].URI
			if other := provider[uri]; other != nil {
				wrong = &ImportError{File: f.Name, Model: uri, Err: fmt.Errorf("the model %s is in %s too: give only one of the files", uri, other.Name)}
			} else if file := im.s.models[uri].file; file != "" {
				wrong = &ImportError{File: f.Name, Model: uri, Err: fmt.Errorf("the model %s was imported from %s already", uri, file)}
			}
		}
		if wrong != nil {
			if err := im.problem(*wrong); err != nil {
				return err
			}
			continue
		}
		for i := range f.models {
			provider[f.models[i].URI] = f
		}
		kept = append(kept, f)
	}
	im.files = kept
	for again := true; again; {
		again = false
		kept := im.files[:0]
		for _, f := range im.files {
			uri := im.missing(f, provider)
			if uri == "" {
				kept = append(kept, f)
				continue
			}
			if err := im.problem(ImportError{File: f.Name, Model: uri, Err: fmt.Errorf("the nodeset needs the model %s, which none of the files has: add the file that has it", uri)}); err != nil {
				return err
			}
			for i := range f.models {
				delete(provider, f.models[i].URI)
			}
			again = true
		}
		im.files = kept
	}
	if err := im.checkVersions(provider); err != nil {
		return err
	}
	var sorted []*nodesetFile
	var visit func(f *nodesetFile)
	seen := map[*nodesetFile]bool{nil: true}
	visit = func(f *nodesetFile) {
		if seen[f] {
			return
		}
		seen[f] = true
		for i := range f.models {
			for _, r := range f.models[i].Required {
				visit(provider[r.URI])
			}
		}
		for _, uri := range f.header.NamespaceURIs {
			if len(f.header.Models) == 0 {
				visit(provider[uri])
			}
		}
		sorted = append(sorted, f)
	}
	for _, f := range im.files {
		visit(f)
	}
	im.files = sorted
	return nil
}

// missing is the URI of a required model that is neither in a file nor in the Space.
func (im *importer) missing(f *nodesetFile, provider map[string]*nodesetFile) string {
	for i := range f.models {
		for _, r := range f.models[i].Required {
			if _, ok := im.s.index(r.URI); !ok && provider[r.URI] == nil {
				return r.URI
			}
		}
	}
	return ""
}

// assignIndexes gives the namespaces that are new the indexes behind the others.
func (im *importer) assignIndexes() error {
	im.first = firstIndex
	for _, i := range *im.s.indexes.Load() {
		im.first = max(im.first, i+1)
	}
	for _, f := range im.files {
		var uris []string
		for i := range f.models {
			uris = append(uris, f.models[i].URI)
		}
		for _, uri := range append(uris, f.header.NamespaceURIs...) {
			if _, ok := im.index(uri); ok {
				continue
			}
			switch {
			case uri == "":
				return &ImportError{File: f.Name, Err: errors.New("a namespace or model without a URI")}
			case im.s.server.Load() != nil:
				return &ImportError{File: f.Name, Err: fmt.Errorf("the namespace %s is not one of the Space, and a server is attached to it: import before that: %w", uri, ua.BadInvalidState)}
			case int(im.first)+len(im.uris) > 1<<16-1:
				return &ImportError{File: f.Name, Err: errors.New("more than 65,535 namespaces")}
			}
			im.uris = append(im.uris, uri)
		}
	}
	return nil
}

// index is the index of a namespace of the Space, new ones included.
func (im *importer) index(uri string) (uint16, bool) {
	if i, ok := im.s.index(uri); ok {
		return i, true
	}
	i := slices.Index(im.uris, uri)
	return im.first + uint16(max(i, 0)), i >= 0
}

// uri is the namespace with an index; "" for namespace 0 and those that are not of the Space.
func (im *importer) uri(index uint16) string {
	if i := slices.Index(*im.s.indexes.Load(), index); i >= 0 {
		return (*im.s.uris.Load())[i]
	}
	if i := int(index) - int(im.first); i >= 0 && i < len(im.uris) {
		return im.uris[i]
	}
	return ""
}

// parse reads the files whole, but for the values.
func (im *importer) parse() error {
	kept := im.files[:0]
	for _, f := range im.files {
		options := nodeset.Options{
			LaterValues: true, Structure: im.structure, Types: im.table,
			Index: func(uri string) (uint16, error) {
				i, ok := im.index(uri)
				if !ok {
					return 0, fmt.Errorf("no namespace %q", uri)
				}
				return i, nil
			},
		}
		if im.lenient {
			options.Skip = func(e *nodeset.Error) {
				im.report.Skipped = append(im.report.Skipped, located(f.Name, e))
			}
		}
		var err error
		if f.set, err = nodeset.Parse(f.Data, options); err != nil {
			if err := im.problem(located(f.Name, err)); err != nil {
				return err
			}
			continue
		}
		kept = append(kept, f)
		if len(f.set.Models) > 0 {
			f.models = f.set.Models // ids have the indexes of the Space there
		}
		for i := range f.models {
			im.models[f.models[i].URI] = f.models[i]
			im.report.Models = append(im.report.Models, ImportedModel{f.Name, f.models[i].URI, f.models[i].Version})
		}
	}
	im.files = kept
	return nil
}
