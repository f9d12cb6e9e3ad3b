/*
 * fileinfo.d: a translator says once how the members of the kernel's structure are found,
 * and the rest of the script reads as if the kernel had the structure that one wants.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/fileinfo.d -c 'ls -i /etc/passwd; md5sum /etc/passwd /proc/version; mount | tail -n 1'
 */
#pragma D option quiet

typedef struct info {
	string name;
	string system;
	uint64_t inode;
	int64_t size;
} info_t;

translator info_t < struct file *F > {
	name = stringof(F->f_path.dentry->d_name.name);
	system = stringof(F->f_inode->i_sb->s_type->name);
	inode = F->f_inode->i_ino;
	size = F->f_inode->i_size;
};

inline info_t *file = xlate <info_t *>((struct file *)arg0);

kinst::vfs_read:0
/pid > 1/
{
	printf("%-8s reads %-10s %-8s inode %10d size %4d\n", execname, file->name, file->system,
	    file->inode, file->size);
}
