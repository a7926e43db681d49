// Writes the pages that come out of a whole run: docs/reliability.md of the faults, and the figures of docs/one-machine.md.
import { readFile, writeFile } from "node:fs/promises";
import { faultsPage } from "../faults/table.mjs";
import { withFigures } from "../installed/figures.mjs";

/** Writes a text where it differs. @returns the name of the page if it has changed */
async function replace(/** @type {string} */ page, /** @type {(old: string) => string} */ make) {
	const old = await readFile(page, "utf8");
	const text = make(old);
	if (text === old) return [];
	await writeFile(page, text);
	return [page];
}

/**
 * @param {readonly string[]} groups that have run whole
 * @param {readonly any[]} rows what their tests have noted
 * @param {number} passed
 * @returns the names of the pages that changed
 */
export async function writePages(groups, rows, passed) {
	const pages = [];
	if (groups.includes("faults"))
		pages.push(
			...(await replace("docs/reliability.md", () =>
				faultsPage(rows.filter((row) => "fault" in row || "loss" in row)),
			)),
		);
	if (groups.includes("installed"))
		pages.push(
			...(await replace("docs/one-machine.md", (old) =>
				withFigures(
					old,
					rows.filter((row) => "figure" in row).map(({ figure }) => figure),
					passed,
				),
			)),
		);
	return pages;
}
