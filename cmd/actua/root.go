package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/actua/actua/ua"
)

// later are commands whose names are taken, but that do not exist yet.
var later = []string{"dump", "gen", "trace", "ab"}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "actua",
		Short:   "OPC UA server and client",
		Version: version(),
		Long: `actua serves, browses, reads, writes, calls and watches OPC UA nodes.

Try it:

  actua serve                                  a small plant that moves, on port 4840
  actua browse localhost                       the tree below Objects
  actua read localhost i=2258                  the server's time
  actua watch localhost i=2258                 every change of it

URL is opc.tcp://HOST:PORT; opc.tcp:// and port 4840 may be left out.
NODE is a NodeId (i=2258, ns=2;s=Pump.Speed, nsu=http://...;s=...) or a browse
path (/Objects/Server/ServerStatus).`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetVersionTemplate("actua {{.Version}}\n")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "one JSON object a line on standard output")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.serveCommand(), a.endpointsCommand(), a.browseCommand(), a.readCommand(),
		a.writeCommand(), a.callCommand(), a.watchCommand(), a.connectCommand(), a.certCommand(), a.benchCommand(), a.actorsCommand())
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

// version is that of the module, and of Go.
func version() string {
	text := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		text = info.Main.Version
	}
	return text + " " + runtime.Version()
}

func unknownCommand(root *cobra.Command, name string) error {
	if slices.Contains(later, name) {
		return usage("command %q comes with a later version of actua", name)
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return usage("there is no command %q%s", name, didYouMean(name, names))
}

var (
	unknownFlag  = regexp.MustCompile(`^unknown flag: (--[^ ]*)|^unknown shorthand flag: '.' in (-.*)$`)
	invalidValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-., )?(--[^"]*)" flag: (?s:(.*))$`)
)

// flagError makes one sentence of what the flag parser says, with the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		if m[2] != "" && slices.Contains([]string{"write", "call", "tell", "ask"}, cmd.Name()) {
			return usage("there is no flag %s; a value that begins with a minus goes behind two dashes: -- %[1]s", m[2])
		}
		return usage("there is no flag %s%s", m[1]+m[2], didYouMean(m[1]+m[2], names))
	}
	if m := invalidValue.FindStringSubmatch(err.Error()); m != nil {
		why := m[3]
		if strings.HasPrefix(why, "strconv.") || strings.HasPrefix(why, "time:") {
			if f := cmd.Flags().Lookup(strings.TrimPrefix(m[2], "--")); f != nil {
				why = wanted(f)
			}
		}
		return usage("%s %s: %s", m[2], m[1], why)
	}
	return usage("%s", err)
}

// wanted says what a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a duration is wanted, such as 500ms or 10s"
	case "bool":
		return "true or false is wanted"
	}
	return "a whole number is wanted, such as 3"
}

// why is the reason of an error of package ua without the name of its status, which says little about
// a command line.
func why(err error) string {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, ua.StatusOf(err).String()+": "); ok {
		return rest
	}
	return text
}

// nothingMore wants no arguments.
func nothingMore(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%q is one argument too many: %s [flags]", args[0], cmd.CommandPath())
	}
	return nil
}

// exactly wants these arguments, the last of which may end in "..." for one or more.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		many := strings.HasSuffix(names[len(names)-1], "...")
		if len(args) < len(names) {
			return usage("%s is missing: %s", strings.TrimSuffix(names[len(args)], "..."), cmd.UseLine())
		}
		if len(args) > len(names) && !many {
			return usage("%q is one argument too many: %s", args[len(names)], cmd.UseLine())
		}
		return nil
	}
}

// didYouMean is a hint to the nearest of the valid words, or the list of a few.
func didYouMean(word string, valid []string) string {
	var longer []string // words that were not finished
	for _, v := range valid {
		if len(word) > 2 && len(word) < len(v) && strings.EqualFold(word, v[:len(word)]) {
			longer = append(longer, v)
		}
	}
	if len(longer) == 1 {
		return fmt.Sprintf("; did you mean %s?", longer[0])
	}
	best, distance := "", max(2, len(word)/2)
	for _, v := range valid {
		if d := editDistance(strings.ToLower(word), strings.ToLower(v)); d <= distance && (best == "" || d < distance) {
			best, distance = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	if len(valid) > 0 && len(valid) <= 12 {
		return "; there is " + strings.Join(valid, ", ")
	}
	return ""
}

// editDistance counts the letters to insert, delete, replace or swap with their neighbour.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
