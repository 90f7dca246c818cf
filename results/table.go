package results

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is rows and the columns to show of them.
type Table struct {
	Columns []Column
	Rows    []Row
	// Wide shows the wide columns in text and Markdown too; CSV and JSON
	// always have them.
	Wide bool
}

// WriteText writes the table aligned for a fixed-width font: what is partial
// and why, the table, the footnotes.
func (t Table) WriteText(w io.Writer) error {
	return t.write(w, "\n", mark, func(tw table.Writer) string {
		tw.SetStyle(plainStyle())
		tw.SuppressTrailingSpaces()
		return tw.Render()
	})
}

// WriteMarkdown writes the same as WriteText with a Markdown table.
func (t Table) WriteMarkdown(w io.Writer) error {
	return t.write(w, "\n\n", `\`+mark, table.Writer.RenderMarkdown)
}

// write puts the notes around a rendered table; gap ends a
// note, sign begins a footnote.
func (t Table) write(w io.Writer, gap, sign string, render func(table.Writer) string) error {
	var out strings.Builder
	for _, line := range t.partial() {
		out.WriteString(line + gap)
	}
	columns := t.shown()
	tw := table.NewWriter()
	header := make(table.Row, len(columns))
	configs := make([]table.ColumnConfig, len(columns))
	for i, c := range columns {
		header[i] = c.Name
		align := text.AlignRight
		if c.Text != nil {
			align = text.AlignLeft
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	tw.AppendHeader(header)
	tw.SetColumnConfigs(configs)
	for _, r := range t.Rows {
		cells := make(table.Row, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(r)
		}
		tw.AppendRow(cells)
	}
	out.WriteString(render(tw) + "\n")
	for _, line := range t.footnotes(columns) {
		out.WriteString(strings.TrimPrefix(gap, "\n") + sign + " " + line + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// plainStyle is columns of words two spaces apart, without lines.
func plainStyle() table.Style {
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}

func (t Table) shown() []Column {
	var columns []Column
	for _, c := range t.Columns {
		if t.Wide || !c.Wide {
			columns = append(columns, c)
		}
	}
	return columns
}

// partial says of each step that isn't whole why, and of each run that isn't
// whole though its steps here are.
func (t Table) partial() []string {
	var lines []string
	said := map[*Run]bool{}
	for _, r := range t.Rows {
		if !r.Step.Complete && r.Step.Kind != KindTotal {
			said[r.Run] = true
			lines = append(lines, partialLine(r.label()+", "+r.Step.Name, r.Step.Reason))
		}
	}
	for _, r := range t.Rows {
		if !r.Run.Complete && !said[r.Run] {
			said[r.Run] = true
			lines = append(lines, partialLine(r.label(), r.Run.Reason))
		}
	}
	return lines
}

func partialLine(what, reason string) string {
	if reason == "" {
		reason = "no reason recorded"
	}
	return printable("partial: " + what + ": " + reason)
}

// footnotes explain the marks that are in the table.
func (t Table) footnotes(columns []Column) []string {
	var lines []string
	for _, c := range columns {
		for _, r := range t.Rows {
			if c.marked(r) {
				lines = append(lines, c.Name+": "+c.Footnote)
				break
			}
		}
	}
	return lines
}

// WriteCSV writes all columns with all digits; what isn't known is empty.
func (t Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Name
	}
	_ = out.Write(line) // an error stays for Error
	for _, r := range t.Rows {
		for i, c := range t.Columns {
			line[i] = c.exact(r)
		}
		_ = out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// WriteJSON writes an array of objects with the columns as keys, in their
// order; what isn't known is null.
func (t Table) WriteJSON(w io.Writer) error {
	lines := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		fields := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			data, err := json.Marshal(c.value(r))
			if err != nil {
				return fmt.Errorf("writing column %s: %w", c.Name, err)
			}
			fields[j] = fmt.Sprintf("%q: %s", c.Name, data)
		}
		lines[i] = "\n  {" + strings.Join(fields, ", ") + "}"
	}
	_, err := io.WriteString(w, "["+strings.Join(lines, ",")+"\n]\n")
	return err
}

// WriteLegend explains every column: unit, formula in names of the record's
// metrics, meaning; then how figures are printed.
func WriteLegend(w io.Writer, columns []Column) error {
	tw := table.NewWriter()
	tw.SetStyle(plainStyle())
	tw.SuppressTrailingSpaces()
	tw.AppendHeader(table.Row{"column", "unit", "formula", "meaning"})
	for _, c := range columns {
		tw.AppendRow(table.Row{c.Name, c.Unit, c.Formula, c.Meaning})
	}
	_, err := io.WriteString(w, tw.Render()+"\n\n"+FormatRule+"\n")
	return err
}
