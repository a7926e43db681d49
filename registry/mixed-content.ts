/**
 * Whether browsers keep the pages of a site from asking an address: it is http, and the site is https (W3C, "Mixed Content", 4).
 * @param site address of the site; empty if unknown: a public site is https
 */
export function isBlockedOn(site: string, address: string): boolean {
	if (!/^http:/i.test(address) || /^http:/i.test(site)) return false;
	return URL.canParse(address) && !isLoopback(new URL(address).hostname);
}

/** Browsers allow an https page to use http on its own machine (W3C, "Secure Contexts", 3.1). */
function isLoopback(host: string): boolean {
	return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
