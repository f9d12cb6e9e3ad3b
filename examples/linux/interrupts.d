/*
 * interrupts.d: interrupts by number, with the name that /proc/interrupts shows.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/interrupts.d -c 'sleep 0.5; tail -n +2 /proc/interrupts | head -n 3'
 */
#pragma D option quiet

kinst::handle_irq_event:0
{
	this->irq = (struct irq_desc *)arg0;
	@[this->irq->irq_data.irq, stringof(this->irq->action->name)] = count();
}

END
{
	printa("%3d %-12s %@6d\n", @);
}
