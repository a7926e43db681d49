export class HeldTimers {
	waiting: { run: () => void; ms: number }[] = [];

	set(run: () => void, ms: number) {
		const timer = { run, ms };
		this.waiting.push(timer);
		return timer;
	}

	clear(timer: unknown) {
		this.waiting = this.waiting.filter((one) => one !== timer);
	}

	run(ms?: number) {
		const due = this.waiting.filter((one) => ms === undefined || one.ms === ms);
		this.waiting = this.waiting.filter((one) => !due.includes(one));
		for (const timer of due) timer.run();
	}
}
