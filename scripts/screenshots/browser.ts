import { accessSync } from "node:fs";

/** Where Debian and others put the browser; first the one without a window, which takes half the processor time. */
export const browserPlaces = [
	"/usr/bin/chromium-headless-shell",
	"/usr/bin/chromium",
	"/usr/bin/chromium-browser",
	"/usr/bin/google-chrome",
];

/** Path of a Chromium; undefined where there is none. */
export const browserPath = browserPlaces.find((place) => {
	try {
		accessSync(place);
		return true;
	} catch {
		return false;
	}
});

/** How a browser is started that reaches this machine and nothing else: no name is resolved. */
export function browserArguments(): string[] {
	const offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
	return process.getuid?.() === 0 ? [offline, "--no-sandbox"] : [offline];
}
