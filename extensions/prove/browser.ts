import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import type { Variables } from "../../api/configuration.ts";

export function readProve(variables: Variables): { browser: string } {
	return { browser: variables.text("BROWSER_PATH", "") };
}

/** The headless one first, which needs half the processor time. */
const browserPlaces = [
	"/usr/bin/chromium-headless-shell",
	"/usr/bin/chromium",
	"/usr/bin/chromium-browser",
	"/usr/bin/google-chrome",
];

export const browserPath = browserPlaces.find((place) => existsSync(place));

/**
 * @param setting `BROWSER_PATH`; empty for one of the usual places
 * @throws {Error} that says what to install
 */
export function needBrowser(setting: string): string {
	if (setting !== "" && !existsSync(setting)) throw new Error(`BROWSER_PATH: there is no file ${setting}`);
	const path = setting || browserPath;
	if (path !== undefined) return path;
	const how = "install it (Debian: apt-get install chromium-headless-shell; Ubuntu: Google Chrome)";
	throw new Error(`there is no Chromium: ${how}, or name it in BROWSER_PATH`);
}

const limitedBrowser = fileURLToPath(new URL("limited-browser.sh", import.meta.url));

/**
 * The processes have a limit of memory, and reach only this machine, since they resolve no names.
 * @throws {Error} like `needBrowser`, and if the browser's driver is not installed
 */
export async function openBrowser(setting = ""): Promise<Browser> {
	const env = { ...process.env, BROWSER_FILE: needBrowser(setting) };
	const { chromium } = await import("playwright-core").catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
		// It has 14 MB, and only this command needs it.
		const project = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
		const driver = `playwright-core@${JSON.parse(project).devDependencies["playwright-core"]}`;
		throw new Error(`the package playwright-core is missing: npm install --no-save ${driver}`);
	});
	const offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
	const args = process.getuid?.() === 0 ? [offline, "--no-sandbox"] : [offline];
	// Playwright's own handlers end this process at Ctrl-C, before anything is written.
	const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
	return chromium.launch({ executablePath: limitedBrowser, env, args, ...signals });
}
