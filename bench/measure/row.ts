import { availableParallelism } from "node:os";
import type { World } from "./world.ts";

/** One line of the table: what is measured, the reference, and the goal. */
export interface Row {
	/** What `--only` names. */
	name: string;
	/** What is measured, in the table's words. */
	ours: string;
	/** What it is measured against, in the same run. */
	reference: string;
	unit: "s" | "ms" | "µs" | "requests/s" | "changes/s" | "MB" | "kB";
	/** The goal of the figure: the ratio of ours to the reference, or ours alone. */
	reach: Reach;
	/** Makes everything that is not timed. */
	prepare: (world: World) => Promise<Pair>;
}

/** A bound on the median of the ratio, or of our own figure where the reference only gives the scale. */
export interface Reach {
	of: "ratio" | "ours";
	most?: number;
	least?: number;
}

/** The two sides of a row, each measured once a round, ours first. */
export interface Pair {
	ours: () => Promise<number>;
	reference: () => Promise<number>;
	/** Ends what the world does not. */
	close?: () => Promise<void>;
}

/** Least, middle and greatest of some figures. */
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
	/** Of ours to the reference in each round, not of the medians; null if the reference is 0. */
	ratio: Spread | null;
	reached: boolean;
}

/** The figure below which a part of at least one figure is. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

function spreadOf(figures: readonly number[]): Spread {
	return { min: quantile(figures, 0), median: quantile(figures, 0.5), max: quantile(figures, 1) };
}

/** Measures a row: `rounds` rounds, each of ours and then the reference. */
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

/** Three digits that count. */
function short(figure: number): string {
	return Math.abs(figure) >= 100 ? String(Math.round(figure)) : String(Number(figure.toPrecision(3)));
}

function reachText({ of, most, least }: Reach, unit: string): string {
	const bound = most === undefined ? `at least ${least}` : `at most ${most}`;
	return of === "ours" ? `${bound} ${unit}` : bound;
}
