package main

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{
	"Id": "ID", "Ids": "IDs", "Uri": "URI", "Uris": "URIs", "Url": "URL", "Urls": "URLs",
	"Guid": "GUID", "Xml": "XML", "Json": "JSON",
}

// goName turns a name of the standard into one of Go: NodeId becomes NodeID.
func goName(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		// A word is a capital and the lower case letters behind it.
		end := 1
		for end < len(name) && unicode.IsLower(rune(name[end])) {
			end++
		}
		if w, ok := initialisms[name[:end]]; ok {
			b.WriteString(w)
		} else {
			b.WriteString(name[:end])
		}
		name = name[end:]
	}
	return b.String()
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
