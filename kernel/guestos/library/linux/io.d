/*
 * Block I/O, of a Linux kernel: what the manual calls bufinfo_t, devinfo_t and fileinfo_t. A
 * request does not tell of which file it is.
 */
inline int B_READ = 0x40;
inline int B_WRITE = 0x100;

typedef struct bufinfo {
	int b_flags;		/* B_READ or B_WRITE; 0: neither, such as to flush */
	size_t b_bcount;	/* bytes */
	uint64_t b_blkno;	/* sector of 512 bytes */
	uint64_t b_lblkno;
	size_t b_bufsize;
	dev_t b_edev;
} bufinfo_t;

translator bufinfo_t < struct request *R > {
	b_flags = R->cmd_flags & 1 ? B_WRITE : R->cmd_flags & 0xff ? 0 : B_READ;
	b_bcount = R->__data_len;
	b_blkno = R->__sector;
	b_lblkno = R->__sector;
	b_bufsize = R->__data_len;
	b_edev = R->q->disk->major << 20 | R->q->disk->first_minor;
};

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;	/* of the disk, as what follows */
	string dev_statname;
	string dev_pathname;
} devinfo_t;

translator devinfo_t < struct request *R > {
	dev_major = R->q->disk->major;
	dev_minor = R->q->disk->first_minor;
	dev_instance = R->q->disk->first_minor;
	dev_name = stringof((char *)R->q->disk->disk_name);
	dev_statname = stringof((char *)R->q->disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof((char *)R->q->disk->disk_name));
};

typedef struct fileinfo {
	string fi_name;		/* last part of the path */
	string fi_dirname;	/* the part before it */
	string fi_fs;		/* kind of file system */
	string fi_mount;	/* name of the mount point's directory */
	uint64_t fi_ino;
	off_t fi_offset;
	off_t fi_size;
	uint_t fi_oflags;
} fileinfo_t;

translator fileinfo_t < struct file *F > {
	fi_name = stringof((char *)F->f_path.dentry->d_name.name);
	fi_dirname = stringof((char *)F->f_path.dentry->d_parent->d_name.name);
	fi_fs = stringof((char *)F->f_inode->i_sb->s_type->name);
	fi_mount = stringof((char *)F->f_path.mnt->mnt_root->d_name.name);
	fi_ino = F->f_inode->i_ino;
	fi_offset = F->f_pos;
	fi_size = F->f_inode->i_size;
	fi_oflags = F->f_flags;
};

translator fileinfo_t < struct request *R > {
	fi_name = "<none>";
	fi_dirname = "<none>";
	fi_fs = "<none>";
	fi_mount = "<none>";
	fi_ino = 0;
	fi_offset = 0;
	fi_size = 0;
	fi_oflags = 0;
};

provider io {
	probe start(struct request *R) : (bufinfo_t *R, devinfo_t *R, fileinfo_t *R);
	probe done(struct request *R, int status, unsigned int bytes)
	    : (bufinfo_t *R, devinfo_t *R, fileinfo_t *R, int status, unsigned int bytes);
};
