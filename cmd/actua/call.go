package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

func (a *app) callCommand() *cobra.Command {
	f := &clientFlags{}
	cmd := &cobra.Command{
		Use:   "call URL OBJECT METHOD [ARG...]",
		Short: "Call a method of an object",
		Long: `Call a method of an object.

METHOD is a NODE, or the browse name of a method of OBJECT. The method's
InputArguments decide how each ARG is read; arrays and structures are JSON.
Arguments that begin with a minus go behind two dashes.`,
		Example: "  actua call localhost /Objects/Plant/Line1/Machine1 Start 100\n  actua call localhost i=2253 i=11492 7",
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly("URL", "OBJECT", "METHOD")(cmd, args[:min(len(args), 3)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := parseNode(args[1])
			if err != nil {
				return err
			}
			method, err := parseNode(args[2])
			if err != nil { // the browse name of a method of the object
				if _, nameErr := ua.ParseQualifiedName(args[2]); nameErr != nil {
					return err
				}
				method = nodeRef{}
			}
			c, err := a.dial(cmd.Context(), cmd, f, args[0])
			if err != nil {
				return err
			}
			defer a.hangUp()
			return a.call(cmd.Context(), c, object, method, args[2], args[3:])
		},
	}
	f.register(cmd)
	return cmd
}

func (a *app) call(ctx context.Context, c *uaclient.Client, objectRef, methodRef nodeRef, name string, texts []string) error {
	object, err := objectRef.find(ctx, c)
	if err != nil {
		return a.called(nil, nil, err)
	}
	var method ua.NodeID
	if methodRef.text == "" {
		method, err = methodNamed(ctx, c, object, name)
	} else {
		method, err = methodRef.find(ctx, c)
	}
	if err != nil {
		return a.called(nil, nil, err)
	}
	inputs, outputs, err := c.Arguments(ctx, method)
	if err != nil {
		return a.called(nil, nil, err)
	}
	args, err := parseArguments(ctx, c, inputs, texts)
	if err != nil {
		return err
	}
	values, err := c.CallMethod(ctx, object, method, args...)
	return a.called(outputs, values, err)
}

// methodNamed finds a method of an object by its browse name, in any namespace when none is given.
func methodNamed(ctx context.Context, c *uaclient.Client, object ua.NodeID, name string) (ua.NodeID, error) {
	want, err := ua.ParseQualifiedName(name)
	if err != nil {
		return ua.NodeID{}, err
	}
	var names []string
	for ref, err := range c.References(ctx, object, uaclient.BrowseOptions{NodeClasses: ua.NodeClassMethod}) {
		if err != nil {
			return ua.NodeID{}, err
		}
		if ref.BrowseName == want || want.NamespaceIndex == 0 && ref.BrowseName.Name == want.Name {
			return ref.NodeID.NodeID, nil
		}
		names = append(names, ref.BrowseName.Name)
	}
	return ua.NodeID{}, usage("METHOD %q is neither a NODE nor a method of %v%s", name, object, didYouMean(name, names))
}

// parseArguments reads the arguments as the method describes them.
func parseArguments(ctx context.Context, c *uaclient.Client, inputs []ua.Argument, texts []string) ([]ua.Variant, error) {
	if len(texts) != len(inputs) {
		return nil, usage("the method takes %s (%d given)", argumentList(inputs), len(texts))
	}
	args := make([]ua.Variant, len(texts))
	for i, text := range texts {
		in := &inputs[i]
		t, err := typeOf(ctx, c, in.DataType, int(in.ValueRank))
		if err != nil {
			return nil, err
		}
		if args[i], err = parseValue("argument "+in.Name, text, t); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func argumentList(inputs []ua.Argument) string {
	if len(inputs) == 0 {
		return "no arguments"
	}
	text := fmt.Sprintf("%d arguments", len(inputs))
	if len(inputs) == 1 {
		text = "1 argument"
	}
	for i := range inputs {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += sep + argumentText(&inputs[i])
	}
	return text
}

// called prints the outcome of a call.
func (a *app) called(outputs []ua.Argument, values []ua.Variant, err error) error {
	status := ua.StatusOf(err)
	if err != nil && (a.classify(context.Background(), err).code != exitBadStatus || !a.json) {
		return err
	}
	a.bad = err != nil
	name := func(i int) string {
		if i < len(outputs) {
			return outputs[i].Name
		}
		return ""
	}
	if a.json {
		list := []json.RawMessage{}
		for i, v := range values {
			l := new(line).set("name", name(i)).value("value", v).text("type", typeName(v))
			list = append(list, l.object())
		}
		refused := []string{}
		var inputs *uaclient.ArgumentError
		if errors.As(err, &inputs) {
			for _, s := range inputs.Inputs {
				refused = append(refused, s.String())
			}
		}
		return a.print(new(line).set("status", status.String()).set("outputs", list).set("inputErrors", refused))
	}
	var t table
	t.add("status", a.statusText(status))
	for i, v := range values {
		label := clean(name(i))
		if label == "" {
			label = fmt.Sprintf("output %d", i+1)
		}
		t.add(label, valueText(v), typeName(v))
	}
	return a.printf("%s", t.String())
}
