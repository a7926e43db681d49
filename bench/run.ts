// npm run bench [-- --only NAME,… --layers N --rounds N --json]: figures as ratios, each against a reference (docs/speed.md)
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { runCommand } from "../scripts/terminal/command-line.ts";
import { buildRows } from "./builds.ts";
import { eleventyRows } from "./eleventy.ts";
import { measure, type Row } from "./measure/row.ts";
import { lineOf, tableHead } from "./measure/table.ts";
import { World } from "./measure/world.ts";
import { readRows } from "./reads.ts";
import { serviceRows } from "./service.ts";
import { writeRows } from "./writes.ts";

const rows: Row[] = [...buildRows, ...eleventyRows, ...readRows, ...writeRows, ...serviceRows];

const usage = `npm run bench [-- --only NAME,… --layers N --rounds N --json]

  --only NAME,…  these rows: ${rows.map(({ name }) => name).join(" ")}
  --layers N     registered layers (100000)
  --rounds N     rounds of each row, ours and the reference in turn (5)
  --json         one JSON document instead of a table`;

const options = {
	only: { type: "string" },
	layers: { type: "string", default: "100000" },
	rounds: { type: "string", default: "5" },
	json: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const;

function rowsNamed(only: string | undefined): Row[] {
	if (only === undefined) return rows;
	return only.split(",").map((name) => {
		const row = rows.find((row) => row.name === name);
		if (!row) throw new Error(`--only: ${name} is no row\n${usage}`);
		return row;
	});
}

function positive(name: string, text: string): number {
	if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name}: must be a whole number from 1, not ${text}`);
	return Number(text);
}

await runCommand(async () => {
	const { values } = parseArgs({ options });
	if (values.help) {
		console.log(usage);
		return 0;
	}
	const chosen = rowsNamed(values.only);
	const rounds = positive("rounds", values.rounds);
	const world = await World.open(positive("layers", values.layers));
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
	process.once("exit", () => rmSync(world.folder, { recursive: true, force: true }));
	const measured = [];
	try {
		if (!values.json) console.log(tableHead(world.layers, rounds));
		for (const row of chosen) {
			const result = await measure(row, world, rounds);
			measured.push(result);
			if (!values.json) console.log(lineOf(result));
		}
	} finally {
		await world.close();
	}
	if (values.json) console.log(JSON.stringify({ layers: world.layers, rounds, rows: measured }, null, "\t"));
	return 0;
});
