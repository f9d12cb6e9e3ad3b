/*
 * flow.d: the way of one write through the kernel's layers. A flow is indented by names
 * of probes; here the depth of the stack does it, which every instruction has. Not every kernel has
 * all of these functions.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/flow.d -c 'echo hello > /tmp/f'
 */
#pragma D option quiet
#pragma D option zdefs

kinst::ksys_write:0
/execname == "sh"/
{
	self->base = stackdepth;
}

kinst::ksys_write:0, kinst::vfs_write:0, kinst::rw_verify_area:0, kinst::generic_file_write_iter:0,
kinst::__generic_file_write_iter:0, kinst::generic_perform_write:0, kinst::shmem_write_begin:0,
kinst::shmem_get_folio_gfp:0, kinst::shmem_write_end:0, kinst::file_update_time:0,
kinst::__fsnotify_parent:0, kinst::__fdget_pos:0, kinst::fdget_pos:0, kinst::__fget_light:0, kinst::shmem_alloc_folio:0,
kinst::balance_dirty_pages_ratelimited:0
/self->base/
{
	printf("%*s%s\n", 2 * (stackdepth - self->base), "", probefunc);
}

kinst::syscall_exit_to_user_mode:0
{
	self->base = 0;
}
