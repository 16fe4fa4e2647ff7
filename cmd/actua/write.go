package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

func (a *app) writeCommand() *cobra.Command {
	f := &clientFlags{}
	var typeText, indexRange string
	cmd := &cobra.Command{
		Use:   "write URL NODE VALUE",
		Short: "Write the value of a node",
		Long: `Write the value of a node: the value alone, without status and time.

Without --type the node's data type decides how VALUE is read. Arrays and
structures are written as JSON, in the form in which "read --json" prints them.
A value that begins with a minus goes behind two dashes:
actua write URL NODE -- -5`,
		Example: "  actua write localhost 'ns=2;s=Line1.SetPoint' 42.5\n  actua write localhost 'ns=2;s=Samples' '[1,2,3]'\n" +
			"  actua write localhost 'ns=2;s=Samples' '[7]' --range 1",
		Args: exactly("URL", "NODE", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var given *valueType
			if typeText != "" {
				t, err := parseType(typeText)
				if err != nil {
					return err
				}
				if _, err := parseValue("VALUE", args[2], t); err != nil {
					return err
				}
				given = &t
			}
			if _, err := ua.ParseNumericRange(indexRange); err != nil {
				return usage("--range: %s; such as 0:9, or 1,0 in a matrix", why(err))
			}
			node, err := parseNode(args[1])
			if err != nil {
				return err
			}
			c, err := a.dial(cmd.Context(), cmd, f, args[0])
			if err != nil {
				return err
			}
			defer a.hangUp()
			return a.write(cmd.Context(), c, node, args[2], given, indexRange)
		},
	}
	cmd.Flags().StringVar(&typeText, "type", "", "built-in type of VALUE, such as Double or Int32[] (default: the node's)")
	cmd.Flags().StringVar(&indexRange, "range", "", "part of the value to write, such as 2:4")
	f.register(cmd)
	return cmd
}

func (a *app) write(ctx context.Context, c *uaclient.Client, ref nodeRef, text string, given *valueType, indexRange string) error {
	node, err := ref.find(ctx, c)
	if err != nil {
		return a.wrote(ref.text, err)
	}
	if given == nil {
		t, err := typeOfNode(ctx, c, node)
		if err != nil {
			return a.wrote(node.String(), err)
		}
		given = &t
	}
	value, err := parseValue("VALUE", text, *given)
	if err != nil {
		return err
	}
	return a.wrote(node.String(), c.WriteRange(ctx, node, indexRange, value))
}

// wrote prints the outcome. Bad statuses are an answer; other errors go up.
func (a *app) wrote(node string, err error) error {
	status := ua.StatusOf(err)
	if err != nil {
		if e := a.classify(context.Background(), err); e.code != exitBadStatus {
			return err
		}
		if !a.json {
			return err
		}
		a.bad = true
	}
	if a.json {
		return a.print(new(line).set("node", node).set("status", status.String()))
	}
	return a.printf("%s  %s\n", clean(node), a.statusText(status))
}
