package nodeset

import (
	"math"
	"strings"
	"testing"
)

// TestNumbersThatAreNone has errors say what is wrong with a number, not what a function of Go says.
func TestNumbersThatAreNone(t *testing.T) {
	for node, want := range map[string]string{
		`<UAVariable NodeId="ns=1;i=1" BrowseName="1:A" ValueRank="x"/>`:                                        `"x" is no whole number`,
		`<UAVariable NodeId="ns=1;i=1" BrowseName="1:A" ArrayDimensions="1,-2"/>`:                               `"-2" is not from 0 to 4294967295`,
		`<UAVariable NodeId="ns=1;i=1" BrowseName="1:A"><Value><Int32>99999999999</Int32></Value></UAVariable>`: `"99999999999" is not from -2147483648 to 2147483647`,
		`<UAVariable NodeId="ns=1;i=1" BrowseName="1:A"><Value><Byte>256</Byte></Value></UAVariable>`:           `"256" is not from 0 to 255`,
		`<UAVariable NodeId="ns=1;i=1" BrowseName="1:A"><Value><Double>half</Double></Value></UAVariable>`:      `"half" is no number`,
	} {
		_, err := Parse(file(node), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "strconv") {
			t.Errorf("%s:\n%v, want %s", node, err, want)
		}
	}
	if v, err := parseInt("-9223372036854775808", 64); err != nil || v != math.MinInt64 {
		t.Error(v, err)
	}
	if v, err := parseUint("18446744073709551615", 64); err != nil || v != math.MaxUint64 {
		t.Error(v, err)
	}
}
