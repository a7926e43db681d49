import type { Slot } from "./slots.ts";
import type { Table } from "./table.ts";

/** Which rendered files there are, and what they have to be in step with. */
export interface RenderedFiles {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	slots: readonly Slot[];
	/** What they have to be in step with. */
	table: Table;
}

/** Layers up to which this process writes, or compares, the files itself. */
export const mostHere = 1_000;
