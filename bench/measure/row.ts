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
	/** The goal of the figure: the ratio of ours to the reference, or ours alone. */
	reach: Reach;
	/** Prepares everything that is not timed. */
	prepare: (world: World) => Promise<Pair>;
}

/** A bound on the median of the ratio; or of our own figure, if the reference is there for comparison only. */
export interface Reach {
	of: "ratio" | "ours";
	most?: number;
	least?: number;
}

/** The two sides of a row. Each is measured once per round, ours first. */
export interface Pair {
	ours: () => Promise<number>;
	reference: () => Promise<number>;
	/** Closes what `World.clear` does not, such as a browser. */
	close?: () => Promise<void>;
}

/** Minimum, median and maximum of some figures. */
export interface Spread {
	min: number;
	median: number;
	max: number;
}

/** A row that was measured. */
export interface Measured extends Omit<Row, "prepare" | "ours" | "reference"> {
	what: { ours: string; reference: string };
	ours: Spread;
	reference: Spread;
	/** Ratios of ours to the reference in each round (not the ratio of the medians); null if the reference is 0. */
	ratio: Spread | null;
	reached: boolean;
}

/** The quantile of some figures: `part` 0 is the minimum, 0.5 the median, 1 the maximum. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

function spreadOf(figures: readonly number[]): Spread {
	return { min: quantile(figures, 0), median: quantile(figures, 0.5), max: quantile(figures, 1) };
}

/** Measures a row: in each round ours, then the reference. */
export async function measure(row: Row, world: World, rounds: number): Promise<Measured> {
	const pair = await row.prepare(world);
	const ours: number[] = [];
	const reference: number[] = [];
	try {
		for (let round = 0; round < rounds; round += 1) {
			ours.push(await pair.ours());
			reference.push(await pair.reference());
		}
	} finally {
		await pair.close?.();
		await world.clear();
	}
	const ratios = ours.map((figure, round) => figure / (reference[round] as number));
	const ratio = ratios.every(Number.isFinite) ? spreadOf(ratios) : null;
	const judged = row.reach.of === "ours" ? spreadOf(ours) : ratio;
	const { name, unit, reach } = row;
	return {
		name,
		unit,
		reach,
		what: { ours: row.ours, reference: row.reference },
		ours: spreadOf(ours),
		reference: spreadOf(reference),
		ratio,
		reached: judged !== null && keeps(judged.median, reach),
	};
}

function keeps(figure: number, { most = Infinity, least = -Infinity }: Reach): boolean {
	return figure <= most && figure >= least;
}

/** The text above the rows, in Markdown. */
export function tableHead(layers: number, rounds: number): string {
	const setting = `${layers} layers, ${rounds} rounds, ${availableParallelism()} cores, Node ${process.versions.node}`;
	const head = "| row | what | reference | ours | reference | ratio | to reach | reached |";
	return `${setting}; min – median – max\n\n${head}\n|---|---|---|---|---|---|---|---|`;
}

/** A measured row as a line of the table. */
export function lineOf({ name, what, unit, ours, reference, ratio, reach, reached }: Measured): string {
	const cells = [
		name,
		what.ours,
		what.reference,
		`${spread(ours)} ${unit}`,
		`${spread(reference)} ${unit}`,
		ratio ? spread(ratio) : "–",
		reachText(reach, unit),
		reached ? "yes" : "no",
	];
	return `| ${cells.join(" | ")} |`;
}

function spread({ min, median, max }: Spread): string {
	return `${short(min)} – ${short(median)} – ${short(max)}`;
}

/** A figure with three significant digits. */
function short(figure: number): string {
	return Math.abs(figure) >= 100 ? String(Math.round(figure)) : String(Number(figure.toPrecision(3)));
}

function reachText({ of, most, least }: Reach, unit: string): string {
	const bound = most === undefined ? `at least ${least}` : `at most ${most}`;
	return of === "ours" ? `${bound} ${unit}` : bound;
}
