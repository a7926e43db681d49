import { type BrowserServer, chromium } from "playwright-core";
import { browserPath, launchOptions } from "../../scripts/host/prove/browser.ts";

/** Starts the browser that all page tests of a run use; null where there is none. The runner ends it. */
export async function startSharedBrowser(): Promise<BrowserServer | null> {
	if (browserPath === undefined) return null;
	const ownSignals = { handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false };
	return chromium.launchServer({ ...launchOptions(), ...ownSignals, host: "127.0.0.1" });
}
