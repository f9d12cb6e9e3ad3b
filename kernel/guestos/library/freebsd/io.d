/*
 * Block I/O, of a FreeBSD kernel: what a struct bio and its device's statistics say.
 */
typedef struct devinfo {
	int dev_major;		/* number of the device, and of its kind */
	int dev_minor;
	int dev_instance;
	int dev_type;		/* DEVSTAT_TYPE_ */
	string dev_name;	/* of its kind */
	string dev_statname;
	string dev_pathname;
} devinfo_t;

translator devinfo_t < struct devstat *D > {
	dev_major = D->device_number;
	dev_minor = D->unit_number;
	dev_instance = 0;
	dev_type = D->device_type;
	dev_name = stringof((char *)D->device_name);
	dev_statname = stringof((char *)D->device_name);
	dev_pathname = stringof((char *)D->device_name);
};

typedef struct bufinfo {
	int b_cmd;		/* BIO_READ and so on */
	int b_flags;
	long b_bcount;		/* bytes */
	caddr_t b_addr;
	uint64_t b_blkno;
	uint64_t b_lblkno;
	size_t b_resid;		/* bytes that are not transferred */
	size_t b_bufsize;
	int b_error;
} bufinfo_t;

translator bufinfo_t < struct bio *B > {
	b_cmd = B->bio_cmd;
	b_flags = B->bio_flags;
	b_bcount = B->bio_bcount;
	b_addr = B->bio_data;
	b_blkno = 0;
	b_lblkno = 0;
	b_resid = B->bio_resid;
	b_bufsize = 0;
	b_error = B->bio_error;
};

inline int O_ACCMODE = 0x3;
inline int O_RDONLY = 0;
inline int O_WRONLY = 1;
inline int O_RDWR = 2;
inline int O_NONBLOCK = 0x4;
inline int O_NDELAY = 0x4;
inline int O_APPEND = 0x8;
inline int O_SYNC = 0x80;
inline int O_CREAT = 0x200;
inline int O_TRUNC = 0x400;
inline int O_EXCL = 0x800;
inline int O_NOCTTY = 0x8000;

inline int BIO_READ = 1;
inline int BIO_WRITE = 2;
inline int BIO_DELETE = 3;
inline int BIO_GETATTR = 4;
inline int BIO_FLUSH = 5;
inline int BIO_CMD0 = 6;
inline int BIO_CMD1 = 7;
inline int BIO_CMD2 = 8;
inline int BIO_ZONE = 9;

inline int BIO_ERROR = 0x1;
inline int BIO_DONE = 0x2;
inline int BIO_ONQUEUE = 0x4;
inline int BIO_ORDERED = 0x8;
inline int BIO_UNMAPPED = 0x10;
inline int BIO_TRANSIENT_MAPPING = 0x20;
inline int BIO_VLIST = 0x40;

inline int DEVSTAT_TYPE_DIRECT = 0x0;
inline int DEVSTAT_TYPE_SEQUENTIAL = 0x1;
inline int DEVSTAT_TYPE_PRINTER = 0x2;
inline int DEVSTAT_TYPE_PROCESSOR = 0x3;
inline int DEVSTAT_TYPE_WORM = 0x4;
inline int DEVSTAT_TYPE_CDROM = 0x5;
inline int DEVSTAT_TYPE_SCANNER = 0x6;
inline int DEVSTAT_TYPE_OPTICAL = 0x7;
inline int DEVSTAT_TYPE_CHANGER = 0x8;
inline int DEVSTAT_TYPE_COMM = 0x9;
inline int DEVSTAT_TYPE_ASC0 = 0xa;
inline int DEVSTAT_TYPE_ASC1 = 0xb;
inline int DEVSTAT_TYPE_STORARRAY = 0xc;
inline int DEVSTAT_TYPE_ENCLOSURE = 0xd;
inline int DEVSTAT_TYPE_FLOPPY = 0xe;
inline int DEVSTAT_TYPE_MASK = 0xf;
inline int DEVSTAT_TYPE_IF_SCSI = 0x10;
inline int DEVSTAT_TYPE_IF_IDE = 0x20;
inline int DEVSTAT_TYPE_IF_OTHER = 0x30;
inline int DEVSTAT_TYPE_IF_NVME = 0x40;
inline int DEVSTAT_TYPE_IF_MASK = 0xf0;
inline int DEVSTAT_TYPE_PASS = 0x100;

inline string bio_cmd_string[int cmd] =
	cmd == BIO_READ ? "read" :
	cmd == BIO_WRITE ? "write" :
	cmd == BIO_DELETE ? "delete" :
	cmd == BIO_GETATTR ? "getattr" :
	cmd == BIO_FLUSH ? "flush" :
	cmd == BIO_CMD0 ? "cmd0" :
	cmd == BIO_CMD1 ? "cmd1" :
	cmd == BIO_CMD2 ? "cmd2" :
	cmd == BIO_ZONE ? "zone" :
	"<unknown>";

inline string bio_flag_string[int flag] =
	flag == BIO_ERROR ? "error" :
	flag == BIO_DONE ? "done" :
	flag == BIO_ONQUEUE ? "onqueue" :
	flag == BIO_ORDERED ? "ordered" :
	flag == BIO_UNMAPPED ? "unmapped" :
	flag == BIO_TRANSIENT_MAPPING ? "transient_mapping" :
	flag == BIO_VLIST ? "vlist" :
	"<unknown>";
