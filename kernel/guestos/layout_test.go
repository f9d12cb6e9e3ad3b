package guestos

import (
	"slices"
	"testing"
)

// Members that are near each other are read together, others apart.
func TestTogether(t *testing.T) {
	got := together(span{976, 992}, span{420, 424}, span{416, 420}, span{776, 784}, span{432, 440}, span{960, 968})
	want := []span{{416, 440}, {776, 784}, {960, 992}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
