/** Gives a turn back. */
export type Release = () => void;

/** Lets callers in one after the other, in the order in which they came. */
export interface Turns {
	/** @returns what ends the turn, or null where it did not come within `patience` milliseconds. */
	take(patience: number): Promise<Release | null>;
}

/**
 * @param longest milliseconds after which a turn that was never given back counts as ended: an engine may drop a
 * request whose client has gone, and with it whatever was to follow.
 */
export function makeTurns(now: () => Date, longest: number): Turns {
	const waiting: ((release: Release) => void)[] = [];
	let holder: { until: number } | null = null;

	const isFree = () => holder === null || holder.until < now().getTime();

	function enter(): Release {
		const mine = { until: now().getTime() + longest };
		holder = mine;
		return () => {
			if (holder !== mine) return;
			holder = null;
			waiting.shift()?.(enter());
		};
	}

	return {
		async take(patience) {
			if (waiting.length === 0 && isFree()) return enter();
			let timer: ReturnType<typeof setTimeout> | undefined;
			const release = await new Promise<Release | null>((resolve) => {
				waiting.push(resolve);
				timer = setTimeout(() => {
					waiting.splice(waiting.indexOf(resolve), 1);
					resolve(isFree() ? enter() : null);
				}, patience);
			});
			clearTimeout(timer);
			return release;
		},
	};
}
