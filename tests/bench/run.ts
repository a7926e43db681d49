// npm run bench: measures the service and the build, each figure against a reference, and prints the table of docs/speed.md.
// With --beside URL: measures ours and another running service in turn (see beside.ts).
import { parseArgs } from "node:util";
import { rowsBeside } from "./beside.ts";
import { type Row, rows } from "./rows.ts";
import { quantile, rangeOf, World } from "./world.ts";

const { values } = parseArgs({
	options: {
		only: { type: "string" },
		layers: { type: "string", default: "20000,100000" },
		rounds: { type: "string", default: "3" },
		beside: { type: "string" },
	},
});
const all = values.beside === undefined ? rows : rowsBeside(values.beside);
const names = values.only?.split(",") ?? all.map(({ name }) => name);
const unknown = names.filter((name) => !all.some((row) => row.name === name));
if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join()}`);
const sizes = values.layers.split(",").map(Number);

/** The highest number of layers that the bounds of the design point are for. */
const designLayers = 20_000;

/** Measures a row: in each round ours, then the reference. @returns its figures and its goal; a goal that is missed is bold */
async function measure({ goal = "–", largeGoal = goal, unit, ...row }: Row, world: World): Promise<string[]> {
	const measureRound = await row.prepare(world);
	const figures: [ours: number, reference?: number][] = [];
	for (let round = 0; round < (row.isSlow ? 1 : Number(values.rounds)); round += 1)
		figures.push(await measureRound(round));
	const ours = figures.map(([figure]) => figure);
	const references = figures.flatMap(([, figure]) => figure ?? []);
	// Of the ratios of each round, not the ratio of the medians.
	const ratios = references.map((figure, round) => (ours[round] as number) / figure);
	const bound = world.count <= designLayers ? goal : largeGoal;
	const [sign, limit, ofOurs] = bound.split(" ");
	const median = quantile(ofOurs ? ours : ratios, 0.5);
	const isMet = sign === "≥" ? median >= Number(limit) : !(median > Number(limit));
	const mark = (text: string, isBound: boolean) => (isMet || !isBound ? text : `**${text}**`);
	const figure = mark(`${rangeOf(ours)} ${unit}`, ofOurs !== undefined);
	if (references.length === 0) return [figure, bound];
	return [`${figure} ÷ ${rangeOf(references)} = ${mark(rangeOf(ratios), ofOurs === undefined)}`, bound];
}

const lines = all
	.filter(({ name }) => names.includes(name))
	.map((row) => ({ row, cells: [`\`${row.name}\`: ${row.what}`, row.reference ?? ""] }));
for (const [at, size] of sizes.entries()) {
	const world = await World.open(size);
	const end = () => void world.close().finally(() => process.exit(1));
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
	for (const { row, cells } of lines) {
		const measuring = at > 0 && row.isOnce ? Promise.resolve(["–", "–"]) : measure(row, world);
		const result = await measuring.catch((error: Error) => {
			process.exitCode = 1;
			return [`failed: ${error.message.split("\n", 1)[0]}`, "–"];
		});
		cells.push(...result);
	}
	await world.close();
	for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
}

const heads = sizes.map((size) => `${size.toLocaleString("en")} layers: ours ÷ reference = ratio | goal`);
console.log(["row", "reference", ...heads].join(" | "));
console.log(`---|---${"|---|---".repeat(sizes.length)}`);
for (const { cells } of lines) console.log(cells.join(" | "));
