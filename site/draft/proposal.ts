import { layerPath } from "../../registry/smallkey.ts";
import type { SiteSettings } from "../page/settings.ts";

/** Longest address that GitHub is given a file's content in, in characters. */
const maxLength = 7_500;

/** Where a draft is proposed as a pull request. */
export interface Proposal {
	address: string;
	/** Whether the file is filled in; a long one has to be pasted. */
	isWhole: boolean;
}

/**
 * GitHub's page of a new file with a registration as its content; null where there is no public repository.
 * @param text in the form that is stored; empty while it is not in order
 */
export function proposalOf(
	{ repository, branch }: SiteSettings,
	smallkey: string | null,
	text: string,
): Proposal | null {
	if (repository === "" || smallkey === null || text === "") return null;
	const parameters = new URLSearchParams({ filename: layerPath(smallkey) });
	const bare = `${repository}/new/${branch}?${parameters}`;
	parameters.set("value", text);
	const whole = `${repository}/new/${branch}?${parameters}`;
	return whole.length > maxLength ? { address: bare, isWhole: false } : { address: whole, isWhole: true };
}
