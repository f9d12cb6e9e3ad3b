/*
 * lookups.d: the directories and names that paths are made of, as the kernel walks along
 * them. The structure with the walk's state has the last name, and its length beside it.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/lookups.d -c 'cat /proc/sys/kernel/ostype /etc/passwd /etc/none'
 */
#pragma D option quiet

kinst::lookup_fast:0
/execname == "cat"/
{
	this->walk = (struct nameidata *)arg0;
	this->dir = this->walk->path.dentry;
	printf("%-8s in %s\n", substr(stringof(this->walk->last.name), 0, this->walk->last.len),
	    stringof(this->dir->d_name.name));
}
