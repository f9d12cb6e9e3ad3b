/*
 * idle.d: how much of each quarter of a second the processor has nothing to do, in per
 * cent: from the idle loop's halt to the interrupt that ends it.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/idle.d -c 'sleep 0.5; seq 60000 | md5sum; sleep 0.5'
 */
#pragma D option quiet

uint64_t since, idle;

kinst::default_idle:0
{
	since = timestamp;
}

kinst::common_interrupt:0
/since/
{
	idle += timestamp - since;
	since = 0;
}

tick-250ms
{
	idle += since ? timestamp - since : 0;
	since = since ? timestamp : 0;
	printf("%d%%\n", idle * 100 / 250000000);
	idle = 0;
}
