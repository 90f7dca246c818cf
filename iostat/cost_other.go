//go:build !linux

package iostat

func threadCPU() Opt[int64] { return Opt[int64]{} }
