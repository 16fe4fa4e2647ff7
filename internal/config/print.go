package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// docs explain the keys; those of list items have [] in their path.
var docs = map[string]string{
	"listen":      "Addresses to listen on. Port 4840 when there is none; opc.tcp://:4840 listens on all addresses of the machine.",
	"advertise":   "Addresses that clients are told, such as opc.tcp://plant7:4840, where they differ from those of listen.",
	"pki":         "Folder of the server's certificates. Default: actua/pki/server in the user's configuration folder.",
	"stats":       "HOST:PORT of a page with figures of the process's memory and of what is published, as JSON over HTTP. Whoever reaches it may read it.",
	"application": "How the server presents itself.",

	"application.name": "The name that people see.",
	"application.uri":  "The URI of this installation and of namespace 1. It goes into the certificate when that is made, and has to be the one in it later. Default: urn:HOST:actua-server.",

	"security":                  "What is offered to whom.",
	"security.policies":         "Security policies. Leave None out to take secured connections only.",
	"security.modes":            "Offered with every policy but None: Sign, SignAndEncrypt.",
	"security.allow-deprecated": "Offer Basic256 and Basic128Rsa15 too, which are no longer safe.",
	"security.clients":          "Whose certificate is accepted: trusted, those in trusted/certs of the folder pki (refused ones are found in rejected/certs); any, everybody's, for tests only. Profiles demo and bench take any, a printed configuration does not.",

	"users":           "Who may log in.",
	"users.anonymous": "Whether a client may come without a user.",
	"users.accounts":  "Users.",

	"users.accounts[].name":         "The user's name.",
	"users.accounts[].password":     "The password. Who can read this file can read it.",
	"users.accounts[].password-env": "Instead of password: the environment variable that holds it.",

	"diagnostics": "Whether what sessions and subscriptions do is counted, and can be read under ServerDiagnostics. Certificates and names of users there are for logged-in users on encrypted connections.",
	"plant":       "Nodes that are built in: none; demo, a small plant that moves; bench, what a load generator drives.",
	"namespaces":  "URIs of the namespaces of the nodes below, from index 2 on. The first is that of the plant, and of variables that name none. Without any, nodes are in namespace 1.",
	"nodesets":    "NodeSet2 files to serve as well, in any order.",
	"lenient":     "Leave out what is wrong in nodesets, and list it on standard error.",
	"variables":   "Simulated variables.",

	"variables[].name":        "The browse name, behind the folders that it is in, which are made: Line1/Speed.",
	"variables[].id":          "The identifier, such as i=5 or s=Speed. Default: the name with dots, s=Line1.Speed.",
	"variables[].namespace":   "One of namespaces. Default: the first.",
	"variables[].kind":        "ramp: from min to max in a period, then again; sine: around the middle of min and max; random: between them; counter: one more each interval, from min to max and again; writable: what clients write.",
	"variables[].type":        "SByte, Byte, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float or Double; a writable one also Boolean or String.",
	"variables[].min":         "The lowest value. Clients cannot write a lower one.",
	"variables[].max":         "The highest value. Clients cannot write a higher one.",
	"variables[].period":      "How long a ramp or the wave of a sine takes.",
	"variables[].interval":    "How often the value changes.",
	"variables[].value":       "The first value of a writable variable. Default: min, false or the empty text.",
	"variables[].unit":        "The unit of measurement, such as °C.",
	"variables[].description": "A sentence for people.",

	"limits": "What clients can make the server do. 0 takes the default, none is no limit. Counts are per session, sizes in bytes.",

	"limits.max-sessions":                  "Sessions of the server.",
	"limits.max-channels":                  "Connections of the server.",
	"limits.min-session-timeout":           "The shortest time-out that a client's session gets.",
	"limits.max-session-timeout":           "The longest one.",
	"limits.activation-timeout":            "How long a session may stay without a login.",
	"limits.max-nodes-per-read":            "Items in a Read.",
	"limits.max-nodes-per-write":           "Items in a Write.",
	"limits.max-nodes-per-browse":          "Nodes in a Browse.",
	"limits.max-nodes-per-method-call":     "Methods in a Call.",
	"limits.max-nodes-per-register-nodes":  "Nodes in a RegisterNodes.",
	"limits.max-nodes-per-translate-paths": "Paths in a TranslateBrowsePathsToNodeIds.",
	"limits.max-references-per-node":       "References of a node that one Browse or BrowseNext returns.",
	"limits.max-browse-continuation-point": "Browses that wait for their BrowseNext.",
	"limits.max-pending-requests":          "Requests that wait for a callback.",
	"limits.max-handshakes":                "Logins of all clients that are worked on at a time. Default: 8 a processor, at least 128.",
	"limits.max-subscriptions":             "Subscriptions.",
	"limits.max-monitored-items":           "Monitored items of a subscription.",
	"limits.max-monitored-items-per-call":  "Monitored items in a call that creates, changes or deletes them, and subscriptions in one that names some.",
	"limits.max-publish-requests":          "Publish requests that wait. Of more the oldest is answered BadTooManyPublishRequests.",
	"limits.max-retransmission-queue":      "Messages of a subscription that are kept until they are acknowledged.",
	"limits.max-notifications-per-publish": "Notifications in a message.",
	"limits.max-data-queue":                "Values that wait in a monitored item.",
	"limits.max-event-queue":               "Events that wait in a monitored item.",
	"limits.min-publishing-interval":       "The shortest publishing interval that a subscription gets.",
	"limits.max-publishing-interval":       "The longest one.",
	"limits.min-sampling-interval":         "The shortest sampling interval of nodes that are read to see changes.",
	"limits.min-subscription-lifetime":     "How long a subscription without its client lives at least.",
	"limits.max-subscription-lifetime":     "How long at most.",
	"limits.max-durable-lifetime":          "How long a durable subscription without its client lives at most, in whole hours. Default: there are no durable ones.",
	"limits.max-message-size":              "A request or response.",
	"limits.max-buffer-size":               "A chunk of a message, at least 8192.",
	"limits.max-chunk-count":               "Chunks of a request. Default: as many small ones as max-message-size needs.",
	"limits.max-receive-memory":            "Unfinished requests of all clients.",
	"limits.max-string-length":             "A string.",
	"limits.max-byte-string":               "A byte string.",
	"limits.max-array-length":              "Elements of an array.",
	"limits.max-nesting":                   "Values inside values, at most 1000.",
	"limits.handshake-timeout":             "From the connection to the open channel.",
	"limits.idle-timeout":                  "Of a connection without any request.",
	"limits.min-token-lifetime":            "The shortest time until a client must renew its keys.",
	"limits.max-token-lifetime":            "The longest one.",
	"limits.max-login-failures":            "Wrong passwords of a user from one address that lock that pair out.",
	"limits.lockout-time":                  "For how long.",
}

// String is the whole configuration as a file that Parse takes, with every key explained. That of a
// profile accepts trusted clients only: any has to be written by hand.
func (c *Config) String() string {
	safe := *c
	if c.lines == nil {
		safe.Security.Clients = ClientsTrusted
	}
	p := &printer{}
	p.b.WriteString("# Configuration of actua serve --config FILE. Keys that are left out have the values of\n# actua serve --print-config --profile empty.\n")
	p.structure(reflect.ValueOf(safe), "", "")
	return p.b.String()
}

type printer struct{ b strings.Builder }

// width is where comments are broken.
const width = 100

func (p *printer) comment(indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width {
			p.b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	p.b.WriteString(line + "\n")
}

func (p *printer) structure(v reflect.Value, path, indent string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		key := keyOf(f.Name)
		at := join(path, key)
		if path == "" {
			p.b.WriteString("\n")
		}
		p.comment(indent, docs[at])
		switch x := v.Field(i); x.Kind() {
		case reflect.Struct:
			p.b.WriteString(indent + key + ":\n")
			p.structure(x, at, indent+"  ")
		case reflect.Slice:
			p.list(x, at, indent, key)
		default:
			p.b.WriteString(indent + key + ": " + scalar(x, at) + "\n")
		}
	}
}

// list prints a list. The keys of its items are explained once, above them.
func (p *printer) list(v reflect.Value, path, indent, key string) {
	item := v.Type().Elem()
	if item.Kind() == reflect.Struct {
		for _, k := range keys(item) {
			p.comment(indent, "  "+k+": "+docs[path+"[]."+k])
		}
	}
	if v.Len() == 0 {
		p.b.WriteString(indent + key + ": []\n")
		return
	}
	p.b.WriteString(indent + key + ":\n")
	for i := range v.Len() {
		x := v.Index(i)
		if item.Kind() != reflect.Struct {
			p.b.WriteString(indent + "  - " + scalar(x, path) + "\n")
			continue
		}
		lead := "  - "
		for j, k := range keys(item) {
			p.b.WriteString(indent + lead + k + ": " + scalar(x.Field(j), path) + "\n")
			lead = "    "
		}
	}
}

// scalar is a value as YAML.
func scalar(v reflect.Value, path string) string {
	switch x := v.Interface().(type) {
	case string:
		text, err := yaml.Marshal(x)
		if err != nil || strings.Count(string(text), "\n") > 1 {
			return fmt.Sprintf("%q", x)
		}
		return strings.TrimSuffix(string(text), "\n")
	case time.Duration:
		if x < 0 {
			return "none"
		}
		return short(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case int:
		if x < 0 && isLimit(path) {
			return "none"
		}
	}
	return fmt.Sprint(v.Interface())
}

// short is a duration without the parts that are 0: 1h rather than 1h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}
