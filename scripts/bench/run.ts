// npx fragments bench: measures the service and the build, each figure against a reference (docs/speed.md)
import { createRun, parseCount } from "../../system/terminal/command-line.ts";
import { buildRows } from "./builds.ts";
import { catalogueRows } from "./catalogue.ts";
import { lineOf, measure, type Row, tableHead } from "./measure/row.ts";
import { openWorld } from "./measure/world.ts";
import { readRows } from "./reads.ts";
import { pushRows, serviceRows } from "./service.ts";
import { besideRows, writeRows } from "./writes.ts";

const rows: Row[] = [...buildRows, ...readRows, ...writeRows, ...pushRows, ...serviceRows, ...catalogueRows];

function rowsNamed(only: string | undefined, beside: string | undefined): Row[] {
	if (only === undefined) return beside === undefined ? rows : besideRows;
	return only.split(",").map((name) => {
		const row = [...rows, ...besideRows].find((row) => row.name === name);
		if (!row) throw new Error(`--only: ${name} is no row`);
		return row;
	});
}

export const run = createRun("bench", async ({ read, io }) => {
	const [{ only, beside, layers, rounds, json }] = await read((line) =>
		line
			.option("--only <names>", `these rows, with commas: ${rows.map(({ name }) => name).join(" ")}`)
			.option(
				"--beside <checkout>",
				`another version, with its packages: ${besideRows.map(({ name }) => name).join(" ")}`,
			)
			.option("--layers <n>", "registered layers", parseCount, 100_000)
			.option("--rounds <n>", "rounds of each row, ours and the reference alternately", parseCount, 5)
			.option("--json", "one JSON document instead of a table"),
	);
	const chosen = rowsNamed(only, beside);
	const world = await openWorld(layers, beside ?? null);
	for (const signal of ["SIGINT", "SIGTERM"])
		process.once(signal, () => world.close().finally(() => process.exit(1)));
	const measured = [];
	try {
		if (!json) io.print(tableHead(world.layers, rounds));
		for (const row of chosen) {
			const result = await measure(row, world, rounds);
			measured.push(result);
			if (!json) io.print(lineOf(result));
		}
	} finally {
		await world.close();
	}
	if (json) io.print(JSON.stringify({ layers: world.layers, rounds, rows: measured }, null, "\t"));
});
