// Package freebsd compares probes of FreeBSD's kernels with those of the original: lists that FreeBSD's
// own dtrace(1) and kinst have made of the same kernels, in $FREEBSD or ../shared/freebsd. The images
// freebsd/ARCH have to be fetched, and the tests built with the tag freebsdimage.
package freebsd
