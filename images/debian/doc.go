// Package debian fetches packages and sources of Debian's: by apt where the host has it (Fetcher),
// or straight from the archive as it lies on its mirrors (Archive), on hosts that are not a Debian.
//
// # The archive
//
// A site has directories dists and pool. dists/SUITE/InRelease is a text with an OpenPGP
// signature; it has the SHA-256 of the suite's indexes, and these have the SHA-256 of each
// package. So one signature vouches for everything, and it does not matter who runs the site
// or the network. (https://wiki.debian.org/DebianRepository/Format)
//
// A release of Debian's is three suites: its own, which changes every few months, that of
// updates in between, and that of security updates, which has a site of its own. They are read
// together, and the newest version of a package wins.
//
// # What is checked
//
//   - The signature, by the archive keys that are part of this program: one good signature by
//     one of them is enough. One that was made after its key had expired does not count.
//   - The suite's codename is the one that was asked for.
//   - Valid-Until, where a suite has it, has not passed, and Date has not yet to come. So a
//     site that stands still, or somebody who replays an old archive, is noticed after a week:
//     the suite of security updates always has Valid-Until. A release's own suite has none; an
//     old one of them is believed.
//   - Size and SHA-256 of every index and every file.
//
// The clock of the host decides what has passed. One that is wrong makes an error that says so.
//
// # Interrupted downloads
//
// Fetch leaves what has come, and goes on from there the next time, if the site can do that. The
// whole is checked, so a file that was begun from another site, or was damaged since, is seen
// and fetched anew.
package debian
