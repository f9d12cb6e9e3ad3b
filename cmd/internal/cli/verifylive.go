package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"trapline/kernel"
	"trapline/verify"
)

// verifyLive verifies the functions of one process while the guest runs a command. Each process
// has a guest of its own, and all of these do the same.
func (e *env) verifyLive(o *verifyOptions) error {
	quiet := *e
	quiet.stdout, quiet.stderr = io.Discard, io.Discard
	g, err := quiet.newGuest(o.guest, guestConfig{console: io.Discard, symbols: true})
	if err != nil {
		return err
	}
	defer g.close()
	if err := g.approachVerify(&quiet, false); err != nil {
		return err
	}
	v, err := verify.New(verify.Config{Machine: g.machine, Seed: o.Seed, Pick: o.pick})
	if err != nil {
		return err
	}
	defer v.Close()
	b := batch{Name: fmt.Sprint("live ", o.part.number), Report: new(verify.Report)}
	end := endStopped
	err = v.Live(o.share(g.Image), b.Report, func() (bool, error) {
		end, err = g.resume()
		return end == endStopped, err
	})
	switch {
	case err != nil:
		return err
	case end == endInterrupted:
		return &exit{status: statusSignal}
	case end != endPowerOff && end != endReboot:
		return fmt.Errorf("verify: the guest ended badly: %s", end)
	}
	return json.NewEncoder(e.stdout).Encode(b)
}

// share is every so many-th function of those that the running kernel has.
func (o *verifyOptions) share(img *kernel.Image) (list []kernel.Symbol) {
	for i, fn := range o.functions(img, false) {
		if i%o.part.of == o.part.number {
			list = append(list, fn)
		}
	}
	return list
}
