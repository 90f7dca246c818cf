//go:build !linux

package iostat

import "os"

func deviceNumber(os.FileInfo) string { return "" }

// FreeBytes is not known on this system.
func FreeBytes(string) Opt[int64] { return Opt[int64]{} }
