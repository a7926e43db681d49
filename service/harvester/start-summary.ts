import type { HarvestLine } from "./commit.ts";

/** What was harvested at a start, in one line of the log. */
export interface StartLine {
	/** How many layers were asked for. */
	harvested: number;
	changed: number;
	unchanged: number;
	dropped: number;
	failed: number;
	/** How many of them have findings. */
	findings: number;
	/** Where the findings of each can be read. */
	read: string;
}

/** Gathers the lines of the layers that a start asks for. */
export interface StartSummary {
	/** A layer is asked for because of the start. */
	add(smallkey: string): void;
	/** A layer has a line of its own, or none: it was registered anew, or is gone. */
	remove(smallkey: string): void;
	/** All layers are added. */
	close(): void;
	/** Takes the line of a layer of the start; false where the layer is none. */
	take(line: HarvestLine): boolean;
}

/** Most layers in one line: where a start asks for very many, it is heard of meanwhile. */
const maxLayers = 1000;

/**
 * Makes the summary of one start: one line for all of its layers, so that what the start itself says stays in view.
 * @param read where the findings of each layer can be read
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
