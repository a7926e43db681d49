/** A label of issues and pull requests, as GitHub keeps it. */
export interface Label {
	name: string;
	/** Six hex digits. */
	color: string;
	description: string;
}

/** What a pull request changes; a pull request has each of them that fits. */
export const kindLabels = {
	layer: { name: "layer", color: "0e8a16", description: "Adds or changes layers" },
	removal: { name: "removal", color: "d93f0b", description: "Removes layers" },
	code: { name: "code", color: "5319e7", description: "Changes files outside layers/" },
} as const satisfies Record<string, Label>;

/** All labels that are used. */
export const labels = {
	...kindLabels,
	service: { name: "service", color: "1d76db", description: "Opened by the service or its workflows" },
} as const satisfies Record<string, Label>;
