package memspace

import (
	"fmt"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/nodeset"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// importedFrom is what is known of an information model that was imported.
type importedFrom struct {
	file  string
	model nodeset.Model
}

// checkVersions looks at the dates of required models: a model serves for those that want one published
// at the same time or earlier (Part 6, F.5). Versions are texts without an order. What is older is an
// error, or is listed as doubtful: most of the time what is needed is there.
func (im *importer) checkVersions(provider map[string]*nodesetFile) error {
	for _, f := range im.files {
		for i := range f.models {
			for j := range f.models[i].Required {
				if err := im.checkVersion(f, &f.models[i].Required[j], provider); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (im *importer) checkVersion(f *nodesetFile, want *nodeset.Model, provider map[string]*nodesetFile) error {
	have := im.modelOf(want.URI, provider)
	if want.PublicationDate.IsZero() || have.model.PublicationDate.IsZero() || have.model.PublicationDate >= want.PublicationDate {
		return nil
	}
	day := func(d ua.DateTime, version string) string {
		text := d.Time().UTC().Format(time.DateOnly)
		if version != "" {
			text += " (version " + version + ")"
		}
		return text
	}
	e := ImportError{File: f.Name, Model: want.URI, Err: fmt.Errorf("the nodeset needs the model %s of %s or later, and that of %s is of %s: take a later one",
		want.URI, day(want.PublicationDate, want.Version), have.file, day(have.model.PublicationDate, have.model.Version))}
	if !im.lenient {
		return &e
	}
	im.report.Doubtful = append(im.report.Doubtful, e)
	return nil
}

// modelOf is a model of a file, or of the Space.
func (im *importer) modelOf(uri string, provider map[string]*nodesetFile) importedFrom {
	if f := provider[uri]; f != nil {
		for _, m := range f.models {
			if m.URI == uri {
				return importedFrom{f.Name, m}
			}
		}
	}
	if uri != uaserver.NamespaceURI0 {
		return im.s.models[uri]
	}
	value := func(id uint32) ua.Variant { return im.s.zero(id).variable.Get() }
	published, _ := ua.As[ua.DateTime](value(uaid.OPCUANamespaceMetadata_NamespacePublicationDate))
	version, _ := ua.As[string](value(uaid.OPCUANamespaceMetadata_NamespaceVersion))
	return importedFrom{"the built-in namespace 0", nodeset.Model{Version: version, PublicationDate: published}}
}
