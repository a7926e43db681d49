import { availableParallelism } from "node:os";
import type { Measured, Reach, Spread } from "./row.ts";

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
