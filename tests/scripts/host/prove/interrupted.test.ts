import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import * as assert from "uvu/assert";
import { healthPath } from "../../../../registry/health.ts";
import { layerPath } from "../../../../registry/smallkey.ts";
import { browserPath } from "../../../../scripts/host/prove/browser.ts";
import { layerDocument } from "../../../harvest/arcgis-server.ts";
import { json, Peer, type Route } from "../../../harvest/peer.ts";
import { cleanEnvironment, exits, runScript, startWords } from "../../../helpers/process.ts";
import { test } from "../../../helpers/suite.ts";
import { temporaryFolder } from "../../../helpers/world.ts";

const browserTest = browserPath ? test : test.skip;

const features = { features: [{ attributes: { OBJECTID: 1 }, geometry: { x: 0, y: 500_000 } }] };
const readable: Route = (_request, response) => {
	response.writeHead(200, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
	response.end(JSON.stringify(features));
};

browserTest(
	"Ctrl-C ends a run with its report, the health, and a notice of what no longer draws",
	async () => {
		const { path, remove } = await temporaryFolder();
		const peer = await Peer.open();
		const [out, temporary, killed] = [join(path, "pictures"), join(path, "tmp"), "fp-prove-killed"];
		const keys = ["a-draws", "b-unreadable", "c-last", "d-never"];
		for (const [id, key] of keys.entries()) {
			const service = "/arcgis/rest/services/Odd/MapServer";
			const entry = { service_url: `${peer.origin}${service}/${id}` };
			const file = join(path, layerPath(key));
			await mkdir(dirname(file), { recursive: true });
			await writeFile(
				file,
				JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry }),
			);
			peer.on(`${service}/${id}`, json(layerDocument({ id, minScale: 0 })));
			peer.on(`${service}/${id}/query`, key === "b-unreadable" ? json(features) : readable);
		}
		const owners = { operators: ["@org/maps"], layers: {} };
		await writeFile(join(path, "layers/owners.json"), JSON.stringify(owners));
		await mkdir(join(temporary, killed, "dist"), { recursive: true });
		const notices: Promise<string>[] = [];
		peer.on("/notices", (request, response) => {
			notices.push(textOf(request));
			response.writeHead(204).end();
		});
		const env = {
			...{ DATA_DIR: join(path, "data"), TMPDIR: temporary, HARVEST_ALLOW_PRIVATE: "on" },
			...{ BROWSER_PATH: browserPath ?? "", PUBLIC_URL: "https://maps.example" },
			...{ NOTIFY_URL: `${peer.origin}/notices`, NOTIFY_SECRET: "secret" },
		};
		await exits(runScript("harvest", ["--layers", join(path, "layers")], env), 0);
		const words = [...startWords("prove"), "--layers", join(path, "layers"), "--out", out];
		const child = spawn(process.execPath, words, { env: cleanEnvironment(env) });
		const ended = once(child, "close");
		const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
		const readReport = () => JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
		let before: ReturnType<typeof readReport>;
		peer.on("/arcgis/rest/services/Odd/MapServer/2/query", (request, response) => {
			// A second signal would end the command at once.
			if (before === undefined) child.kill("SIGINT");
			before ??= readReport();
			readable(request, response);
		});
		assert.equal(await ended, [0, null], await stderr);
		const keysOf = (rows: { smallkey: string }[]) => rows.map(({ smallkey }) => smallkey);
		assert.equal([keysOf(before.drawn), keysOf(before.notDrawn)], [["a-draws"], ["b-unreadable"]]);
		const report = readReport();
		assert.equal(keysOf(report.drawn), ["a-draws", "c-last"]);
		assert.is(report.unknown, 1);
		const html = await readFile(join(out, "report.fr.html"), "utf8");
		assert.match(html, "ne laisse pas les pages d’autres sites lire ses réponses (CORS)");
		assert.match(html, '<a href="https://maps.example/fr/layer/b-unreadable">');
		assert.match(html, "<p>responsable\u00a0: @org/maps</p>");
		const { sick } = JSON.parse(await readFile(join(path, healthPath), "utf8"));
		assert.equal(Object.keys(sick), ["b-unreadable"]);
		assert.equal([sick["b-unreadable"].state, sick["b-unreadable"].code], ["blocked", "cors"]);
		const [notice = "", ...others] = await Promise.all(notices);
		assert.equal(others, []);
		const { event, layers } = JSON.parse(notice);
		assert.equal([event, keysOf(layers)], ["proof", ["b-unreadable"]]);
		assert.match(await stdout, "2 of 4 layers draw, 1 not checked yet");
		assert.not.ok(existsSync(join(temporary, killed)), "the build of a run that was killed");
		await peer.close();
		await remove();
	},
);

test.run();
