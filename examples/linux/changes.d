/*
 * changes.d: what programs change in the file system: what they make, rename and remove.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/changes.d -c 'cd /tmp; mkdir d; echo x > d/f; ln -s f d/l; mv d/f d/g; rm -r d'
 */
#pragma D option quiet

kinst::vfs_create:0, kinst::vfs_mkdir:0, kinst::vfs_symlink:0, kinst::vfs_unlink:0, kinst::vfs_rmdir:0
{
	printf("%-6s %-12s %s\n", execname, probefunc, stringof(((struct dentry *)arg2)->d_name.name));
}

kinst::vfs_rename:0
{
	this->r = (struct renamedata *)arg0;
	printf("%-6s %-12s %s to %s\n", execname, probefunc, stringof(this->r->old_dentry->d_name.name),
	    stringof(this->r->new_dentry->d_name.name));
}
