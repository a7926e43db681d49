import { parseLayerPath } from "../registry/smallkey.ts";

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

/** A changed file of a pull request, as GitHub lists it. */
export interface ChangedFile {
	filename: string;
	status: string;
}

/**
 * The labels that fit a pull request.
 * @param isOwn whether it is of the service or its workflows
 */
export function fittingLabels(files: readonly ChangedFile[], isOwn: boolean): Set<string> {
	const fitting = new Set<string>();
	for (const { filename, status } of files) {
		const name = filename.startsWith("layers/") ? parseLayerPath(filename) : null;
		if (!filename.startsWith("layers/")) fitting.add(kindLabels.code.name);
		else if (name?.kind === "registration")
			fitting.add((status === "removed" ? kindLabels.removal : kindLabels.layer).name);
	}
	if (isOwn) fitting.add(labels.service.name);
	return fitting;
}
