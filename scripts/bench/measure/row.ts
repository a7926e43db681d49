import { availableParallelism } from "node:os";
import type { World } from "./world.ts";

/** One line of the table: what is measured, the reference, and the goal. */
export interface Row {
	/** The name for `--only`. */
	name: string;
	/** What is measured, as the table says it. */
	ours: string;
	/** What it is compared with, measured in the same run. */
	reference: string;
	unit: "s" | "ms" | "µs" | "requests/s" | "changes/s" | "MB" | "kB";
	/** The goal: a bound on the median of the ratio, or of our own figure if the reference is for comparison only. */
	reach: { of: "ratio" | "ours"; most?: number; least?: number };
	/** Prepares everything that is not timed. */
	prepare: (world: World) => Promise<Pair>;
}

/** The two sides of a row. Each is measured once per round, ours first. */
export type Pair = Record<"ours" | "reference", (round: number) => Promise<number>>;

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
	try {
		const pair = await row.prepare(world);
		for (let round = 0; round < rounds; round += 1) {
			ours.push(await pair.ours(round));
			reference.push(await pair.reference(round));
		}
	} finally {
		await world.clear();
	}
	const { name, unit, reach } = row;
	const { of, most = Infinity, least = -Infinity } = reach;
	const ratios = ours.map((figure, round) => figure / (reference[round] as number));
	/** Of the ratios of each round, not the ratio of the medians; null if the reference is 0. */
	const ratio = ratios.every(Number.isFinite) ? spreadOf(ratios) : null;
	const { median } = (of === "ours" ? spreadOf(ours) : ratio) ?? { median: NaN };
	const what = { ours: row.ours, reference: row.reference };
	const spreads = { ours: spreadOf(ours), reference: spreadOf(reference), ratio };
	return { name, unit, reach, what, ...spreads, reached: median <= most && median >= least };
}

/** The text above the rows, in Markdown. */
export function tableHead(layers: number, rounds: number): string {
	const setting = `${layers} layers, ${rounds} rounds, ${availableParallelism()} cores, Node ${process.versions.node}`;
	const head = "| row | what | reference | ours | reference | ratio | to reach | reached |";
	return `${setting}; min – median – max\n\n${head}\n|---|---|---|---|---|---|---|---|`;
}

/** A measured row as a line of the table. */
export function lineOf({ name, what, unit, ours, reference, ratio, reach, reached }: Measured): string {
	const bound = reach.most === undefined ? `at least ${reach.least}` : `at most ${reach.most}`;
	const cells = [
		...[name, what.ours, what.reference],
		...[`${textOf(ours)} ${unit}`, `${textOf(reference)} ${unit}`, ratio ? textOf(ratio) : "–"],
		...[reach.of === "ours" ? `${bound} ${unit}` : bound, reached ? "yes" : "no"],
	];
	return `| ${cells.join(" | ")} |`;
}

function textOf({ min, median, max }: Spread): string {
	return [min, median, max].map(short).join(" – ");
}

/** A figure with three significant digits. */
function short(figure: number): string {
	return Math.abs(figure) >= 100 ? String(Math.round(figure)) : String(Number(figure.toPrecision(3)));
}
