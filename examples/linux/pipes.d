/*
 * pipes.d: what goes through pipes. The writer is kept by the address of the pipe, so
 * that the reader can be told from whom its bytes are.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/pipes.d -c 'seq 2000 | sort | head -n 300 | wc -l'
 */
#pragma D option quiet

string writer[struct inode *];

kinst::pipe_write:0
{
	this->file = ((struct kiocb *)arg0)->ki_filp;
	writer[this->file->f_inode] = execname;
	@bytes[execname] = sum(((struct iov_iter *)arg1)->count);
}

kinst::pipe_read:0
{
	this->file = ((struct kiocb *)arg0)->ki_filp;
	this->from = writer[this->file->f_inode];
}

kinst::pipe_read:0
/this->from != ""/
{
	@reads[this->from, execname] = count();
}

END
{
	printa("%-8s wrote %@6d bytes\n", @bytes);
	printa("%-8s is read by %-8s %@4d times\n", @reads);
}
