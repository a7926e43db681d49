// npx fragment-publisher bench: measures the service and the build, each figure against a reference (docs/speed.md)
import { writeFile } from "node:fs/promises";
import { createRun, parseCount } from "../../scripts/terminal/command-line.ts";
import { buildRows } from "./builds.ts";
import { catalogueRows } from "./catalogue.ts";
import { lineOf, type Measured, measure, type Row } from "./measure/row.ts";
import { openWorld } from "./measure/world.ts";
import { speedPage } from "./page.ts";
import { readRows } from "./reads.ts";
import { pushRows, serviceRows } from "./service.ts";
import { besideRows, writeRows } from "./writes.ts";

/** In the order in which they are measured: the service that has got the push ends before its start is measured. */
const rows: Row[] = [
	...[...buildRows, ...pushRows, ...readRows, ...writeRows, ...besideRows],
	...[...serviceRows, ...catalogueRows],
];

function rowsNamed(only: string | undefined, beside: string | undefined): Row[] {
	if (only === undefined) return rows.filter((row) => beside !== undefined || !besideRows.includes(row));
	return only.split(",").map((name) => {
		const row = rows.find((row) => row.name === name);
		if (!row) throw new Error(`--only: ${name} is no row`);
		return row;
	});
}

/** Parses numbers with commas, each from 1: `20000,100000`. */
function parseSizes(text: string): number[] {
	return text.split(",").map((size) => parseCount(size));
}

export const run = createRun("bench", async ({ read, io }) => {
	const [{ only, beside, layers, rounds, json, page }] = await read((line) =>
		line
			.option("--only <names>", `these rows, with commas: ${rows.map(({ name }) => name).join(" ")}`)
			.option("--beside <checkout>", "the first release, with its packages, for the rows beside it")
			.option("--layers <numbers>", "registered layers, with commas", parseSizes, [20_000, 100_000])
			.option("--rounds <n>", "rounds of each row, ours and the reference alternately", parseCount, 3)
			.option("--page <file>", "write docs/speed.md")
			.option("--json", "one JSON document instead of lines"),
	);
	const chosen = rowsNamed(only, beside);
	const measured: Measured[] = [];
	const failures: string[] = [];
	for (const [at, size] of layers.entries()) {
		const world = await openWorld(size, beside ?? null);
		const end = () => void world.close().finally(() => process.exit(1));
		for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
		try {
			for (const row of chosen.filter(({ isOnce }) => at === 0 || !isOnce)) {
				try {
					const result = await measure(row, world, rounds);
					measured.push(result);
					if (!json) io.print(lineOf(result));
				} catch (error) {
					failures.push(`${row.name}, ${size} layers: ${(error as Error).message}`);
				}
			}
		} finally {
			await world.close();
			for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
		}
	}
	if (json) io.print(JSON.stringify({ rounds, rows: measured }, null, "\t"));
	if (page !== undefined) await writeFile(page, speedPage(measured, layers));
	if (failures.length > 0) throw new Error(failures.join("\n"));
});
