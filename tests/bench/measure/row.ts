import type { World } from "./world.ts";

/** A goal: a bound on the median of the ratio, or of our own figure if the reference is for comparison only. */
export interface Reach {
	of: "ratio" | "ours";
	most?: number;
	least?: number;
}

/** One line of the table: what is measured, the reference, and the goal. */
export interface Row {
	/** The name for `--only`. */
	name: string;
	/** What is measured, as the table says it. */
	ours: string;
	/** What it is compared with, measured in the same run. */
	reference: string;
	unit: "s" | "ms" | "µs" | "requests/s" | "changes/s" | "MB" | "kB" | "";
	/** The goal for a number of layers. */
	reach: (layers: number) => Reach;
	/** The number of rounds, if it differs from that of `--rounds`. */
	rounds?: number;
	/** Whether the row is only measured at the first number of layers. */
	isOnce?: boolean;
	/** Prepares everything that is not timed. */
	prepare: (world: World) => Promise<Pair>;
}

/** The two sides of a row. Each is measured once per round, ours first; a reference of 0 is none. */
export type Pair = Record<"ours" | "reference", (round: number) => Promise<number>>;

/** The highest number of layers that the bounds of the design point are for. */
export const designLayers = 20_000;

/** A row that was measured. */
export type Measured = Awaited<ReturnType<typeof measure>>;

type Spread = ReturnType<typeof spreadOf>;

/** The quantile of some figures: `part` 0 is the minimum, 0.5 the median, 1 the maximum. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

function spreadOf(figures: readonly number[]) {
	return { min: quantile(figures, 0), median: quantile(figures, 0.5), max: quantile(figures, 1) };
}

/** Measures a row: in each round ours, then the reference. */
export async function measure(row: Row, world: World, rounds: number) {
	const ours: number[] = [];
	const reference: number[] = [];
	const pair = await row.prepare(world);
	for (let round = 0; round < Math.min(rounds, row.rounds ?? rounds); round += 1) {
		ours.push(await pair.ours(round));
		reference.push(await pair.reference(round));
	}
	const { name, unit } = row;
	const reach = row.reach(world.layers);
	const { of, most = Infinity, least = -Infinity } = reach;
	const ratios = ours.map((figure, round) => figure / (reference[round] as number));
	/** Of the ratios of each round, not the ratio of the medians; null if the reference is 0. */
	const ratio = ratios.every(Number.isFinite) ? spreadOf(ratios) : null;
	const { median } = (of === "ours" ? spreadOf(ours) : ratio) ?? { median: NaN };
	const what = { ours: row.ours, reference: row.reference };
	const spreads = { ours: spreadOf(ours), reference: spreadOf(reference), ratio };
	return {
		name,
		layers: world.layers,
		unit,
		reach,
		what,
		...spreads,
		reached: median <= most && median >= least,
	};
}

/** A row in one line, as it is printed once it is measured. */
export function lineOf({ name, layers, unit, ours, reference, ratio, reach, reached }: Measured): string {
	const sides = `${rangeOf(ours)} ${unit}${ratio ? ` ÷ ${rangeOf(reference)} ${unit} = ${rangeOf(ratio)}` : ""}`;
	return `${name}, ${layers} layers: ${sides}; goal: ${boundOf(reach, unit)}${reached ? "" : ": missed"}`;
}

/** `≤ 3`, `≥ 0.9`, `≤ 330 MB` */
export function boundOf({ of, most, least }: Reach, unit: string): string {
	const bound = most === undefined ? `≥ ${least}` : `≤ ${most}`;
	return of === "ours" ? `${bound} ${unit}` : bound;
}

/** The median, and the range if it differs: `1.2 (1.1–1.4)`. */
export function rangeOf({ min, median, max }: Spread): string {
	const texts = [min, median, max].map(short);
	return texts[0] === texts[2] ? (texts[1] as string) : `${texts[1]} (${texts[0]}–${texts[2]})`;
}

/** A figure with three significant digits. */
export function short(figure: number): string {
	return Math.abs(figure) >= 100
		? Math.round(figure).toLocaleString("en")
		: String(Number(figure.toPrecision(figure < 10 ? 2 : 3)));
}
