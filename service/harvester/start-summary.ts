import type { HarvestLine } from "./commit.ts";

/** The summary of the harvests of a start, as a line of the log. */
export interface StartLine {
	/** Number of layers. */
	harvested: number;
	changed: number;
	unchanged: number;
	dropped: number;
	failed: number;
	/** How many have findings. */
	findings: number;
	/** The command that prints their findings. */
	read: string;
}

/** Collects the results of the layers that a start harvests. */
export interface StartSummary {
	/** Adds a layer of the start. */
	add(smallkey: string): void;
	/** Removes a layer, which was registered again or is gone. */
	remove(smallkey: string): void;
	/** Call after the last `add`. */
	close(): void;
	/** Adds the result of a layer; false where the layer is not one of the start. */
	take(line: HarvestLine): boolean;
}

/** Most layers of one summary, so that a long start logs its progress. */
const maxLayers = 1000;

/**
 * Makes the summary of one start, so that its layers do not flood the log.
 * @param read the command that prints a layer's findings
 */
export function createStartSummary(log: (line: StartLine) => void, read: string): StartSummary {
	const expected = new Set<string>();
	let isClosed = false;
	let line = emptyLine(read);

	function logWhenFull(): void {
		const isComplete = isClosed && expected.size === 0;
		if (line.harvested === 0 || (!isComplete && line.harvested < maxLayers)) return;
		log(line);
		line = emptyLine(read);
	}

	return {
		add(smallkey) {
			expected.add(smallkey);
		},
		remove(smallkey) {
			if (expected.delete(smallkey)) logWhenFull();
		},
		close() {
			isClosed = true;
			logWhenFull();
		},
		take({ harvest, outcome, findings }) {
			if (!expected.delete(harvest)) return false;
			line.harvested += 1;
			line[outcome] += 1;
			if (findings) line.findings += 1;
			logWhenFull();
			return true;
		},
	};
}

function emptyLine(read: string): StartLine {
	return { harvested: 0, changed: 0, unchanged: 0, dropped: 0, failed: 0, findings: 0, read };
}
