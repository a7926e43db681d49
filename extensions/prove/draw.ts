import { decode } from "fast-png";
import type { Browser, Page, Route } from "playwright-core";
import type { Lang } from "../../registry/smallkey.ts";
import { type Cause, type CauseCode, causeOf } from "../../site/data/health.ts";
import { FetchFailure } from "../harvest/net/failure.ts";

export interface DrawResult {
	/** Absent if a part of the layer is visible. */
	cause?: Cause;
	/** WebP; null if nothing is visible. */
	picture: Uint8Array | null;
}

export interface DrawOptions {
	browser: Browser;
	/** Ends with a slash. */
	site: string;
	/** Guarded; answers the page's requests to map services. */
	fetch: typeof fetch;
}

/** The page's map takes all of the window's width. */
const windowSize = { width: 640, height: 900 };

/** Pixels. */
const pictureWidth = 240;
const maxPictureBytes = 12_000;

const qualities = [80, 60, 40, 20, 5];

/** The page itself waits 10 s for a service. */
const maxStepMs = 40_000;

/** Some calls into a page that hangs have no time limit. */
const maxDrawMs = 5 * maxStepMs;

/** Many layers are drawn at large scales only. */
const maxZooms = 2;

const clicksPerZoom = 3;

/** @throws {Error} if the browser fails, or the page hangs */
export async function drawLayer(options: DrawOptions, smallkey: string, lang: Lang): Promise<DrawResult> {
	const hangs = new Promise<never>((_, reject) =>
		AbortSignal.timeout(maxDrawMs).addEventListener("abort", () =>
			reject(new Error(`The page did not answer within ${maxDrawMs / 1000} s.`)),
		),
	);
	return Promise.race([draw(options, smallkey, lang), hangs]);
}

async function draw(options: DrawOptions, smallkey: string, lang: Lang): Promise<DrawResult> {
	const { browser, site } = options;
	const context = await browser.newContext({
		viewport: windowSize,
		reducedMotion: "reduce",
		colorScheme: "light",
		locale: `${lang}-CA`,
		serviceWorkers: "block",
	});
	try {
		const network = new Network(options.fetch);
		await context.route(
			(url) => /^https?:$/.test(url.protocol) && !url.href.startsWith(site),
			(route) => network.answer(route),
		);
		const page = await context.newPage();
		page.setDefaultTimeout(maxStepMs);
		await page.goto(`${site}${lang}/?layer=${encodeURIComponent(smallkey)}`);
		await waitUntilDrawn(page);
		await setVisibility(page, ".zoom, .ol-attribution, .ol-overlaycontainer", "hidden");
		return await inspectMap(page, network);
	} finally {
		await context.close();
	}
}

const mapSelector = ".map[data-state]";

/** Waits until the map is drawn or has failed, or the page says why it has no map. */
async function waitUntilDrawn(page: Page) {
	const ended = '.map[data-state="drawn"], .map[data-state="failed"], .mapplace .warning, .layerhead a';
	await page.locator(ended).first().waitFor({ state: "attached" });
}

async function inspectMap(page: Page, network: Network): Promise<DrawResult> {
	const map = page.locator(mapSelector);
	if ((await map.count()) === 0) return { cause: causeOf("not-drawable"), picture: null };
	for (let zooms = 0; ; zooms += 1) {
		const { state, code, detail } = await map.evaluate((element) => ({
			...(element as HTMLElement).dataset,
		}));
		if (state === "drawn" && (await isVisible(page))) return { picture: await takePicture(page) };
		if (state !== "drawn" || zooms === maxZooms) {
			const causeOnMap = causeOf((code || "nothing") as CauseCode, ...(detail ? [detail] : []));
			// A page cannot know why it may not read an answer.
			const cause = (code === "unreachable" && network.lastFault()) || causeOnMap;
			return { cause, picture: null };
		}
		await zoomIn(page);
	}
}

/** Uses the page's button for the layer's scales, if there is one. */
async function zoomIn(page: Page) {
	const offer = page.locator(".maphelp button");
	if (await offer.isVisible()) await offer.dispatchEvent("click");
	else
		for (let click = 0; click < clicksPerZoom; click += 1)
			await page.locator(".zoom button").first().dispatchEvent("click");
	// The map requests a new view when it draws its next frame.
	await page.evaluate(
		() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
	);
	await waitUntilDrawn(page);
}

async function setVisibility(page: Page, selector: string, visibility: "visible" | "hidden") {
	await page.locator(selector).evaluateAll((elements, value) => {
		for (const element of elements) (element as HTMLElement).style.visibility = value;
	}, visibility);
}

/** Whether the map with the layer differs from the map without it. */
async function isVisible(page: Page) {
	let withLayer = await stableScreenshot(page, "visible");
	for (let tries = 1; ; tries += 1) {
		if (!areDifferent(withLayer, await stableScreenshot(page, "hidden"))) return false;
		// The background may differ, if it has only now loaded.
		const again = await stableScreenshot(page, "visible");
		if (again.equals(withLayer) || tries === maxPictures) return true;
		withLayer = again;
	}
}

function areDifferent(a: Buffer, b: Buffer) {
	const [{ data }, { data: others }] = [decode(a), decode(b)];
	return data.some((value, at) => Math.abs(value - (others[at] ?? 0)) > 3);
}

/** The page loads symbols after features, so two equal screenshots are awaited. */
const maxPictures = 10;

async function stableScreenshot(page: Page, visibility: "visible" | "hidden"): Promise<Buffer> {
	await setVisibility(page, ".drawnlayer", visibility);
	let last = await page.locator(mapSelector).screenshot();
	for (let taken = 1; taken < maxPictures; taken += 1) {
		const next = await page.locator(mapSelector).screenshot();
		if (next.equals(last)) return next;
		last = next;
	}
	return last;
}

/** Null if the picture cannot be made small enough. */
async function takePicture(page: Page): Promise<Uint8Array | null> {
	const box = await page.locator(mapSelector).evaluate((element) => {
		const { x, y, width, height } = element.getBoundingClientRect();
		return { x: x + window.scrollX, y: y + window.scrollY, width, height };
	});
	const clip = { ...box, scale: pictureWidth / box.width };
	const session = await page.context().newCDPSession(page);
	for (const quality of qualities) {
		const settings = { format: "webp", quality, clip, captureBeyondViewport: true } as const;
		const { data } = await session.send("Page.captureScreenshot", settings);
		const bytes = Buffer.from(data, "base64");
		if (bytes.length <= maxPictureBytes) return bytes;
	}
	return null;
}

/** An origin of no page. Without the header, Playwright would let every page read the answer. */
const unreadable = "https://none.invalid";

/** Answers a page's requests. If a picture fails to load, the page requests it again as a text. */
class Network {
	#fault: Cause | null = null;
	#pictureFault: Cause | null = null;

	constructor(readonly fetch: DrawOptions["fetch"]) {}

	/** A picture's fault comes first: after it, the page may request the service's document. */
	lastFault(): Cause | null {
		return this.#pictureFault ?? this.#fault;
	}

	async answer(route: Route): Promise<void> {
		const request = route.request();
		if (request.method() !== "GET") return route.abort("blockedbyclient");
		const isPicture = request.resourceType() === "image";
		const noteFault = (fault: Cause | null) => {
			this.#fault = fault;
			if (isPicture) this.#pictureFault = fault;
		};
		try {
			const response = await this.fetch(request.url());
			const type = response.headers.get("Content-Type") ?? "";
			const origin = response.headers.get("Access-Control-Allow-Origin") ?? unreadable;
			const body = Buffer.from(await response.arrayBuffer());
			noteFault(faultOf(response, isPicture && !type.startsWith("image/"), origin));
			const headers = { "Content-Type": type, "Access-Control-Allow-Origin": origin };
			await route.fulfill({ status: response.status, headers, body });
		} catch (error) {
			// A request that the guarded fetch refuses fails in the page too.
			noteFault(error instanceof FetchFailure ? error.what : null);
			await route.abort("failed").catch(() => undefined);
		}
	}
}

function faultOf({ ok, status }: Response, isNoPicture: boolean, origin: string): Cause | null {
	if (!ok) return causeOf("status", status);
	if (isNoPicture) return causeOf("no-picture");
	return origin === "*" ? null : causeOf("cors");
}
