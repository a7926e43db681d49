/**
 * The pages' Content-Security-Policy: scripts and styles of the site only, none inline; images, requests and frames from
 * any map service.
 * @param isSecure whether the pages are served over https only; otherwise services over http are allowed, too
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
