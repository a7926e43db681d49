/**
 * What the pages may load: scripts and styles of their own only, none of them inline; pictures, queries and frames of
 * map services.
 * @param isSecure whether the pages are served over https only. A browser asks nothing over http from there anyway; a
 * page that is tried over http may ask services that have nothing else.
 */
export function contentPolicy(isSecure: boolean): string {
	const services = isSecure ? "https:" : "https: http:";
	return [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		`img-src 'self' data: blob: ${services}`,
		`connect-src 'self' ${services}`,
		`frame-src ${services}`,
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
}
