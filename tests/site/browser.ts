import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decode } from "fast-png";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import * as assert from "uvu/assert";
import { browserPath, openBrowser as openOwn } from "../../extensions/prove/browser.ts";
import { root } from "../helpers/process.ts";
import { skip, type Test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { sharedSuite, type Use } from "../helpers/world.ts";

export const executable = browserPath;

let browser: Promise<Browser> | undefined;

export async function openBrowser(): Promise<Browser> {
	browser ??= openOwn();
	const shared = await browser;
	return new Proxy(shared, {
		get: (target, name) => {
			if (name === "close" || name === Symbol.asyncDispose)
				return () => Promise.all(target.contexts().map((context) => context.close()));
			const value = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

interface Window {
	browser: Browser;
	page: Page;
	context: BrowserContext;
	faults: string[];
}

function isLeft({ message }: Error) {
	return message.startsWith("Failed to fetch dynamically imported module");
}

export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Window> {
	const usual = { viewport: { width: 1_200, height: 900 }, locale: "en-CA" };
	const context = await browser.newContext({ reducedMotion: "reduce", ...usual, ...options });
	// Far more than a slow machine needs: the error of a wait that hangs names what it waited for.
	context.setDefaultTimeout(300_000);
	const page = await context.newPage();
	const faults: string[] = [];
	// Leaving a page ends its imports with an error; a script that is missing is a fault.
	page.on("pageerror", (error) => isLeft(error) || faults.push(String(error)));
	page.on("response", (response) => {
		const isScript = response.request().resourceType() === "script";
		if (isScript && response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
	});
	page.on("console", (message) => {
		if (/Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text());
	});
	return { browser, page, context, faults };
}

/** Waits for a colour at a share of the map's width and height. */
export async function assertColour(
	page: Page,
	x: number,
	y: number,
	colour: readonly [number, number, number],
	not = false,
) {
	const map = page.locator(".map").first();
	await eventually(async () => {
		// A draft replaces its map with each change.
		const box = await map.scrollIntoViewIfNeeded().then(
			() => map.boundingBox(),
			() => null,
		);
		if (!box) return false;
		// A picture of that place alone: the whole element takes a hundred times as long to compress.
		const [left = 0, top = 0] = [box.x + x * (box.width - 1), box.y + y * (box.height - 1)].map(Math.round);
		const { data } = decode(await page.screenshot({ clip: { x: left, y: top, width: 1, height: 1 } }));
		return colour.every((value, at) => Math.abs(value - (data[at] ?? 0)) <= 24) !== not;
	});
}

interface Violation {
	id: string;
	impact: string;
	nodes: { html: string; failureSummary: string }[];
}

/** What axe-core finds, by the rules of WCAG 2.2 AA and its own of good practice. */
export async function barriers(page: Page, options: object = {}) {
	if (!(await page.evaluate("'axe' in globalThis")))
		await page.evaluate(await readFile(join(root, "node_modules/axe-core/axe.min.js"), "utf8"));
	// The size of targets is a rule of WCAG 2.2, which axe-core checks only on request.
	const rules = { "target-size": { enabled: true } };
	const all = JSON.stringify({ iframes: false, resultTypes: ["violations"], rules, ...options });
	const violations = (await page.evaluate(
		`axe.run(document, ${all}).then(({ violations }) => violations)`,
	)) as Violation[];
	const serious = violations.filter(({ impact }) => impact !== "minor");
	return serious.flatMap(({ id, nodes }) =>
		nodes.map(({ html, failureSummary }) => `${id}: ${html}\n  ${failureSummary}`),
	);
}

/** A suite whose tests share a window, and fail on an error in its page. */
export function pageSuite<T extends object>(
	name: string,
	open: (use: Use) => T | Promise<T>,
): Test<T & Window> {
	const test = sharedSuite<T & Window>(name, async (use) => {
		const browser = use(await openBrowser());
		return { ...(await open(use)), ...(await openWindow(browser)) };
	});
	test.after.each(async ({ page, faults }) => {
		await page.unrouteAll();
		// Two addresses that differ in what follows `#` alone are one page.
		await page.goto("about:blank");
		assert.equal(faults.splice(0), []);
	});
	const { run } = test;
	const skipped = () => skip("browsers: there is no Chromium (Debian: apt-get install chromium)");
	return Object.assign(test, { run: executable || process.env.CI ? run : skipped });
}

export async function isDrawn(page: Page, state: "drawn" | "failed" = "drawn") {
	await page.locator(`.map[data-state="${state}"]`).waitFor();
}

export async function sees(page: Page, text: string) {
	await page.getByText(text, { exact: true }).waitFor();
}
