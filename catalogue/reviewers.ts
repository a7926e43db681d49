import { type Health, healthPath, parseHealth } from "../registry/health.ts";
import type { LayerFile } from "../registry/judge.ts";
import { ownersOf, ownersPath, parseOwners } from "../registry/owners.ts";
import { layerPath } from "../registry/smallkey.ts";
import type { OwnersOf } from "./health.ts";

/** The files that belong to reviewers, as the catalogue needs them. */
export interface Reviewers {
	health: Health;
	/** Empty where there is no list of owners that is in order. */
	owners: OwnersOf;
}

/** Reads them. @param files some of the layers' files */
export function readReviewers(files: readonly LayerFile[]): Reviewers {
	const { owners } = parseOwners(Buffer.from(contentOf(files, ownersPath) ?? ""));
	return {
		health: parseHealth(contentOf(files, healthPath)),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []),
	};
}

function contentOf(files: readonly LayerFile[], path: string): string | null {
	const file = files.find((one) => one.path === path && one.kind === "file");
	return file ? Buffer.from(file.bytes).toString("utf8") : null;
}
