// npm run bench: measures the service and the build, each figure against a reference, and prints the table of docs/speed.md.
// With --beside URL: measures ours and another running service in turn (see beside.ts).
import { parseArgs } from "node:util";
import { measureBeside } from "./beside.ts";
import { type Row, rows } from "./rows.ts";
import { openWorld, quantile, rangeOf, type World } from "./world.ts";

const { values } = parseArgs({
	options: {
		only: { type: "string", default: rows.map(({ name }) => name).join() },
		layers: { type: "string", default: "20000,100000" },
		rounds: { type: "string", default: "3" },
		beside: { type: "string" },
	},
});
const names = values.only.split(",");
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join()}`);
const sizes = values.layers.split(",").map(Number);
if (values.beside !== undefined) {
	await measureBeside(values.beside, sizes, Number(values.rounds));
	process.exit();
}
const cells = new Map<string, string[]>();

/** Measures a row: in each round ours, then the reference. @returns its figures and its goal; a goal that is missed is bold */
async function measure(row: Row, world: World): Promise<string[]> {
	const measureRound = await row.prepare(world);
	const rounds = row.isSlow ? 1 : Number(values.rounds);
	const figures: [ours: number, reference?: number][] = [];
	for (let round = 0; round < rounds; round += 1) figures.push(await measureRound(round));
	const ours = figures.map(([figure]) => figure);
	const references = figures.flatMap(([, figure]) => figure ?? []);
	// Of the ratios of each round, not the ratio of the medians.
	const ratios = references.map((figure, round) => (ours[round] as number) / figure);
	const { of, most = Infinity, least = -Infinity } = row.goal(world.layers);
	const median = quantile(of === "ours" ? ours : ratios, 0.5);
	const mark = (text: string) => (median <= most && median >= least ? text : `**${text}**`);
	const figure = `${rangeOf(ours)} ${row.unit}`;
	const bound = `${most === Infinity ? `≥ ${least}` : `≤ ${most}`}${of === "ours" ? ` ${row.unit}` : ""}`;
	if (references.length === 0) return [mark(figure), bound];
	const [left, right] = of === "ours" ? [mark(figure), rangeOf(ratios)] : [figure, mark(rangeOf(ratios))];
	return [`${left} ÷ ${rangeOf(references)} = ${right}`, bound];
}

for (const [at, size] of sizes.entries()) {
	const world = await openWorld(size);
	const end = () => void world.close().finally(() => process.exit(1));
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
	for (const row of rows.filter(({ name }) => names.includes(name))) {
		const measuring = at > 0 && row.isOnce ? Promise.resolve(["–", "–"]) : measure(row, world);
		const result = await measuring.catch((error: Error) => {
			process.exitCode = 1;
			return [`failed: ${error.message.split("\n", 1)[0]}`, "–"];
		});
		cells.set(row.name, [...(cells.get(row.name) ?? []), ...result]);
	}
	await world.close();
	for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
}

const heads = sizes.flatMap((size) => [
	`${size.toLocaleString("en")} layers: ours ÷ reference = ratio`,
	"goal",
]);
const head = ["row", "reference", ...heads];
const lines = rows.flatMap(({ name, what, reference = "" }) => {
	const figures = cells.get(name);
	return figures ? [[`\`${name}\`: ${what}`, reference, ...figures]] : [];
});
console.log(
	[head.join(" | "), head.map(() => "---").join("|"), ...lines.map((line) => line.join(" | "))].join("\n"),
);
