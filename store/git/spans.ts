/** A span of time: first and last moment, in milliseconds since 1970. */
export type Span = readonly [fromMs: number, toMs: number];

/** A few spans of time that together cover all that were added. Where there are too many, the nearest two become one. */
export class Spans {
	readonly #most: number;
	/** Sorted, apart from each other. */
	#spans: Span[] = [];

	constructor(most = 64) {
		this.#most = most;
	}

	get all(): readonly Span[] {
		return this.#spans;
	}

	has(timeMs: number): boolean {
		return this.#spans.some(([from, to]) => from <= timeMs && timeMs <= to);
	}

	add(span: Span): void {
		const sorted = [...this.#spans, span].sort(([a], [b]) => a - b);
		this.#spans = [];
		for (const [from, to] of sorted) {
			const last = this.#spans.at(-1);
			if (last && from <= last[1]) this.#join(this.#spans.length - 1, to);
			else this.#spans.push([from, to]);
		}
		if (this.#spans.length > this.#most) this.#joinNearest();
	}

	/** Makes the span at an index last until `toMs`. */
	#join(index: number, toMs: number): void {
		const [from, to] = this.#spans[index] as Span;
		this.#spans[index] = [from, Math.max(to, toMs)];
	}

	#joinNearest(): void {
		const gapAfter = (index: number) => (this.#spans[index + 1] as Span)[0] - (this.#spans[index] as Span)[1];
		let nearest = 0;
		for (let index = 1; index + 1 < this.#spans.length; index += 1) {
			if (gapAfter(index) < gapAfter(nearest)) nearest = index;
		}
		this.#join(nearest, (this.#spans[nearest + 1] as Span)[1]);
		this.#spans.splice(nearest + 1, 1);
	}
}
