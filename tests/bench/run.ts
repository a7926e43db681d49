// npm run bench: measures the service and the build, each figure against a reference, and prints the table of docs/speed.md.
// With --beside URL: measures ours and another running service in turn (see beside.ts).
import { parseArgs } from "node:util";
import { rowsBeside } from "./beside.ts";
import { type Row, rows } from "./rows.ts";
import { World } from "./world.ts";

/** With three significant digits; from 100 on whole. */
function short(figure: number) {
	return figure >= 100
		? Math.round(figure).toLocaleString("en")
		: String(Number(figure.toPrecision(figure < 10 ? 2 : 3)));
}

/** @returns the figures and the goal; a goal that is missed is bold */
async function resultOf({ goal = "–", unit, measure }: Row, world: World) {
	const [ours, reference] = await measure(world);
	const [sign, limit, ofOurs] = goal.split(" ");
	const ratio = ours / (reference ?? Number.NaN);
	const bound = ofOurs ? ours : ratio;
	const isMet = sign === "≥" ? bound >= Number(limit) : !(bound > Number(limit));
	const mark = (text: string, isBound: boolean) => (isMet || !isBound ? text : `**${text}**`);
	const figure = mark(`${short(ours)} ${unit}`, ofOurs !== undefined);
	if (reference === undefined) return `${figure} | ${goal}`;
	return `${figure} ÷ ${short(reference)} = ${mark(short(ratio), ofOurs === undefined)} | ${goal}`;
}

async function main() {
	const { values } = parseArgs({
		options: {
			only: { type: "string" },
			layers: { type: "string", default: "20000" },
			beside: { type: "string" },
			help: { type: "boolean" },
		},
	});
	const { beside, only } = values;
	const all = beside === undefined || values.help ? rows : rowsBeside(beside);
	const names = all.map(({ name }) => name);
	if (values.help)
		return console.log(
			`npm run bench -- [--layers N] [--beside URL] [--only ROW,…]; rows: ${names.join(" ")}`,
		);
	const chosen = only?.split(",") ?? names;
	const unknown = chosen.filter((name) => !names.includes(name));
	if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join()}`);
	const world = new World(Number(values.layers));
	for (const signal of ["SIGINT", "SIGTERM"])
		process.once(signal, () => void world.close().finally(() => process.exit(1)));
	console.log(
		`row | reference | ${world.count.toLocaleString("en")} layers: ours ÷ reference = ratio | goal`,
	);
	console.log("---|---|---|---");
	try {
		for (const row of all.filter(({ name }) => chosen.includes(name))) {
			const result = await resultOf(row, world).catch((error: Error) => {
				// All rows need the other service.
				if (beside !== undefined) throw error;
				process.exitCode = 1;
				return `failed: ${firstLine(error)} | –`;
			});
			console.log(`\`${row.name}\`: ${row.what} | ${row.reference ?? ""} | ${result}`);
		}
	} finally {
		await world.close();
	}
}

function firstLine({ message }: Error) {
	return message.split("\n", 1)[0] ?? "";
}

await main().catch((error: Error) => {
	console.error(firstLine(error));
	process.exitCode = 1;
});
