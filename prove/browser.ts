import { accessSync } from "node:fs";

/** Paths of the browser on Debian and other systems; the headless one first, which takes half the processor time. */
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

/** Arguments for a browser that reaches only this machine: it resolves no names. */
export function browserArguments(): string[] {
	const offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
	return process.getuid?.() === 0 ? [offline, "--no-sandbox"] : [offline];
}

/** What to do where there is no browser. */
export const missingBrowser =
	"there is no Chromium: install it (Debian: apt-get install chromium-headless-shell; Ubuntu: Google Chrome)";
