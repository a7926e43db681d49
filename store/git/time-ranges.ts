/** First and last moment, in milliseconds since 1970. */
export type TimeRange = readonly [fromMs: number, toMs: number];

/** The fewest ranges, sorted, that cover all given ones; those nearest to each other become one where there are too many. */
export function joinRanges(ranges: readonly TimeRange[], most = 64): TimeRange[] {
	const apart: TimeRange[] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = apart.at(-1);
		if (last && from <= last[1] + 1) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
		else apart.push([from, to]);
	}
	const gapBefore = (index: number) => (apart[index] as TimeRange)[0] - (apart[index - 1] as TimeRange)[1];
	const gaps = apart.map((_, index) => index).slice(1);
	const widest = new Set(gaps.sort((a, b) => gapBefore(b) - gapBefore(a)).slice(0, most - 1));
	return apart.reduce<TimeRange[]>((joined, range, index) => {
		const last = joined.at(-1);
		if (last && !widest.has(index)) joined[joined.length - 1] = [last[0], range[1]];
		else joined.push(range);
		return joined;
	}, []);
}
