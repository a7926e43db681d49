import { decode } from "fast-png";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { browserPath, openBrowser as openOwn } from "../../scripts/host/prove/browser.ts";

/** How long a page is waited for, in milliseconds: a machine may be slow. */
const patienceMs = 120_000;

/** Path of a Chromium; undefined where there is none. */
export const executable = browserPath;

/** Connects to the one browser of a run; its `close` ends only what was opened by this connection. Without one, starts one. */
export async function openBrowser(): Promise<Browser> {
	const { BROWSER_ENDPOINT } = process.env;
	return BROWSER_ENDPOINT ? chromium.connect(BROWSER_ENDPOINT) : openOwn();
}

/** A window of its own, with what its console said. */
export interface Window {
	page: Page;
	context: BrowserContext;
	/** Errors of the page's own code, and what the Content-Security-Policy refused. */
	faults: string[];
}

/** What a window can be. */
export interface WindowOptions {
	width?: number;
	height?: number;
	dark?: boolean;
	javaScriptEnabled?: boolean;
	locale?: string;
	/** Whether scripts of the test may come in beside the page's policy. */
	bypassCSP?: boolean;
}

/** Opens a window without history or cache. */
export async function openWindow(browser: Browser, options: WindowOptions = {}): Promise<Window> {
	const { width = 1_200, height = 900, dark = false, javaScriptEnabled = true } = options;
	const { locale = "en-CA", bypassCSP = false } = options;
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme: dark ? "dark" : "light",
		reducedMotion: "reduce",
		javaScriptEnabled,
		locale,
		bypassCSP,
	});
	context.setDefaultTimeout(patienceMs);
	const page = await context.newPage();
	const faults: string[] = [];
	page.on("pageerror", (error) => faults.push(String(error)));
	page.on("console", (message) => {
		if (/Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text());
	});
	return { page, context, faults };
}

/** The colour of an element's picture at a share of its width and height: red, green, blue. */
export async function colourAt(page: Page, selector: string, x: number, y: number): Promise<number[]> {
	const { width, height, data, channels } = decode(await page.locator(selector).first().screenshot());
	const at = (Math.round(y * (height - 1)) * width + Math.round(x * (width - 1))) * channels;
	return [...data.slice(at, at + 3)];
}

/** Whether two colours are nearly the same: edges are smoothed, and pictures are scaled. */
export function isNear(
	colour: readonly number[],
	[red, green, blue]: readonly [number, number, number],
): boolean {
	const [r = 0, g = 0, b = 0] = colour;
	return Math.max(Math.abs(r - red), Math.abs(g - green), Math.abs(b - blue)) <= 24;
}
