import { maxAddressLength } from "../registry/addresses.ts";
import { code } from "../registry/markdown.ts";

export interface Links {
	/** Address of a line of a file at the head; null: files are named only. */
	file: (path: string, line: number) => string | null;
	/** Address of an owner's page, such as of `@organisation/team`. */
	owner: (name: string) => string | null;
}

export const noLinks: Links = { file: () => null, owner: () => null };

/**
 * Links into a repository of GitHub.
 * @param web `https://github.com`
 * @param repository `owner/name`
 * @param head id of the reviewed commit; that of a fork's pull request can be read in the base's repository
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

/** A part of an address, with everything escaped that Markdown could interpret. */
function escaped(text: string): string {
	// A lone surrogate has no percent-encoding.
	const whole = text.replace(/\p{Cs}/gu, "\ufffd");
	return encodeURIComponent(whole).replace(/[!'()*~]/g, (character) => {
		return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	});
}

/** A foreign text as plain text, which links to an address of ours where there is one. */
export function linked(text: string, address: string | null): string {
	return address === null ? code(text) : `[${code(text)}](${address})`;
}

/**
 * The address of a service as it may be in Markdown: of a registration that has been checked, so http or https and
 * without credentials; what Markdown could read is percent-encoded.
 * @returns null for any other
 */
export function safeAddress(address: string): string | null {
	// Length first: a URL parser takes long for a long host.
	if (address.length > maxAddressLength || !/^https?:\/\//i.test(address) || !URL.canParse(address))
		return null;
	const { href, username, password } = new URL(address);
	if (username !== "" || password !== "" || href.length > maxAddressLength) return null;
	return href.replace(/[^A-Za-z0-9./:?#=&%+,;_-]/g, escaped);
}
