/*
 * vfs.d: the calls of the virtual file system by kind: the one-liner of one-liners.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/vfs.d -c 'cp -r /etc /tmp; rm -r /tmp/etc; ls -l /bin | wc -l'
 */
kinst::vfs_*:0
{
	@[probefunc] = count();
}
