// Package envfile reads files such as ".env".
package envfile

import (
	"fmt"
	"os"
	"strings"
)

// Value returns the value of a name in a file of NAME=VALUE lines.
func Value(path, name string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && key == name {
			return value, nil
		}
	}
	return "", fmt.Errorf("%s is not set in %s", name, path)
}
