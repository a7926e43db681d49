// node --import tsx tests/screenshots/take.ts [--out DIR] [--only PATTERN]: screenshots of the catalogue with this checkout's layers: each page in both languages, three widths, light and dark, or those whose name fits, such as front-fr-320-dark
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { buildOutput } from "../../scripts/host/output.ts";
import { needBrowser, openBrowser, serveFolder } from "../../scripts/host/prove/browser.ts";

import { temporaryFolder } from "../helpers/world.ts";
import { answerAsMapService } from "./map-service.ts";

/** One picture: a page in one language, size and scheme. */
interface Picture {
	name: string;
	/** Address below the catalogue, and a selector that shows that the page is complete. */
	path: string;
	sign: string;
	width: number;
	height: number;
	dark: boolean;
	/** Whether the whole page is taken, or only its first screen. */
	whole: boolean;
}

/** Every page: its address below a language, and a selector that shows that it is complete. */
const pages: readonly [name: string, path: string, sign: string][] = [
	["front", "", ".results li"],
	["search", "?q=na", ".results li"],
	["none", "?q=zzzz", ".count strong"],
	["layer", "layer/nhn.html", '.map[data-state="drawn"]'],
	["missing", "?layer=zzzz", ".layerhead a"],
	["draft", "?page=draft", "#source"],
	["health", "health/index.html", "main h1"],
	["changes", "changes/index.html", "main h1"],
	["list", "../list/", "main li a"],
	["schemas", "../schemas/", "main dl"],
	["guide", "../guide/", "main h1"],
	["embed", "embed/nhn.html", '.map[data-state="drawn"]'],
	["absent", "layer/zzzz.html", "main a"],
];

/** Where a page is in French: static pages have folders of their own. */
function inFrench(path: string): string {
	return path.replace(/^\.\.\/(list|guide)\//, "../$1/fr/");
}

/** Every page in both languages, three widths, light and dark. */
function allPictures(): Picture[] {
	return (["en", "fr"] as const).flatMap((lang) =>
		[320, 768, 1_440].flatMap((width) =>
			[false, true].flatMap((dark) =>
				pages.map(([page, path, sign]) => ({
					name: [page, lang, width, dark ? "dark" : "light"].join("-"),
					...{
						path: `${lang}/${lang === "fr" ? inFrench(path) : path}`,
						sign,
						width,
						height: 900,
						dark,
						whole: true,
					},
				})),
			),
		),
	);
}

async function take(browser: Browser, address: string, picture: Picture, path: string): Promise<void> {
	const { width, height, dark, whole } = picture;
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme: dark ? "dark" : "light",
		reducedMotion: "reduce",
		locale: picture.path.startsWith("fr") ? "fr-CA" : "en-CA",
	});
	try {
		await context.route(
			(url) => !url.href.startsWith(address) && /^https?:$/.test(url.protocol),
			async (route) => {
				const headers = { "Access-Control-Allow-Origin": "*" };
				await route.fulfill({ ...answerAsMapService(new URL(route.request().url())), headers });
			},
		);
		const page = await context.newPage();
		await page.goto(address + picture.path);
		await page.locator(picture.sign).first().waitFor();
		await settled(page);
		await page.screenshot({ path, fullPage: whole });
	} finally {
		await context.close();
	}
}

/** Waits until all requests have ended. */
async function settled(page: Page): Promise<void> {
	await page.waitForLoadState("networkidle");
	await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

async function takeAll(pictures: readonly Picture[], out: string): Promise<void> {
	await using folder = await temporaryFolder();
	const dist = join(folder.path, "dist");
	const { problems } = await buildOutput({ folder: "layers" }, dist, { ...process.env, SITE: "on" });
	if (problems.length > 0) throw new Error(problems.join("\n"));
	const { address, close } = await serveFolder(dist);
	const browser = await openBrowser();
	try {
		await mkdir(out, { recursive: true });
		for (const picture of pictures) {
			const path = join(out, `${picture.name}.png`);
			await take(browser, address, picture, path);
			console.log(path);
		}
	} finally {
		await browser.close();
		close();
	}
}

const { values } = parseArgs({
	options: {
		/** Where the pictures go. */
		out: { type: "string", default: "screenshots" },
		/** A regular expression for the names of the pictures that are taken. */
		only: { type: "string", default: "" },
	},
});
needBrowser();
const only = new RegExp(values.only);
await takeAll(
	allPictures().filter(({ name }) => only.test(name)),
	resolve(values.out),
);
