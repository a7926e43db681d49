import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import {
	readConfiguration,
	readSettingsFile,
	settingNames,
	unknownSettings,
} from "../../../api/service/settings.ts";
import { readHarvest } from "../../../extensions/harvest/index.ts";
import { readMetrics } from "../../../extensions/hosting/index.ts";
import { allExtensions } from "../../../scripts/main.ts";
import { root, runScript, warns } from "../../helpers/process.ts";
import { answering, folderSuite } from "../../helpers/world.ts";

const readers = allExtensions.flatMap(({ settings }) => settings ?? []);

const test = folderSuite("settings");

const plain = { PORT: "0", HARVEST: "off", SITE: "off" };
const github = { GITHUB_REPOSITORY: "owner/name", GITHUB_TOKEN: "x" };
const terms = { SITE_TERMS_EN: "https://example.ca/terms", SITE_TERMS_FR: "https://example.ca/conditions" };

/** Wrong values, and their errors, which start with the setting. */
const wrong: [setting: string, env: Record<string, string>, text?: string | RegExp][] = [
	["PORT", { PORT: "65536" }, "PORT: must be a whole number from 0 to 65535, not 65536"],
	["PORT", { PORT: "x", LOG_READS: "maybe" }, /^PORT: must be .*\nLOG_READS: must be on or off/],
	["HOST", { HOST: "192.0.2.1" }],
	["DATA_DIR", { DATA_DIR: "/dev/null" }, "a folder that this user may write, and /dev/null is not: "],
	["SENDERS", { SENDERS: '{"a":"hidden-x","b":"hidden-x"}' }, "senders a and b must not share a secret"],
	["BASE_PATH", { BASE_PATH: "rcs/" }, "BASE_PATH: must be a path"],
	["PUBLIC_URL", { PUBLIC_URL: "fragments.example" }],
	["SITE", { SITE: "yes" }],
	["SITE_NAME_EN", { SITE_NAME_FR: "Cartes" }],
	["SITE_NAME_FR", { SITE_NAME_EN: "Maps" }],
	["SITE_CONTACT", { SITE_CONTACT: "maps at example.ca" }],
	["SITE_TERMS_EN", { ...terms, SITE_TERMS_EN: "terms" }],
	["SITE_TERMS_FR", { ...terms, SITE_TERMS_FR: "" }],
	["SITE_SIGNATURE", { SITE_SIGNATURE: "site/map/none.svg" }],
	["SITE_THEME", { SITE_THEME: "LICENSE" }],
	["BASE_MAP", { BASE_MAP: "https://h.example/{z}/{x}" }, "tiles with {z}, {y} and {x}, not https://h."],
	["REPOSITORY_URL", { REPOSITORY_URL: "owner/name" }],
	["DOCS_MAX_KEYS", { DOCS_MAX_KEYS: "1001" }],
	["METADATA_URL", { METADATA_URL: "https://x/" }, "must be an address with {0} in it"],
	["CATALOGUE_URL", { CATALOGUE_URL: "{0}" }],
	["GITHUB_REPOSITORY", { ...github, GITHUB_REPOSITORY: "owner" }],
	["GITHUB_TOKEN", { GITHUB_REPOSITORY: "owner/name" }, "needs GITHUB_TOKEN"],
	["GITHUB_APP_ID", { GITHUB_REPOSITORY: "owner/name", GITHUB_APP_PRIVATE_KEY: "x" }],
	["GITHUB_APP_PRIVATE_KEY", { GITHUB_REPOSITORY: "owner/name", GITHUB_APP_ID: "1" }],
	["GITHUB_API_URL", { ...github, GITHUB_API_URL: "api.github.com" }],
	["HARVEST", { HARVEST: "true" }],
	["HARVEST_EVERY", { HARVEST_EVERY: "7" }, "HARVEST_EVERY: must be a time"],
	["HARVEST_ALLOW_PRIVATE", { HARVEST_ALLOW_PRIVATE: "1" }],
	["MAP_WKID", { MAP_WKID: "1" }],
	["TARGETS", { TARGETS: "v3" }],
	["V2_MAP_SERVER", { V2_MAP_SERVER: "ogcWms" }],
	["HTTPS_PROXY", { HTTPS_PROXY: "hidden-x@proxy:3128" }, "must be an http or https address, such as"],
	["WRITES_PER_MINUTE", { WRITES_PER_MINUTE: "0" }, "must be a whole number from 1"],
	["TRUSTED_PROXIES", { TRUSTED_PROXIES: "localhost" }],
	["REPAIR", { REPAIR: "maybe" }],
	["NOTIFY_URL", { NOTIFY_URL: "hooks.example", NOTIFY_SECRET: "x" }],
	["NOTIFY_SECRET", { NOTIFY_URL: "https://hooks.example" }],
	["METRICS_PORT", { METRICS_PORT: "many" }, "must be a whole number from 0 to 65535, not many"],
	["METRICS_HOST", { METRICS_PORT: "0", METRICS_HOST: "192.0.2.1" }],
	["CACHE_MB", { CACHE_MB: "0" }],
	["LOG_READS", { LOG_READS: "ON" }],
];
const free = ["BASE_MAP_ATTRIBUTION", "BROWSER_PATH", "GITHUB_BRANCH", "LAST_START", "NO_PROXY", "PICTURES"];

test("each setting that is wrong ends the start and is named, and no secret is", async ({ folder }) => {
	for (const [setting, env, text = ""] of wrong) {
		// A start that succeeds is interrupted at once.
		const io = { interrupted: () => AbortSignal.abort() };
		const ended = await runScript("serve", [], { DATA_DIR: folder, ...plain, ...env }, io);
		const { code, stdout, stderr } = ended;
		assert.equal([code, stdout], [2, ""], `${setting}: ${stderr}`);
		assert.match(stderr.split(": ", 1)[0] ?? "", /^[A-Z][A-Z0-9_, ]+$/, stderr);
		assert.match(stderr, setting);
		assert.match(stderr, text);
		assert.not.match(stderr, /hidden-x|\bat .*\.ts/);
	}
});

test("the settings' page has every setting, and each that may be wrong has a row here", async () => {
	const page = await readFile(join(root, "docs/settings.md"), "utf8");
	const rows = page.match(/^- `[A-Z].*$/gm) ?? [];
	const listed = rows.flatMap((row) =>
		[...row.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = ""]) => name),
	);
	const settings = [...settingNames(readers)].sort();
	assert.equal([...new Set(listed)].sort(), settings);
	assert.equal([...new Set([...wrong.map(([name]) => name), ...free])].sort(), settings);
});

test("the defaults are those of a trial on this machine alone", () => {
	const { port, host, basePath, harvest, network, metrics, logReads, isTrial } = readConfiguration(
		{},
		readHarvest,
		readMetrics,
	);
	assert.equal([port, host, basePath, logReads, isTrial], [8080, "127.0.0.1", "", false, true]);
	assert.equal([harvest.on, network.allowPrivate, metrics], [true, false, null]);
	for (const env of [{ DATA_DIR: "/data" }, github, { NODE_ENV: "production" }])
		assert.not(readConfiguration(env).isTrial);
	assert.is(readConfiguration({ BASE_PATH: "/rcs" }).basePath, "/rcs");
});

test("a taken port is named with its setting", async ({ folder }) => {
	await using other = await answering();
	const PORT = String(other.port);
	const env = { DATA_DIR: folder, ...plain };
	const taken = `cannot listen on 127.0.0.1:${PORT}: another process listens there`;
	await warns(runScript("serve", [], { ...env, PORT }), 2, `PORT, HOST: ${taken}. Set others`);
	const metrics = runScript("serve", [], { ...env, METRICS_PORT: PORT });
	await warns(metrics, 2, `METRICS_PORT, METRICS_HOST: ${taken}`);
});

test("unknown names in fragments.env and misspelt variables are listed, and an odd line is refused unseen", async ({
	folder,
}) => {
	const path = join(folder, "fragments.env");
	await writeFile(path, '\n; x\nPORT=1\nHOST="::1"\n BASE_PATH = /hidden\n');
	assert.throws(() => readSettingsFile(folder), /fragments\.env: line 5: must be NAME=value$/);
	await writeFile(
		path,
		'# x\nPORT=1\nHOST="::1"\nNO_PROXY=\'a b\'\nSENDERS=\'{"a":"x"}  \n BASE_PATH=/rcs \r\n',
	);
	const settings = { PORT: "1", HOST: "::1", NO_PROXY: "a b", SENDERS: `'{"a":"x"}`, BASE_PATH: "/rcs" };
	assert.equal(readSettingsFile(folder), settings);
	assert.equal(unknownSettings({}, folder, readers), []);
	await writeFile(path, "UNKNOWN=x\nSITE=off");
	const variables = {
		HARVST: "off",
		TRUSTED_PROXY: "::1",
		SHELL: "/bin/sh",
		GITHUB_REF: "en",
		HOSTNAME: "a",
	};
	assert.equal(unknownSettings(variables, folder, readers), ["UNKNOWN", "HARVST", "TRUSTED_PROXY"]);
	assert.equal(readSettingsFile(join(folder, "none")), {});
});

test.run();
