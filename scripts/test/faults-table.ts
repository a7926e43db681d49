/** The sections of the table of faults with their headings, in order. */
export const faultSections = {
	disk: "The disk",
	repository: "The repository",
	derived: "What is derived from it",
	processes: "Processes",
	power: "Power",
	connections: "Connections",
} as const;

/** A fault and its observed effects. */
export interface SeenFault {
	section: keyof typeof faultSections;
	/** What was broken. */
	fault: string;
	/** What readers got during and after it. */
	reader: string;
	/** What publishers or pushers got. */
	publisher: string;
	/** The lines of the log, or the output of a refused start. */
	log: readonly string[];
}

/** One row of the table, in Markdown. */
export function faultRow({ fault, reader, publisher, log }: SeenFault): string {
	const said =
		log.length > 0 ? log.map((line) => `\`${line.replaceAll("`", "'")}\``).join("<br>") : "nothing";
	return `| ${[fault, reader, publisher, said].map(cell).join(" | ")} |`;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

const introduction = `# Reliability

What happens when something breaks. \`npm run test:faults\` breaks each of these on a running service, or before one
starts, and writes this page from what it saw: what a reader got, what a publisher heard, and what the log said. In
all of them, nothing that was acknowledged with a 201 or 204 was lost: each is checked after the fault and after a
restart. Where a disk has to be full, read-only or cut off, the machine must allow \`mount\`.

- **Reads** go on from memory, from the last good state, whatever happens to the disk, git or the repository.
- **Writes** are 503 with a reason and \`Retry-After\` while they cannot be stored, and go on by themselves.
- **A start** repairs what it can and says so, or is refused with the way out, and changes nothing.

\`DATA_DIR\` and ids stand for the real ones.
`;

/** The page of all faults, independent of the order of observation. */
export function faultsPage(faults: readonly SeenFault[]): string {
	const sections = Object.entries(faultSections).map(([section, heading]) => {
		const rows = faults.filter((fault) => fault.section === section).map(faultRow);
		const head = ["| fault | a reader saw | a publisher heard | the log said |", "|---|---|---|---|"];
		return `## ${heading}\n\n${[...head, ...rows.sort()].join("\n")}\n`;
	});
	return [introduction, ...sections].join("\n");
}
