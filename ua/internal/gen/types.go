package main

import "fmt"

// typeFiles makes enumerations, structures, descriptors and look-ups.
func typeFiles(in *inputs) ([]output, error) {
	m, err := buildModel(in)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	sources := []*source{enumSource(in, m)}
	for _, file := range []string{"service", "model", "pubsub"} {
		s := in.newSource("ua/structs_"+file+"_gen.go", "ua", typesFile, nodeSetFile, nodeIDsFile)
		s.line(`import "github.com/actua/actua/ua/uabin"`)
		for _, t := range m.structures {
			if t.file == file {
				t.write(s)
			}
		}
		sources = append(sources, s)
	}
	sources = append(sources, arraySource(in, m), infoSource(in, m), lookupSource(in, m))
	var files []output
	for _, s := range sources {
		f, err := s.file()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// check finds names that would be declared twice.
func (m *model) check() error {
	seen := map[string]string{}
	add := func(name, what string) error {
		if old, dup := seen[name]; dup {
			return fmt.Errorf("%s is the Go name of %s and of %s", name, old, what)
		}
		seen[name] = what
		return nil
	}
	for _, s := range m.structures {
		if err := add(s.goName, "structure "+s.name); err != nil {
			return err
		}
	}
	for _, e := range m.enums {
		if err := add(e.goName, "enumeration "+e.name); err != nil {
			return err
		}
		for _, v := range e.values {
			if err := add(e.goName+goName(v.name), "value "+v.name+" of "+e.name); err != nil {
				return err
			}
		}
	}
	return nil
}
