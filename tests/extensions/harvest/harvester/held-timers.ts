export class HeldTimers {
	waiting: { run: () => void; ms: number }[] = [];

	set(run: () => void, ms: number) {
		const timer = { run, ms };
		this.waiting.push(timer);
		return timer;
	}

	clear(timer: unknown) {
		this.waiting = this.waiting.filter((other) => other !== timer);
	}

	run(ms?: number) {
		const due = this.waiting.filter((timer) => ms === undefined || timer.ms === ms);
		this.waiting = this.waiting.filter((timer) => !due.includes(timer));
		for (const timer of due) timer.run();
	}
}
