// npm run bench: measures the service and the build, each figure against a reference, and prints the table of docs/speed.md
import { parseArgs } from "node:util";
import { buildRows } from "./builds.ts";
import { catalogueRows } from "./catalogue.ts";
import { readRows } from "./reads.ts";
import { measure, type Row } from "./rows.ts";
import { pushRows, startRows } from "./service.ts";
import { openWorld } from "./world.ts";
import { writeRows } from "./writes.ts";

/** In the order in which they are measured: the service that has got the push ends before its start is measured. */
const rows: Row[] = [buildRows, pushRows, readRows, writeRows, startRows, catalogueRows].flat();

const { values } = parseArgs({
	options: {
		only: { type: "string", default: rows.map(({ name }) => name).join() },
		layers: { type: "string", default: "20000,100000" },
		rounds: { type: "string", default: "3" },
	},
});
const names = values.only.split(",");
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join()}`);
const sizes = values.layers.split(",").map(Number);
const cells = new Map<string, string[]>();

for (const [at, size] of sizes.entries()) {
	const world = await openWorld(size);
	const end = () => void world.close().finally(() => process.exit(1));
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
	for (const row of rows.filter(({ name }) => names.includes(name))) {
		const isLeftOut = at > 0 && row.isOnce;
		const result = isLeftOut
			? ["–", "–"]
			: await measure(row, world, Number(values.rounds)).catch(noteFailure);
		cells.set(row.name, [...(cells.get(row.name) ?? []), ...result]);
	}
	await world.close();
	for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
}

function noteFailure(error: Error): string[] {
	process.exitCode = 1;
	return [`failed: ${error.message.split("\n", 1)[0]}`, "–"];
}

const heads = sizes.flatMap((size) => [
	`${size.toLocaleString("en")} layers: ours ÷ reference = ratio`,
	"goal",
]);
const lines = rows.flatMap(({ name, what, reference }) => {
	const figures = cells.get(name);
	return figures ? [[`\`${name}\``, what, reference, ...figures]] : [];
});
const head = ["row", "what", "reference", ...heads];
for (const line of [head, head.map(() => "---"), ...lines]) console.log(`| ${line.join(" | ")} |`);
