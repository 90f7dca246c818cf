// Package ibench is the Insert Benchmark: rows, indexes, the load and its
// verification. It follows iibench.py and the scripts around it
// (mdcallag/mytools, bench/ibench) in schema, values and step names; where it
// differs, the declaration says so and why.
package ibench
