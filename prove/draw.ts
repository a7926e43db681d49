import { decode } from "fast-png";
import type { Browser, Page, Route } from "playwright-core";
import type { Lang } from "../registry/smallkey.ts";

/** What was seen of a layer in one language. */
export interface Drawn {
	/** Whether something of the layer could be seen. */
	isDrawn: boolean;
	/** Number of features in the first view; left out for pictures. */
	features?: number;
	/** Share of the map that the layer colours, from 0 to 1. */
	share: number;
	/** Until the map had ended drawing, in milliseconds. */
	ms: number;
	/** What the page said of its map. */
	text: string;
	/** A small picture as WebP; null if there is nothing to be seen. */
	picture: Uint8Array | null;
}

/** What drawing needs. */
export interface DrawOptions {
	browser: Browser;
	/** Address of the catalogue, with a slash at its end. */
	site: string;
	/** The guarded fetch, by which the page asks map services. */
	fetch: typeof fetch;
}

/** Size of the browser's window; the page makes its map as wide as there is room. */
const windowSize = { width: 640, height: 900 };

/** Width of a picture, in pixels, and its most bytes. */
const pictureWidth = 240;
export const maxPictureBytes = 12_000;

/** Qualities of a picture that are tried one after the other. */
const qualities = [80, 60, 40, 20, 5];

/** How long the page may take to draw, in milliseconds: its own patience with a service is 10 s. */
const maxDrawMs = 40_000;

/** How often it is zoomed in where nothing is seen: many layers are drawn at large scales only. */
const maxZooms = 2;

/** Clicks of the button for one of these. */
const clicksPerZoom = 3;

/** Draws a layer on the catalogue's own map. A browser that fails throws. */
export async function drawLayer(options: DrawOptions, smallkey: string, lang: Lang): Promise<Drawn> {
	const { browser, site } = options;
	const context = await browser.newContext({
		viewport: windowSize,
		reducedMotion: "reduce",
		colorScheme: "light",
		locale: `${lang}-CA`,
		serviceWorkers: "block",
	});
	try {
		await context.route(
			(url) => /^https?:$/.test(url.protocol) && !url.href.startsWith(site),
			(route) => answer(route, options.fetch),
		);
		const page = await context.newPage();
		page.setDefaultTimeout(maxDrawMs);
		const start = performance.now();
		await page.goto(`${site}${lang}/?layer=${encodeURIComponent(smallkey)}`);
		await settled(page);
		const ms = Math.round(performance.now() - start);
		await hideButtons(page);
		return { ...(await look(page)), ms };
	} finally {
		await context.close();
	}
}

const mapSelector = ".map[data-state]";

/** Waits until the map has ended drawing, or the page says why it has none. */
async function settled(page: Page): Promise<void> {
	const ended = '.map[data-state="drawn"], .map[data-state="failed"], .mapplace .warning, .layerhead a';
	await page.locator(ended).first().waitFor({ state: "attached" });
}

/** Looks at the map, and nearer where there is nothing to be seen. */
async function look(page: Page): Promise<Omit<Drawn, "ms">> {
	const map = page.locator(mapSelector);
	const text =
		(await page
			.locator(".mapstatus, .mapplace .warning")
			.first()
			.textContent()
			.catch(() => "")) ?? "";
	if ((await map.count()) === 0) return { isDrawn: false, share: 0, text, picture: null };
	for (let zooms = 0; ; zooms += 1) {
		const { state, features } = await map.evaluate((element) => ({ ...(element as HTMLElement).dataset }));
		const share = state === "drawn" ? await colouredShare(page) : 0;
		const count = features === undefined ? {} : { features: Number(features) };
		const isDrawn = share > 0;
		if (isDrawn || state !== "drawn" || zooms === maxZooms)
			return { isDrawn, ...count, share, text, picture: isDrawn ? await takePicture(page) : null };
		await zoomIn(page);
	}
}

/** Goes nearer: to the scales at which the layer is drawn, where the page offers that. */
async function zoomIn(page: Page): Promise<void> {
	const offer = page.locator(".maphelp button");
	if (await offer.isVisible()) await offer.dispatchEvent("click");
	else
		for (let click = 0; click < clicksPerZoom; click += 1)
			await page.locator(".zoom button").first().dispatchEvent("click");
	await page.waitForLoadState("networkidle");
	await settled(page);
}

/** The buttons lie over the map, and would be in its pictures. */
async function hideButtons(page: Page): Promise<void> {
	await page.evaluate(() => {
		for (const element of document.querySelectorAll<HTMLElement>(".zoom, .ol-attribution"))
			element.style.visibility = "hidden";
	});
}

/** The share of the map that is other with the layer than without it. */
async function colouredShare(page: Page): Promise<number> {
	await setOpacity(page, 0);
	const without = decode(await still(page));
	await setOpacity(page, 100);
	const along = decode(await still(page));
	const { width, height, channels } = along;
	let other = 0;
	for (let at = 0; at < along.data.length; at += channels) {
		const isOther = [0, 1, 2].some(
			(part) => Math.abs((along.data[at + part] ?? 0) - (without.data[at + part] ?? 0)) > 3,
		);
		if (isOther) other += 1;
	}
	return Math.round((other / (width * height)) * 1e4) / 1e4;
}

async function setOpacity(page: Page, percent: number): Promise<void> {
	await page.locator(".opacity input").evaluate((input, value) => {
		(input as HTMLInputElement).value = String(value);
		input.dispatchEvent(new Event("input"));
	}, percent);
}

/** Most pictures until two are alike: symbols are read after their features. */
const maxPictures = 10;

/** A picture of the map that does not change any more. */
async function still(page: Page): Promise<Buffer> {
	let last = await page.locator(mapSelector).screenshot();
	for (let taken = 1; taken < maxPictures; taken += 1) {
		const next = await page.locator(mapSelector).screenshot();
		if (next.equals(last)) return next;
		last = next;
	}
	return last;
}

/** A small picture of the map as WebP; null if it cannot be made small enough. */
async function takePicture(page: Page): Promise<Uint8Array | null> {
	const box = await page.locator(mapSelector).boundingBox();
	if (!box) return null;
	const [left, top] = await page.evaluate(() => [window.scrollX, window.scrollY] as const);
	const clip = {
		...{ x: box.x + left, y: box.y + top, width: box.width, height: box.height },
		scale: pictureWidth / box.width,
	};
	const session = await page.context().newCDPSession(page);
	for (const quality of qualities) {
		const { data } = await session.send("Page.captureScreenshot", {
			format: "webp",
			quality,
			clip,
			captureBeyondViewport: true,
		});
		const bytes = Buffer.from(data, "base64");
		if (bytes.length <= maxPictureBytes) return bytes;
	}
	return null;
}

/** Says that no page may read an answer: without a header of that name, Playwright would let every page read it. */
const unreadable = "https://none.invalid";

/** Answers a request of the page by the guarded fetch: what it refuses, the page does not get. */
async function answer(route: Route, fetch: DrawOptions["fetch"]): Promise<void> {
	const request = route.request();
	if (request.method() !== "GET") return route.abort("blockedbyclient");
	try {
		const response = await fetch(request.url());
		const headers = {
			"Content-Type": response.headers.get("Content-Type") ?? "",
			"Access-Control-Allow-Origin": response.headers.get("Access-Control-Allow-Origin") ?? unreadable,
		};
		const body = Buffer.from(await response.arrayBuffer());
		await route.fulfill({ status: response.status, headers, body });
	} catch {
		// The page may have been closed meanwhile.
		await route.abort("failed").catch(() => undefined);
	}
}
