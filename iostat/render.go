package iostat

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// format writes a value with two decimals, as iostat does; unknown is what stands for one that
// isn't known.
func format(v Opt[float64], unknown string) string {
	if !v.OK {
		return unknown
	}
	return strconv.FormatFloat(v.V, 'f', 2, 64)
}

// Text writes two tables, the host and the devices, and an empty line. What isn't known is "-".
func (v View) Text(w io.Writer) error {
	host := table.Row{v.At.Format(time.TimeOnly)}
	for _, c := range HostColumns {
		host = append(host, format(c.host(v.Host), "-"))
	}
	if err := writeTable(w, "", HostColumns, []table.Row{host}); err != nil {
		return err
	}
	var rows []table.Row
	for _, r := range v.Rows {
		row := table.Row{r.Device}
		for _, c := range DeviceColumns {
			row = append(row, format(c.disk(r), "-"))
		}
		rows = append(rows, row)
	}
	return writeTable(w, "Device", DeviceColumns, rows)
}

// minWidth keeps the columns of one window below those of the last.
const minWidth = 8

func writeTable(w io.Writer, first string, columns []Column, rows []table.Row) error {
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box:    table.BoxStyle{PaddingRight: " "},
		Format: table.FormatOptions{Header: text.FormatDefault},
	})
	header := table.Row{first}
	column := func(number int, align text.Align) table.ColumnConfig {
		return table.ColumnConfig{Number: number, Align: align, AlignHeader: align, WidthMin: minWidth}
	}
	config := []table.ColumnConfig{column(1, text.AlignLeft)}
	for i, c := range columns {
		header = append(header, c.Name)
		config = append(config, column(i+2, text.AlignRight))
	}
	t.SetColumnConfigs(config)
	t.AppendHeader(header)
	t.AppendRows(rows)
	_, err := fmt.Fprintf(w, "%s\n\n", t.Render())
	return err
}

// CSVHeader writes the names of the columns that CSV writes.
func (v View) CSVHeader(w io.Writer) error {
	line := []string{"time", "seconds", "device"}
	for _, c := range append(DeviceColumns[:len(DeviceColumns):len(DeviceColumns)], HostColumns...) {
		line = append(line, c.Name)
	}
	return writeCSV(w, [][]string{line})
}

// CSV writes a line for each device, with the host's columns at the end of each; one line without a
// device when there are none. What isn't known is empty.
func (v View) CSV(w io.Writer) error {
	rows := v.Rows
	if len(rows) == 0 {
		rows = []Row{{}}
	}
	var lines [][]string
	for _, r := range rows {
		line := []string{v.At.UTC().Format(time.RFC3339Nano), strconv.FormatFloat(v.Seconds, 'f', 6, 64), r.Device}
		for _, c := range DeviceColumns {
			line = append(line, format(c.disk(r), ""))
		}
		for _, c := range HostColumns {
			line = append(line, format(c.host(v.Host), ""))
		}
		lines = append(lines, line)
	}
	return writeCSV(w, lines)
}

func writeCSV(w io.Writer, lines [][]string) error {
	return csv.NewWriter(w).WriteAll(lines)
}

// JSON writes one object on one line: time, seconds, host and devices, with the names of the
// columns as keys, in full precision. What isn't known is null.
func (v View) JSON(w io.Writer) error {
	host := map[string]Opt[float64]{}
	for _, c := range HostColumns {
		host[c.Name] = c.host(v.Host)
	}
	devices := []map[string]any{}
	for _, r := range v.Rows {
		device := map[string]any{"device": r.Device}
		for _, c := range DeviceColumns {
			device[c.Name] = c.disk(r)
		}
		devices = append(devices, device)
	}
	return json.NewEncoder(w).Encode(map[string]any{
		"time": v.At.UTC(), "seconds": v.Seconds, "host": host, "devices": devices,
	})
}
