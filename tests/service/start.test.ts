import { execFileSync, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { misspeltSettings } from "../../service/settings.ts";
import { versionLine } from "../../system/files/version.ts";
import { cleanEnvironment, root, runScript } from "../helpers/process.ts";
import { serve } from "../helpers/serving.ts";
import { answering, freshSuite, temporaryFolder } from "../helpers/world.ts";

const test = freshSuite("npm start", async (use) => ({ folder: use(await temporaryFolder()).path }));

const bad: [string, Record<string, string>, RegExp][] = [
	[
		"a port",
		{ PORT: "x", LOG_READS: "maybe" },
		/^PORT: must be a whole number.*\nLOG_READS: must be on or off/,
	],
	[
		"a list of senders that is cut off",
		{ SENDERS: "{" },
		/^SENDERS: the document must be JSON: line 1, column 2 /,
	],
	[
		"a path instead of senders",
		{ SENDERS: "/etc/senders.json" },
		/^SENDERS: must be the JSON itself, and looks like the path of a file\. Leave it unset, and DATA_DIR/,
	],
	["a sender without a secret", { SENDERS: '{"a":""}' }, /sender "a": the secret must not be empty/],
	[
		"one secret of two senders",
		{ SENDERS: '{"a":"same-one","b":{"key":"same-one"}}' },
		/senders a and b must not share a secret/,
	],
	["a sender's id", { SENDERS: '{"a b":"x"}' }, /an id must be/],
	["globs", { SENDERS: '{"a":{"key":"hidden-x","smallkeys":"*"}}' }, /smallkeys must be a list of globs/],
	["GitHub without a credential", { GITHUB_REPOSITORY: "owner/name" }, /needs GITHUB_TOKEN/],
	["a base path", { BASE_PATH: "rcs/" }, /BASE_PATH: must be a path/],
	[
		"a template without a place",
		{ METADATA_URL: "https://x/" },
		/^METADATA_URL: must be an address with \{0\} in it/,
	],
	["a proxy", { HTTPS_PROXY: "hidden-x@proxy" }, /^HTTPS_PROXY: must be an http or https address, such as/],
	["a time", { HARVEST_EVERY: "often" }, /HARVEST_EVERY: must be a time/],
	[
		"a bucket of nothing",
		{ WRITES_BURST: "0" },
		/WRITES_BURST: must be a whole number from 1 to 1000000, not 0/,
	],
	["no rate", { WRITES_PER_MINUTE: "0" }, /WRITES_PER_MINUTE: must be a whole number from 1/],
	[
		"everybody as a proxy",
		{ TRUSTED_PROXIES: "127.0.0.1,0.0.0.0/0" },
		/TRUSTED_PROXIES: must not trust everybody: 0\.0\.0\.0\/0 is wider than \/8/,
	],
];

for (const [what, env, text] of bad) {
	test(`${what} that is wrong is reported with its setting, and nothing starts`, async ({ folder }) => {
		const { code, stdout, stderr } = await runScript("serve", [], { DATA_DIR: folder, PORT: "0", ...env });
		assert.is(code, 2);
		assert.match(stderr, text);
		assert.is(stdout, "");
		assert.not.match(stderr, /same-one|hidden-x|\bat .*\.ts/);
	});
}

test("an impossible DATA_DIR is reported with the setting and what to do", async ({ folder }) => {
	await writeFile(join(folder, "file"), "");
	await symlink(join(folder, "nowhere"), join(folder, "dangling"));
	for (const [path, reason] of [
		[join(folder, "file"), "it is a file"],
		[join(folder, "file/below"), "ENOTDIR"],
		["/proc/x/y", "ENOENT"],
	] as const) {
		const { code, stderr } = await runScript("serve", [], { DATA_DIR: path, PORT: "0" });
		assert.is(code, 2);
		assert.match(stderr, `DATA_DIR: must be a folder that this user may write, and ${path} is not: `);
		assert.match(stderr, reason);
	}
});

const isRoot = process.getuid?.() === 0;
if (isRoot) console.log("skipped: a folder without the right to write: root may write everywhere");

(isRoot ? test.skip : test)("a folder without the right to write is reported, too", async ({ folder }) => {
	const path = join(folder, "mine");
	await mkdir(path);
	await chmod(path, 0o500);
	const { code, stderr } = await runScript("serve", [], { DATA_DIR: path, PORT: "0" });
	assert.is(code, 2);
	assert.match(stderr, "DATA_DIR: must be a folder that this user may write");
});

const other = { uid: 65_534, gid: 65_534 };
const mayOtherRun =
	isRoot && spawnSync("test", ["-r", join(root, "scripts/fragments.cjs")], other).status === 0;
if (!mayOtherRun)
	console.log("skipped: a repository of root: it needs root, and a checkout that others may read");

(mayOtherRun ? test : test.skip)(
	"a repository that root has restored is refused with what to do, and not changed",
	async () => {
		// The other folders of the tests are the tester's alone.
		const folder = await mkdtemp("/tmp/restored-");
		const repository = join(folder, "repository.git");
		execFileSync("git", ["init", "-q", "--bare", repository]);
		await chown(folder, other.uid, other.gid);
		const before = await readFile(join(repository, "config"), "utf8");
		const env = { DATA_DIR: folder, TMPDIR: folder, PORT: "0", HARVEST: "off", SITE: "off" };
		try {
			const ended = spawnSync(process.execPath, [join(root, "scripts/fragments.cjs"), "serve"], {
				...other,
				cwd: root,
				env: cleanEnvironment(env),
				encoding: "utf8",
			});
			assert.is(
				ended.stderr,
				`${repository}: must belong to the user of the service; "chown -R USER ${folder}" makes it so\n`,
			);
			assert.is(ended.status, 2);
			assert.is(await readFile(join(repository, "config"), "utf8"), before);
		} finally {
			await rm(folder, { recursive: true });
		}
	},
);

test("a port that is taken is reported with what to do", async ({ folder }) => {
	await using other = await answering();
	const { port } = other;
	const env = { DATA_DIR: folder, PORT: String(port), HARVEST: "off", SITE: "off" };
	const { code, stderr } = await runScript("serve", [], env);
	assert.is(code, 2);
	assert.match(
		stderr,
		`PORT, HOST: cannot listen on 127.0.0.1:${port}: another process listens there. Set others; PORT=0 is any free port`,
	);
});

test("a setting that is misspelt is named with the nearest one", async ({ folder }) => {
	const env = { DATA_DIR: folder, HARVST: "off", SITE: "maybe", SHELL: "/bin/sh", LANGUAGE: "en" };
	assert.equal(misspeltSettings({ ...env, SITE: "off" }), [
		"HARVST: is no setting; did you mean HARVEST? docs/settings.md has all",
	]);
	const { code, stderr } = await runScript("serve", [], { ...env, SITE: "off", PORT: "x" });
	assert.is(code, 2);
	assert.is(stderr.split("\n")[0], "PORT: must be a whole number from 0 to 65535, not x");
	await using other = await answering();
	const PORT = String(other.port);
	const taken = await runScript("serve", [], { ...env, SITE: "off", HARVEST: "off", PORT });
	assert.match(taken.stderr, /^HARVST: is no setting; did you mean HARVEST\?/);
});

test("a base map needs each of {z}, {y} and {x}", async ({ folder }) => {
	for (const lacking of ["{z}/{x}", "{z}/{y}", "{y}/{x}"]) {
		const env = { DATA_DIR: folder, BASE_MAP: `https://tiles.example/${lacking}` };
		const { code, stderr } = await runScript("serve", [], env);
		assert.is(code, 2);
		assert.match(
			stderr,
			"BASE_MAP: must be an https address of tiles with {z}, {y} and {x}, not https://tiles",
		);
	}
});

test("a file that is not there is named in a sentence, and no call of the system", async ({ folder }) => {
	const { code, stderr } = await runScript("import", [join(folder, "none.json")], { DATA_DIR: folder });
	assert.is(code, 2);
	assert.is(stderr, `${folder}/none.json: there is no such file or folder (ENOENT, stat)\n`);
});

test("SENDERS={} serves, and says that no one can publish", async ({ folder }) => {
	const standby = await serve({ DATA_DIR: folder, SENDERS: "{}", SITE: "off" });
	await standby.end();
	assert.match(standby.output(), "\nSenders: none in SENDERS, so no one can publish: leave SENDERS unset");
	assert.not.match(standby.output(), "fragments put");
});

test("--version, --help and unknown words start nothing", async ({ folder }) => {
	const env = { DATA_DIR: join(folder, "none"), PORT: "0" };
	const version = await runScript("serve", ["--version"], env);
	assert.is(version.code, 0);
	assert.match(version.stdout, /^\d+\.\d+\.\d+(?: [0-9a-f]{12})?\n$/);
	assert.is(version.stdout, `${versionLine()}\n`);
	const help = await runScript("serve", ["--help"], env);
	assert.is(help.code, 0);
	assert.match(help.stdout, "npx fragment-publisher serve");
	for (const words of [["--prot"], ["8080"]]) assert.is((await runScript("serve", words, env)).code, 2);
});

/** A wrong value of each setting; with GitHub's beside it where that is what makes it count. */
const github = { GITHUB_REPOSITORY: "owner/name", GITHUB_TOKEN: "x" };
const wrong: Record<string, Record<string, string>> = {
	PORT: { PORT: "65536" },
	HOST: { HOST: "192.0.2.1" },
	DATA_DIR: { DATA_DIR: "/dev/null" },
	SENDERS: { SENDERS: "[]" },
	BASE_PATH: { BASE_PATH: "/a/" },
	PUBLIC_URL: { PUBLIC_URL: "fragments.example" },
	SITE: { SITE: "yes" },
	SITE_NAME_EN: { SITE_NAME_FR: "Cartes" },
	SITE_NAME_FR: { SITE_NAME_EN: "Maps" },
	SITE_CONTACT: { SITE_CONTACT: "maps at example.ca" },
	SITE_TERMS_EN: { SITE_TERMS_EN: "terms", SITE_TERMS_FR: "https://example.ca/conditions" },
	SITE_TERMS_FR: { SITE_TERMS_EN: "https://example.ca/terms" },
	SITE_SIGNATURE: { SITE_SIGNATURE: "site/map/none.svg" },
	SITE_THEME: { SITE_THEME: "LICENSE" },
	BASE_MAP: { BASE_MAP: "https://tiles.example/" },
	REPOSITORY_URL: { REPOSITORY_URL: "owner/name" },
	DOCS_MAX_KEYS: { DOCS_MAX_KEYS: "1001" },
	METADATA_URL: { METADATA_URL: "ftp://x/{0}" },
	CATALOGUE_URL: { CATALOGUE_URL: "{0}" },
	GITHUB_REPOSITORY: { ...github, GITHUB_REPOSITORY: "owner" },
	GITHUB_TOKEN: { GITHUB_REPOSITORY: "owner/name" },
	GITHUB_APP_ID: { GITHUB_REPOSITORY: "owner/name", GITHUB_APP_PRIVATE_KEY: "x" },
	GITHUB_APP_PRIVATE_KEY: { GITHUB_REPOSITORY: "owner/name", GITHUB_APP_ID: "1" },
	GITHUB_API_URL: { ...github, GITHUB_API_URL: "api.github.com" },
	HARVEST: { HARVEST: "true" },
	HARVEST_EVERY: { HARVEST_EVERY: "7" },
	HARVEST_ALLOW_PRIVATE: { HARVEST_ALLOW_PRIVATE: "1" },
	MAP_WKID: { MAP_WKID: "1" },
	TARGETS: { TARGETS: "v3" },
	V2_MAP_SERVER: { V2_MAP_SERVER: "ogcWms" },
	HTTPS_PROXY: { HTTPS_PROXY: "proxy:3128" },
	WRITES_PER_MINUTE: { WRITES_PER_MINUTE: "-1" },
	WRITES_BURST: { WRITES_BURST: "1.5" },
	WRITE_BYTES_PER_DAY: { WRITE_BYTES_PER_DAY: "1GB" },
	TRUSTED_PROXIES: { TRUSTED_PROXIES: "localhost" },
	REPAIR: { REPAIR: "maybe" },
	NOTIFY_URL: { NOTIFY_URL: "hooks.example", NOTIFY_SECRET: "x" },
	NOTIFY_SECRET: { NOTIFY_URL: "https://hooks.example" },
	METRICS_PORT: { METRICS_PORT: "-1" },
	METRICS_HOST: { METRICS_PORT: "0", METRICS_HOST: "192.0.2.1" },
	LOG_READS: { LOG_READS: "ON" },
};
/** Any text will do for these. */
const free = ["BASE_MAP_ATTRIBUTION", "BROWSER_PATH", "GITHUB_BRANCH", "LAST_START", "NO_PROXY", "PICTURES"];

test("every setting that is wrong, each in turn, ends the start and is named", async ({ folder }) => {
	const settings = await readFile(join(root, "docs/settings.md"), "utf8");
	const rows = settings.split("\n").filter((line) => line.startsWith("- `"));
	const named = rows.flatMap((row) =>
		[...row.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name as string),
	);
	assert.equal(
		[...new Set(named)].filter((name) => name !== "X-Forwarded-For").sort(),
		[...Object.keys(wrong), ...free].sort(),
	);
	for (const [name, env] of Object.entries(wrong)) {
		const ordinary = { DATA_DIR: folder, PORT: "0", HARVEST: "off", SITE: "off" };
		const { code, stdout, stderr } = await runScript("serve", [], { ...ordinary, ...env });
		assert.equal([code, stdout], [2, ""], `${name}: ${stderr}`);
		assert.match(stderr.split(": ", 1)[0] ?? "", /^[A-Z][A-Z0-9_, ]+$/, stderr);
		assert.match(stderr, name, stderr);
	}
});

test.run();
