import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { openBrowser } from "../../extensions/prove/browser.ts";
import { serveFolder } from "../../extensions/prove/commands/prove.ts";
import { indexFiles } from "../../site/data/files.ts";
import { buildSite } from "../../site/data/site.ts";
import { plainOptions } from "../site/data/pages.ts";
import { generateCatalogue } from "../site/search/catalogue.ts";
import { secondsOf, type World } from "./world.ts";

/** Slow 3G: bytes per second in each direction, and milliseconds before each answer. */
const slow3g = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 400 };

/** Opens the catalogue in a browser with an empty cache. @returns the seconds until the first row appears */
export async function secondsToRows(world: World) {
	const index = indexFiles(generateCatalogue(world.count), "a".repeat(40)).files;
	const dist = world.path("pages");
	for (const [path, content] of [...(await buildSite(plainOptions, true)).files, ...index]) {
		if (content === null) continue;
		await mkdir(dirname(join(dist, path)), { recursive: true });
		await writeFile(join(dist, path), content);
		await writeFile(join(dist, `${path}.gz`), gzipSync(content));
	}
	const browser = await openBrowser();
	world.endLater(() => browser.close());
	const { address, close } = await serveFolder(dist);
	world.endLater(close);
	const page = await browser.newPage();
	const session = await page.context().newCDPSession(page);
	await session.send("Network.enable");
	await session.send("Network.emulateNetworkConditions", slow3g);
	return secondsOf(async () => {
		await page.goto(`${address}en/`, { waitUntil: "commit" });
		await page.locator(".results li").first().waitFor();
	});
}
