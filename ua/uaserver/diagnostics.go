package uaserver

import (
	"github.com/actua/actua/ua"
)

// Bits of RequestHeader.ReturnDiagnostics (Part 4, 7.33). Those for the operations of a request are
// the same, shifted.
const (
	wantSymbolicID     = 0x01
	wantLocalizedText  = 0x02
	wantAdditionalInfo = 0x04
	operationShift     = 5
)

// diagnose appends the diagnostics of a request's operations: nothing when the client did not ask or
// all is well, else an entry for each operation (Part 4, 7.12).
func (k *call) diagnose(dst []ua.DiagnosticInfo, n int, status func(k *call, i int) ua.StatusCode) []ua.DiagnosticInfo {
	dst = dst[:0]
	want := k.reqHeader.ReturnDiagnostics >> operationShift
	if want&(wantSymbolicID|wantLocalizedText|wantAdditionalInfo) == 0 {
		return dst
	}
	bad := false
	for i := range n {
		bad = bad || !status(k, i).IsGood()
	}
	if !bad {
		return dst
	}
	for i := range n {
		dst = append(dst, diagnosis(k.respHeader, want, status(k, i), ""))
	}
	return dst
}

// diagnoseStatuses does so for operations whose results are bare status codes.
func (k *call) diagnoseStatuses(dst []ua.DiagnosticInfo, results []ua.StatusCode) []ua.DiagnosticInfo {
	return k.diagnose(dst, len(results), func(_ *call, i int) ua.StatusCode { return results[i] })
}

// diagnoseService fills the diagnostics of a whole request.
func diagnoseService(h *ua.ResponseHeader, want uint32, status ua.StatusCode, detail string) {
	if !status.IsGood() {
		h.ServiceDiagnostics = diagnosis(h, want, status, detail)
	}
}

func diagnosis(h *ua.ResponseHeader, want uint32, status ua.StatusCode, detail string) (d ua.DiagnosticInfo) {
	if status.IsGood() {
		return d
	}
	if want&wantSymbolicID != 0 {
		d.Mask |= ua.DiagnosticSymbolicID | ua.DiagnosticNamespaceURI
		d.SymbolicID = tableIndex(h, status.String())
		d.NamespaceURI = tableIndex(h, NamespaceURI0)
	}
	if text := status.Text(); want&wantLocalizedText != 0 && text != "" {
		d.Mask |= ua.DiagnosticLocalizedText | ua.DiagnosticLocale
		d.LocalizedText = tableIndex(h, text)
		d.Locale = tableIndex(h, "en")
	}
	if want&wantAdditionalInfo != 0 && detail != "" {
		d.Mask |= ua.DiagnosticAdditionalInfo
		d.AdditionalInfo = detail
	}
	return d
}

// tableIndex is the place of a text in the string table, where it is put if it is new.
func tableIndex(h *ua.ResponseHeader, text string) int32 {
	for i, s := range h.StringTable {
		if s == text {
			return int32(i)
		}
	}
	h.StringTable = append(h.StringTable, text)
	return int32(len(h.StringTable) - 1)
}
