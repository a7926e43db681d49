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
	return `| ${loss} | ${lost} | ${bound === undefined ? "more than 10 minutes" : `${bound} s at most`} |`;
}

const lossHead = `## Loss and return

Played with 1,000 layers and one publisher. The time begins with the first command, and ends when a layer is read and a \`PUT\` is 201; it
does not include the time to notice the loss, and to bring a copy from elsewhere. Backups by a timer each night lose a day at
most, and a standby that fetches each minute a minute. Publishers have the receipts of what is lost, and send it again.

| what happened | lost of what was acknowledged (RPO) | back after (RTO) |
|---|---|---|
`;

const introduction = `# Reliability

What happens when something breaks. \`npm run test:faults\` causes each fault in a running service, or before a start, and writes
this page from what it saw: the answer to a reader, the answer to a publisher, and the lines of the log. In no case was a
change lost that had been acknowledged with a 201 or 204, except where the disk itself was lost; each is checked after the fault
and after a restart. Faults of a full, read-only or detached disk need a machine that allows \`mount\`.

- **Reads** are served from memory, from the last good state, in every fault of the disk, git or the repository.
- **Writes** get 503 with a reason and \`Retry-After\` while they cannot be stored, and work again without a restart.
- **A start** repairs what it can and says so. Otherwise it ends with an error that says what to do, and changes nothing.

\`DATA_DIR\` and ids replace the real ones.
`;

/** The page of all faults and losses, independent of the order of observation. */
export function faultsPage(/** @type {readonly (SeenFault | SeenLoss)[]} */ seen) {
	const faults = seen.filter((one) => "fault" in one);
	const losses = seen.filter((one) => "loss" in one).map(lossRow);
	const sections = Object.entries(faultSections).map(([section, heading]) => {
		const rows = faults.filter((fault) => fault.section === section).map(faultRow);
		const head = ["| fault | a reader saw | a publisher heard | the log said |", "|---|---|---|---|"];
		return `## ${heading}\n\n${[...head, ...rows.sort()].join("\n")}\n`;
	});
	return [introduction, `${lossHead}${losses.sort().join("\n")}\n`, ...sections].join("\n");
}
