package uapki

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFile bounds what is read from one file; revocation lists of large
// authorities have a few megabytes.
const maxFile = 16 << 20

// folder reads the files of one folder and keeps what it parsed until a file
// changes. A check of a peer then costs a look at the folder and no parse.
type folder[T any] struct {
	path  string
	parse func([]byte) ([]T, error)
	files map[string]*parsed[T]
}

type parsed[T any] struct {
	size    int64
	changed time.Time
	values  []T
	err     error
}

type item[T any] struct {
	file  string
	value T
}

// load returns what the folder holds now, in the order of the file names. Files
// that cannot be parsed are passed over; problems names them.
func (f *folder[T]) load() ([]item[T], error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("uapki: %w", err)
	}
	files := make(map[string]*parsed[T], len(entries))
	var items []item[T]
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // temporary and lock files, and what mounts add
		}
		file := filepath.Join(f.path, e.Name())
		info, err := os.Stat(file) // not Lstat: mounted secrets are links
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		p := f.files[file]
		switch {
		case err != nil:
			p = &parsed[T]{err: fmt.Errorf("uapki: %w", err)}
		case p == nil || p.size != info.Size() || !p.changed.Equal(info.ModTime()):
			p = f.read(file, info)
		}
		files[file] = p
		for _, v := range p.values {
			items = append(items, item[T]{file, v})
		}
	}
	f.files = files
	return items, nil
}

func (f *folder[T]) read(file string, info fs.FileInfo) *parsed[T] {
	p := &parsed[T]{size: info.Size(), changed: info.ModTime()}
	if info.Size() > maxFile {
		p.err = fmt.Errorf("uapki: %s has %d bytes, at most %d are read", file, info.Size(), maxFile)
		return p
	}
	data, err := os.ReadFile(file)
	if err == nil {
		p.values, err = f.parse(data)
	}
	if err != nil {
		p.err = fmt.Errorf("uapki: %s cannot be used: %w", file, err)
	}
	return p
}

func (f *folder[T]) problems() []error {
	if _, err := f.load(); err != nil {
		return []error{err}
	}
	var all []error
	for _, p := range f.files {
		if p.err != nil {
			all = append(all, p.err)
		}
	}
	return all
}

// writeTemp writes data into a new file beside the one it will become. Its name begins with
// a dot, so no reader takes it for a certificate should the process die.
func writeTemp(file string, data []byte, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}

// replaceFile puts data at file in one step: readers see the old or the new.
func replaceFile(file string, data []byte, mode fs.FileMode) error {
	temp, err := writeTemp(file, data, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, file); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// createFile puts data at file in one step unless the file is there already,
// and reports whether it did. Of several processes one wins, and no one ever
// sees half a file: a hard link fails when its name is taken, which a rename
// does not.
func (s *Store) createFile(file string, data []byte, mode fs.FileMode) (bool, error) {
	temp, err := writeTemp(file, data, mode)
	if err != nil {
		return false, err
	}
	defer os.Remove(temp)
	err = s.link(temp, file)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	}
	return createLocked(file, temp)
}

const (
	lockPoll = 10 * time.Millisecond
	lockWait = 5 * time.Second
)

// createLocked is createFile for file systems without hard links.
func createLocked(file, temp string) (bool, error) {
	lock := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".lock")
	for waited := time.Duration(0); ; waited += lockPoll {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			f.Close()
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		if waited >= lockWait {
			return false, fmt.Errorf("%s is in the way: delete it if no other process is starting", lock)
		}
		time.Sleep(lockPoll)
	}
	defer os.Remove(lock)
	if _, err := os.Lstat(file); err == nil {
		return false, nil
	}
	return true, os.Rename(temp, file)
}
