import type { World } from "./world.ts";

/** A bound on the median of the ratio, or of the service's own figure. */
export interface Goal {
	of: "ratio" | "ours";
	most?: number;
	least?: number;
}

/** One line of the table. */
export interface Row {
	/** The name for `--only`. */
	name: string;
	/** What is measured. */
	what: string;
	/** What it is compared with, measured in the same run; empty without a reference. */
	reference: string;
	unit: "s" | "ms" | "requests/s" | "changes/s" | "MB";
	goal: (layers: number) => Goal;
	/** The number of rounds, if it differs from that of `--rounds`. */
	rounds?: number;
	/** Whether the row is only measured at the first number of layers. */
	isOnce?: boolean;
	/** Prepares everything that is not timed. */
	prepare: (world: World) => Promise<Pair>;
}

/** The two sides of a row. Each is measured once per round, ours first; without a reference there is one side. */
export interface Pair {
	ours: (round: number) => Promise<number>;
	reference?: (round: number) => Promise<number>;
}

/** The highest number of layers that the bounds of the design point are for. */
export const designLayers = 20_000;

/** The quantile of some figures: `part` 0 is the minimum, 0.5 the median, 1 the maximum. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

/** Measures a row: in each round ours, then the reference. @returns the row's two cells of the table */
export async function measure(
	row: Row,
	world: World,
	rounds: number,
): Promise<[figures: string, goal: string]> {
	const pair = await row.prepare(world);
	const [ours, reference]: [number[], number[]] = [[], []];
	for (let round = 0; round < Math.min(rounds, row.rounds ?? rounds); round += 1) {
		ours.push(await pair.ours(round));
		if (pair.reference) reference.push(await pair.reference(round));
	}
	const { of, most = Infinity, least = -Infinity } = row.goal(world.layers);
	// Of the ratios of each round, not the ratio of the medians.
	const ratios = reference.map((figure, round) => (ours[round] as number) / figure);
	const median = quantile(of === "ours" ? ours : ratios, 0.5);
	const mark = (text: string) => (median <= most && median >= least ? text : `**${text}**`);
	const figure = `${rangeOf(ours)} ${row.unit}`;
	const bound = `${most === Infinity ? `≥ ${least}` : `≤ ${most}`}${of === "ours" ? ` ${row.unit}` : ""}`;
	if (!pair.reference) return [mark(figure), bound];
	const [left, right] = of === "ours" ? [mark(figure), rangeOf(ratios)] : [figure, mark(rangeOf(ratios))];
	return [`${left} ÷ ${rangeOf(reference)} = ${right}`, bound];
}

/** The median, and the range if it differs: `1.2 (1.1–1.4)`. */
function rangeOf(figures: readonly number[]): string {
	const [min, median, max] = [0, 0.5, 1].map((part) => short(quantile(figures, part)));
	return min === max ? String(median) : `${median} (${min}–${max})`;
}

/** A figure with three significant digits. */
function short(figure: number): string {
	return Math.abs(figure) >= 100
		? Math.round(figure).toLocaleString("en")
		: String(Number(figure.toPrecision(figure < 10 ? 2 : 3)));
}
