import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { folderPages } from "../../site/http/folder-pages.ts";

/** Paths of the browser on Debian and other systems; the headless one first, which needs half the processor time. */
export const browserPlaces = [
	"/usr/bin/chromium-headless-shell",
	"/usr/bin/chromium",
	"/usr/bin/chromium-browser",
	"/usr/bin/google-chrome",
];

/** Path of the first Chromium found; undefined if there is none. */
export const browserPath = browserPlaces.find((place) => existsSync(place));

/**
 * The path of the browser.
 * @param given that of the setting `BROWSER_PATH`; empty for one of the usual places
 * @throws {Error} that says what to install, if it does not exist
 */
export function needBrowser(given = ""): string {
	if (given !== "" && !existsSync(given)) throw new Error(`BROWSER_PATH: there is no file ${given}`);
	const path = given || browserPath;
	if (path !== undefined) return path;
	const how = "install it (Debian: apt-get install chromium-headless-shell; Ubuntu: Google Chrome)";
	throw new Error(`there is no Chromium: ${how}, or name it in BROWSER_PATH`);
}

const limitedBrowser = fileURLToPath(new URL("limited-browser.sh", import.meta.url));

/**
 * What a browser is started with whose processes have a limit of memory, and that reaches only this machine, since it
 * resolves no names.
 * @throws {Error} like `needBrowser`
 */
function launchOptions(given: string) {
	const env = { ...process.env, BROWSER_FILE: needBrowser(given) };
	const executablePath = limitedBrowser;
	const offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
	const args = process.getuid?.() === 0 ? [offline, "--no-sandbox"] : [offline];
	// With its own handlers Playwright ends this process at Ctrl-C, before anything is written.
	return { executablePath, env, args, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
}

/** Starts a browser. @throws {Error} like `needBrowser`, and if its driver is not installed */
export async function openBrowser(given = ""): Promise<Browser> {
	const options = launchOptions(given);
	const { chromium } = await import("playwright-core").catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
		throw new Error(`the package playwright-core is missing: npm install --no-save ${driverPackage()}`);
	});
	return chromium.launch(options);
}

/** The browser's driver of 14 MB, which only this command needs, in the version that it was tried with. */
function driverPackage(): string {
	const { devDependencies } = JSON.parse(
		readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
	);
	return `playwright-core@${devDependencies["playwright-core"]}`;
}

/** Serves a build on this machine, on a free port. @returns its address, with a slash at its end */
export async function serveFolder(dist: string): Promise<{ address: string; close: () => void }> {
	const files = folderPages(dist, false);
	const server = createServer(async (request, response) => {
		const path = new URL(request.url ?? "", "http://host").pathname.slice(1);
		const file = path === "" || path.endsWith("/") ? `${path}index.html` : decodeURIComponent(path);
		const wanted = { file, root: "/" };
		const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
		const { status, headers, body } = await files.answer(wanted, { ifNoneMatch: null, acceptEncoding });
		response.writeHead(status, headers).end(body);
	});
	await once(server.listen(0, "127.0.0.1"), "listening");
	const { port } = server.address() as AddressInfo;
	return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
