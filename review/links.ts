import { maxAddressLength } from "../registry/addresses.ts";
import { code } from "../registry/markdown.ts";

export interface Links {
	/** Address of a line of a file at the head; null if files are named without a link. */
	file: (path: string, line: number) => string | null;
	/** Address of an owner's page, such as of `@organisation/team`. */
	owner: (name: string) => string | null;
}

export const noLinks: Links = { file: () => null, owner: () => null };

/**
 * Links into a repository of GitHub.
 * @param web `https://github.com`
 * @param repository `owner/name`
 * @param head id of the reviewed commit; GitHub shows a fork's commit in the base's repository too
 */
export function linksInto(web: string, repository: string, head: string): Links {
	return {
		file: (path, line) =>
			`${web}/${repository}/blob/${head}/${path.split("/").map(escaped).join("/")}#L${line}`,
		owner: (name) => {
			const [, account = "", team] = /^@([^/]+)(?:\/(.+))?$/.exec(name) ?? [];
			if (account === "") return null;
			return team ? `${web}/orgs/${escaped(account)}/teams/${escaped(team)}` : `${web}/${escaped(account)}`;
		},
	};
}

/** Percent-encodes a part of an address, including all characters that Markdown could interpret. */
function escaped(text: string): string {
	// A lone surrogate has no percent-encoding.
	const whole = text.replace(/\p{Cs}/gu, "\ufffd");
	return encodeURIComponent(whole).replace(/[!'()*~]/g, (character) => {
		return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	});
}

/** Renders untrusted text as code, with a link if there is a (trusted) address. */
export function linked(text: string, address: string | null): string {
	return address === null ? code(text) : `[${code(text)}](${address})`;
}

/**
 * The address of a service for use in Markdown: characters that Markdown could interpret are percent-encoded.
 * @returns null if it is not http or https, has credentials, or is too long
 */
export function safeAddress(address: string): string | null {
	// The length is checked first: a URL parser needs much time for a long host.
	if (address.length > maxAddressLength || !/^https?:\/\//i.test(address) || !URL.canParse(address))
		return null;
	const { href, username, password } = new URL(address);
	if (username !== "" || password !== "" || href.length > maxAddressLength) return null;
	return href.replace(/[^A-Za-z0-9./:?#=&%+,;_-]/g, escaped);
}
