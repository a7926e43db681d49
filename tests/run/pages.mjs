// Writes the pages that come out of a whole run: docs/reliability.md of the faults, and the figures of docs/one-machine.md.
import { readFileSync, writeFileSync } from "node:fs";
import { faultsPage } from "../faults/table.mjs";

/** Around the lines of docs/one-machine.md that a run writes. */
const first = "<!-- written by npm run test:all -- installed -->\n";
const last = "<!-- end of what is written -->\n";

/**
 * The page with what a run has seen: the versions and counts that its scenes print, and how many scenes passed.
 * @param {string} page
 * @param {readonly string[]} figures lines such as `<scene>: <text>`, in any order
 * @param {number} passed
 * @throws {Error} if the page has no place for them
 */
function withFigures(page, figures, passed) {
	const [before, rest] = page.split(first);
	const after = rest?.split(last)[1];
	if (after === undefined) throw new Error(`the page has no place between ${first}and ${last}`);
	const lines = figures.map((line) => `- ${line}\n`).sort();
	return `${before}${first}\n- ${passed} scenes passed\n${lines.join("")}\n${last}${after}`;
}

/**
 * @param {readonly string[]} groups that have run whole
 * @param {readonly any[]} rows what their tests have noted
 * @param {number} passed
 * @returns the names of the pages that changed
 */
export function writePages(groups, rows, passed) {
	const figures = rows.flatMap(({ figure }) => figure ?? []);
	/** @type {Record<string, [page: string, make: (old: string) => string]>} */
	const pages = {
		faults: [
			"docs/reliability.md",
			(old) =>
				faultsPage(
					old,
					rows.filter((row) => "fault" in row || "loss" in row),
				),
		],
		installed: ["docs/one-machine.md", (old) => withFigures(old, figures, passed)],
	};
	return groups.flatMap((group) => {
		const [page, make] = pages[group] ?? [];
		if (!page || !make) return [];
		const old = readFileSync(page, "utf8");
		const text = make(old);
		if (text !== old) writeFileSync(page, text);
		return text === old ? [] : [page];
	});
}
