package doctor

import (
	"fmt"
	"io"
)

// Text writes the findings for a reader, or that there are none.
func Text(w io.Writer, findings []Finding) error {
	if len(findings) == 0 {
		_, err := fmt.Fprintln(w, "nothing found that would spoil the numbers")
		return err
	}
	for _, f := range findings {
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n  why:    %s\n  change: %s\n", f.Level, f.Check, f.Value, f.Why, f.Change); err != nil {
			return err
		}
	}
	return nil
}
