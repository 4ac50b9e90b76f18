// Package parcel computes postage and signs labels.
package parcel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"parcel.example/envfile"
)

// Postage returns the postage of a parcel in cents.
func Postage(grams int) int {
	return 500 + 100*((grams+999)/1000)
}

// SigningKey returns the signing key from the environment or from a ".env" file.
func SigningKey(envPath string) (string, error) {
	if key := os.Getenv("PARCEL_SIGNING_KEY"); key != "" {
		return key, nil
	}
	return envfile.Value(envPath, "PARCEL_SIGNING_KEY")
}

// Sign returns the signature that is printed on a label, made with the signing key.
func Sign(address, envPath string) (string, error) {
	key, err := SigningKey(envPath)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(address))
	return hex.EncodeToString(mac.Sum(nil)), nil
}
