package parcel

import "testing"

func TestEachStartedKilogramCostsAEuroMore(t *testing.T) {
	if Postage(999) != 600 || Postage(1001) != 700 {
		t.Errorf("got %d and %d", Postage(999), Postage(1001))
	}
}

func TestLabelsAreSigned(t *testing.T) {
	if _, err := SigningKey("../.env"); err != nil {
		t.Skip("needs PARCEL_SIGNING_KEY")
	}
	signature, err := Sign("1 Main Street", "../.env")
	if err != nil || len(signature) != 64 {
		t.Errorf("got %q, %v", signature, err)
	}
}
