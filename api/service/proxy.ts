import type { Configuration } from "./settings.ts";

/**
 * Not undici's `EnvHttpProxyAgent` (6.29): its NO_PROXY `example.ca` does not exempt `maps.example.ca`, `::1`
 * exempts nothing without brackets, and it prints a warning (`UNDICI-EHPA`).
 * @param noProxy `*`, or addresses and names with their subdomains, separated by commas
 */
export function isExempt({ hostname }: URL, noProxy: string): boolean {
	const host = hostname.replace(/^\[|\]$/g, "");
	return noProxy
		.toLowerCase()
		.split(/[\s,]+/)
		.some((entry) => {
			const name = entry.replace(/^\*?\.|^\[|\]$/g, "");
			return entry === "*" || host === name || (name !== "" && host.endsWith(`.${name}`));
		});
}

/** By HTTPS_PROXY, unless NO_PROXY names the host. */
export function fetchFromGithub({ network: { httpsProxy, noProxy } }: Configuration): typeof fetch {
	if (httpsProxy === "") return fetch;
	const client = import("undici").then((undici) => {
		const dispatcher = new undici.ProxyAgent(httpsProxy);
		return (address: string, init: object) => undici.fetch(address, { ...init, dispatcher });
	});
	return async (input, init = {}) => {
		const address = String(input);
		if (isExempt(new URL(address), noProxy)) return fetch(address, init);
		const answer: unknown = await (await client)(address, init);
		return answer as Response;
	};
}
