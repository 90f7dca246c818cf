//go:build !unix

package step

import "errors"

// DirBytes is not known here.
func DirBytes(string) (int64, error) {
	return 0, errors.New("the size on disk of a directory is not known on this system")
}
