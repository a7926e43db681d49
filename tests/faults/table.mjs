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
 * A fault and what was seen of it: what was broken, what readers got during and after it, what publishers or pushers got,
 * and the lines of the log or the output of a refused start.
 * @typedef {{ section: keyof typeof faultSections, fault: string, reader: string, publisher: string, log: readonly string[] }} SeenFault
 */

/** One row of the table, in Markdown. */
export function faultRow(/** @type {SeenFault} */ { fault, reader, publisher, log }) {
	const said =
		log.length > 0 ? log.map((line) => `\`${line.replaceAll("`", "'")}\``).join("<br>") : "nothing";
	const cells = [fault, reader, publisher, said].map((text) =>
		text.replaceAll("|", "\\|").replaceAll("\n", " "),
	);
	return `| ${cells.join(" | ")} |`;
}

const introduction = `# Reliability

What happens when something breaks. \`npm run test:faults\` causes each fault in a running service, or before a start, and writes
this page from what it saw: the answer to a reader, the answer to a publisher, and the lines of the log. In no case was a
change lost that had been acknowledged with a 201 or 204; each is checked after the fault and after a restart. Faults of a
full, read-only or detached disk need a machine that allows \`mount\`.

- **Reads** are served from memory, from the last good state, in every fault of the disk, git or the repository.
- **Writes** get 503 with a reason and \`Retry-After\` while they cannot be stored, and work again without a restart.
- **A start** repairs what it can and says so. Otherwise it ends with an error that says what to do, and changes nothing.

\`DATA_DIR\` and ids replace the real ones.
`;

/** The page of all faults, independent of the order of observation. */
export function faultsPage(/** @type {readonly SeenFault[]} */ faults) {
	const sections = Object.entries(faultSections).map(([section, heading]) => {
		const rows = faults.filter((fault) => fault.section === section).map(faultRow);
		const head = ["| fault | a reader saw | a publisher heard | the log said |", "|---|---|---|---|"];
		return `## ${heading}\n\n${[...head, ...rows.sort()].join("\n")}\n`;
	});
	return [introduction, ...sections].join("\n");
}
