import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../process.ts";
import { faultRow, type SeenFault, type SeenLoss } from "./table.mjs";

/**
 * Notes what became of a fault: for `npm run test:faults` in the folder `FAULT_ROWS`, which makes the table of them;
 * else it has to be what docs/reliability.md says of it.
 */
export function noteFault(fault: SeenFault): void {
	const folder = process.env.FAULT_ROWS;
	if (folder === undefined) {
		const table = readFileSync(join(root, "docs/reliability.md"), "utf8");
		const row = faultRow(fault, [fault.fault]);
		// Faults of which the same was seen share a row.
		const isThere = table.split("\n").some((line) => {
			const [faults = ""] = line.slice(2).split(" | ", 1);
			return faults.split("; ").includes(fault.fault) && line.replace(faults, () => fault.fault) === row;
		});
		assert.ok(isThere, `docs/reliability.md must have: ${row}`);
		return;
	}
	write(folder, `${fault.section}-${fault.fault}`, fault);
}

/** Notes a loss for `npm run test:faults`; in another run its time has no meaning. */
export function noteLoss(loss: SeenLoss): void {
	if (process.env.FAULT_ROWS !== undefined) write(process.env.FAULT_ROWS, loss.loss, loss);
}

function write(folder: string, name: string, seen: SeenFault | SeenLoss): void {
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, `${name.replace(/[^a-z0-9]+/gi, "-")}.json`), JSON.stringify(seen));
}
