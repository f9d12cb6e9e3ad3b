/*
 * paths.d: the path of each file that is read, put together from the names of the
 * directories above it; D has no loops, so it stops at the third.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/paths.d -c 'mkdir -p /tmp/a/b; cp /etc/passwd /tmp/a/b/c; md5sum /tmp/a/b/c /proc/sys/kernel/ostype'
 */
#pragma D option quiet

kinst::vfs_read:0
/pid > 1/
{
	this->file = (struct file *)arg0;
	this->d = this->file->f_path.dentry;
	this->p = this->d->d_parent;
	this->pp = this->p->d_parent;
	this->name = strjoin("/", stringof(this->d->d_name.name));
	this->name = this->p == this->d ? this->name : this->p == this->pp ? this->name :
	    strjoin(strjoin("/", stringof(this->p->d_name.name)), this->name);
	this->name = this->pp == this->p || this->pp->d_parent == this->pp ? this->name :
	    strjoin(strjoin("/", stringof(this->pp->d_name.name)), this->name);
	@[execname, stringof(this->file->f_inode->i_sb->s_type->name), this->name] = count();
}

END
{
	printa("%-8s %-10s %-24s %@4d\n", @);
}
