import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { buildOutput } from "../hosting/output.ts";
import { browserArguments, browserPath } from "../prove/browser.ts";
import { reportHtml, reportOf } from "../prove/report.ts";
import { runProofs } from "../prove/run.ts";
import { serveFolder } from "../prove/serve-folder.ts";
import { titlesOf } from "../scripts/prove.ts";
import { readLayers } from "../service/harvester/layers.ts";
import { processIo } from "../terminal/io.ts";
import { drawingNetwork } from "./prove/services.ts";
const out = "/tmp/wt-a-report";
await mkdir(out, { recursive: true });
const layers = await readLayers({ folder: "layers" }, [], processIo());
await buildOutput({ folder: "layers" }, join(out, "dist"), { SITE: "on" });
const site = await serveFolder(join(out, "dist"));
const host = (k: string) => new URL(layers.find((l) => l.smallkey === k)!.registration.en.service_url).host;
const openBrowser = () => chromium.launch({ executablePath: browserPath!, args: browserArguments() });
const base = { openBrowser, site: site.address, clock: () => performance.now(), layers, registered: new Set(layers.map((l) => l.smallkey)), folder: join(out, "pictures"), signal: new AbortController().signal };
await mkdir(base.folder, { recursive: true });
if (!process.env.ONLY) {
await runProofs({ ...base, fetch: drawingNetwork(), name: "a", now: new Date("2026-03-04T12:00:00Z") });
const fail = drawingNetwork({ [host("nhn")]: () => new Response("no", { status: 503 }), [host("drought")]: () => Response.json({ error: { code: 500, message: "x" } }, { headers: { "Access-Control-Allow-Origin": "*" } }) });
await runProofs({ ...base, layers: layers.filter((l) => [host("nhn"), host("drought")].includes(new URL(l.registration.en.service_url).host)), fetch: fail, name: "b", now: new Date("2026-03-11T12:00:00Z") });
}
const { readProofs } = await import("../prove/proofs.ts");
const titles = titlesOf(layers);
const report = reportOf(await readProofs(base.folder), titles);
for (const lang of ["en", "fr"] as const) await writeFile(join(base.folder, `report.${lang}.html`), reportHtml(report, titles, lang));
const browser = await openBrowser();
for (const lang of ["en", "fr"]) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
	await page.goto(`file://${base.folder}/report.${lang}.html`);
	await page.screenshot({ path: `/tmp/wt-a-report/${lang}.png`, fullPage: true });
	await page.setViewportSize({ width: 400, height: 900 });
	await page.screenshot({ path: `/tmp/wt-a-report/${lang}-small.png` });
}
await browser.close();
site.close();
