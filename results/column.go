package results

import (
	"math"
	"strconv"
	"strings"
)

// Row is one line of a table: a step of a run.
type Row struct {
	Run  *Run
	Step *Step
	// Post is the same scan in a later step; nil in other tables.
	Post *Step
	// Counter is the metric that the line is of; empty in other tables.
	Counter string
}

// metric is the value of one of the step's metrics.
func (r Row) metric(name string) *float64 { return r.Step.Metrics[name].Value }

// label is what the last column shows: the run's own label, or the engine
// with the tag after a dot.
func (r Row) label() string {
	if r.Run.Label != "" {
		return r.Run.Label
	}
	if r.Run.Tag != "" {
		return r.Run.Engine + "." + r.Run.Tag
	}
	return r.Run.Engine
}

// Column is one column of a table. Text, Markdown, CSV, JSON, the legend and
// the documentation are all made from it.
type Column struct {
	// Name is the head, as in the published tables.
	Name string
	// Meaning, Formula and Unit are the legend's; the formula is in names of
	// the record's metrics.
	Meaning, Formula, Unit string
	// Decimals is how many the published tables have; see FormatNumber.
	Decimals int
	// Number gives the value in Unit, nil where it isn't known. A column of
	// words has Text instead.
	Number func(Row) *float64
	Text   func(Row) string
	// Note is put in brackets behind a word in text and Markdown; programs
	// find the same in columns of their own.
	Note func(Row) string
	// Marked says whether the row's number carries the mark of Footnote.
	Marked   func(Row) bool
	Footnote string
	// Wide columns are left out of text and Markdown unless asked for.
	Wide bool
}

// FormatRule is what FormatNumber does, for the legend.
const FormatRule = "A figure has as many decimals as in the published tables; where that leaves one digit or none, it has three significant digits, at most six decimals. " +
	"\"-\" is a figure that isn't known; \"0\" is nothing, or less than six decimals show."

const (
	missingText   = "-"
	mark          = "*"
	smallDigits   = 3
	maxDecimals   = 6
	twoDigitFloor = 10 // in units of the last place: what has at least two digits
)

// FormatNumber prints a figure by FormatRule, so that the figures of a small
// run still say something.
func FormatNumber(v *float64, decimals int) string {
	if v == nil {
		return missingText
	}
	size := math.Abs(*v)
	if size != 0 && math.Round(size*math.Pow10(decimals)) < twoDigitFloor {
		// The exponent of 0.00412 is -3: three digits end at the fifth decimal.
		exponent := int(math.Floor(math.Log10(size)))
		decimals = min(max(decimals, smallDigits-1-exponent), maxDecimals)
	}
	text := strconv.FormatFloat(*v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

// cell is the column's text in a row, marked where it has to be.
func (c Column) cell(r Row) string {
	if c.Text != nil {
		text := printable(c.Text(r))
		if text == "" {
			text = missingText
		}
		if c.Note != nil && c.Note(r) != "" {
			text += " (" + c.Note(r) + ")"
		}
		return text
	}
	text := FormatNumber(c.Number(r), c.Decimals)
	if text != missingText && c.marked(r) {
		text += mark
	}
	return text
}

func (c Column) marked(r Row) bool { return c.Marked != nil && c.Marked(r) && c.Number(r) != nil }

// exact is the column's value in a row for programs: all digits, or nothing.
func (c Column) exact(r Row) string {
	if c.Text != nil {
		return printable(c.Text(r)) // a line of the file stays a line
	}
	if v := c.Number(r); v != nil {
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return ""
}

// value is the column's value in a row for JSON: a string, a number or nil.
func (c Column) value(r Row) any {
	if c.Text != nil {
		return c.Text(r)
	}
	return c.Number(r)
}

// printable replaces what would break a line of a table or steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// scaled is a column that shows a metric divided by a constant.
func scaled(name, metric string, divisor float64, unit string, decimals int, meaning string) Column {
	formula := metric
	for _, d := range ratios {
		for _, op := range []Op{PerRow, PerRequest} {
			if op.in(d.name) == metric {
				formula = op.in(d.formula())
			}
		}
	}
	switch divisor {
	case 1:
	case gib:
		formula += " ÷ 2^30"
	default:
		formula += " ÷ " + strconv.FormatFloat(divisor, 'f', -1, 64)
	}
	return Column{
		Name: name, Meaning: meaning, Formula: formula, Unit: unit, Decimals: decimals,
		Number: func(r Row) *float64 { return divide(1, r.metric(metric), &divisor) },
	}
}
