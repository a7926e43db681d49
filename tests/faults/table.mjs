const faultSections = /** @type {const} */ ({
	disk: "The disk",
	repository: "The repository",
	derived: "What is derived from it",
	processes: "Processes",
	power: "Power",
	connections: "Connections",
});

/**
 * A fault and what was seen of it: what was broken, what readers got during and after it, what publishers or pushers got.
 * @typedef {{ section: keyof typeof faultSections, fault: string, reader: string, publisher: string }} SeenFault
 */

/** One row of the table, in Markdown. @param faults those of which all this was seen */
function faultRow(/** @type {SeenFault} */ { reader, publisher }, /** @type {string[]} */ faults) {
	const cells = [[...faults].sort().join("; "), reader, publisher];
	return cells.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ");
}

/** The rows of some faults, sorted; faults of which the same was seen share one. */
function faultRows(/** @type {readonly SeenFault[]} */ faults) {
	/** @type {Map<string, string[]>} */
	const names = new Map();
	for (const one of faults)
		names.set(faultRow(one, []), [...(names.get(faultRow(one, [])) ?? []), one.fault]);
	return [...new Set(faults.map((one) => faultRow(one, names.get(faultRow(one, [])) ?? [])))].sort();
}

/**
 * A loss and the return from it: what happened, what was lost of what had been acknowledged, and how long it took until reads
 * and writes worked again, in milliseconds.
 * @typedef {{ loss: string, lost: string, milliseconds: number }} SeenLoss
 */

/** Bounds of times on the page, in seconds: a time itself would differ with each run. */
const bounds = [10, 30, 60, 120, 300, 600];

function lossRow(/** @type {SeenLoss} */ { loss, lost, milliseconds }) {
	const bound = bounds.find((seconds) => milliseconds <= seconds * 1000);
	return `${loss} | ${lost} | ${bound === undefined ? "more than 10 minutes" : `${bound} s at most`}`;
}

const lossHead = "what happened | lost (RPO) | back after (RTO)\n---|---|---\n";

/**
 * The page of all faults and losses, independent of the order of observation. What is before its first table stays.
 * @param {string} page
 * @param {readonly (SeenFault | SeenLoss)[]} seen
 */
export function faultsPage(page, seen) {
	const [introduction] = page.split(lossHead);
	const faults = seen.filter((one) => "fault" in one);
	const losses = seen.filter((one) => "loss" in one).map(lossRow);
	const sections = Object.entries(faultSections).map(([section, heading]) => {
		const rows = faultRows(faults.filter((fault) => fault.section === section));
		return `\n## ${heading}\n\nfault | readers | publishers\n---|---|---\n${rows.join("\n")}\n`;
	});
	return `${introduction}${lossHead}${losses.sort().join("\n")}\n${sections.join("")}`;
}
