package results

import "strings"

// maxPartBytes bounds each part of a run's folder name, so that the whole stays
// far below the 255 bytes that file systems take.
const maxPartBytes = 40

// DirName is the folder name of a run:
// <UTC time>-<workload>-<step or plan>-<dbms>-<engine>-<tag>. Parts that are
// empty are left out with their dash.
func DirName(run *Run) string {
	parts := []string{run.StartedUTC.UTC().Format(dirTime)}
	for _, part := range []string{run.Workload, run.Plan, run.DBMS, run.Engine, run.Tag} {
		if part = cleanName(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-")
}

// maxDumpNameBytes leaves room for the step and the edge in 255 bytes.
const maxDumpNameBytes = 120

const dirTime = "20060102T150405Z"

// cleanName is a part of a folder's name or of a tag.
func cleanName(s string) string { return cleanTo(s, maxPartBytes) }

// cleanTo keeps letters, digits, '.', '_', '+' and '-' of ASCII, which every
// file system, shell and histogram tag takes, and puts '_' for the rest.
func cleanTo(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._+-", r):
			return r
		default:
			return '_'
		}
	}, s)
	return strings.Trim(s[:min(len(s), limit)], ".-")
}
