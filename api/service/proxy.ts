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
