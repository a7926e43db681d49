/** The sections of the table of faults with their headings, in order. */
export const faultSections = /** @type {const} */ ({
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

/** One row of the table of losses, in Markdown. */
export function lossRow(/** @type {SeenLoss} */ { loss, lost, milliseconds }) {
	const bound = bounds.find((seconds) => milliseconds <= seconds * 1000);
	return `${loss} | ${lost} | ${bound === undefined ? "more than 10 minutes" : `${bound} s at most`}`;
}

const lossHead = `## Loss and return

With 1,000 layers, until a layer is read and a \`PUT\` gets 201.

what happened | lost (RPO) | back after (RTO)
---|---|---
`;

const introduction = `# Reliability

\`npm run test:all -- faults\` causes each fault in a running service, or before a start, and writes this page. No acknowledged change was
lost, except with the disk itself.

- **Reads** are served from files, and from git where a file is missing or may be old: 200 is the last good state. After a power cut a
  web server in front has whole files once \`/readyz\` is \`ok\`.
- **Writes** get 503 and \`Retry-After\` while they cannot be stored, and work again without a restart. The log says why.
- **A start** repairs what it can and says so. Otherwise it ends with an error that says what to do, and changes nothing.

*Then* is after the loss is restored or the damage repaired.
`;

/** The page of all faults and losses, independent of the order of observation. */
export function faultsPage(/** @type {readonly (SeenFault | SeenLoss)[]} */ seen) {
	const faults = seen.filter((one) => "fault" in one);
	const losses = seen.filter((one) => "loss" in one).map(lossRow);
	const sections = Object.entries(faultSections).map(([section, heading]) => {
		const rows = faultRows(faults.filter((fault) => fault.section === section));
		const head = ["fault | readers | publishers", "---|---|---"];
		return `## ${heading}\n\n${[...head, ...rows].join("\n")}\n`;
	});
	return [introduction, `${lossHead}${losses.sort().join("\n")}\n`, ...sections].join("\n");
}
