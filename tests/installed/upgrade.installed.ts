import * as assert from "uvu/assert";
import type { Machine } from "./machine.ts";
import { commandsOf } from "./page.ts";
import { install, logOfStart, pushOf, scenes, untilReady, untilServed } from "./scenes.ts";

/** Version 0.1.0, which its own page installs. */
const earlier = "66b3297";

const files = "/checkout/tests/fixtures/valid";
const written = { "wms-all": "wms-all-members", "feature-all": "feature-all-members", manual: "manual" };

type Answers = Record<string, string>;

async function readAll(machine: Machine) {
	const list =
		"git -c safe.directory='*' -C /var/lib/fragments/repository.git ls-tree -r --name-only main layers";
	const keys = [...(await machine.run(list)).matchAll(/^layers\/[^/]+\/([^/.]+)\.json$/gm)].map(
		([, key]) => key,
	);
	assert.ok(keys.length > 20, keys.join());
	const paths = keys.flatMap((key) => ["en", "fr"].map((lang) => `/v0.9/doc/${lang}/${key}`));
	const script = `const answers = {};
		for (const path of ${JSON.stringify(paths)}) {
			const answer = await fetch("http://127.0.0.1:8080" + path);
			answers[path] = answer.status === 200 ? await answer.text() : String(answer.status);
		}
		console.log(JSON.stringify(answers));`;
	return JSON.parse(await machine.run(`node --input-type=module -e '${script}'`));
}

/** 0.2.0 has a new member and French titles of columns in v0.9 (CHANGELOG.md). */
const translated: Record<string, string> = { Icône: "Icon", Détails: "Details" };

function withoutChanges(answers: Answers) {
	const undo = (name: string, value: string) => {
		if (name === "imageUrl") return undefined;
		return name === "title" ? (translated[value] ?? value) : value;
	};
	return Object.entries(answers).map(([path, text]) => `${path} ${JSON.stringify(JSON.parse(text), undo)}`);
}

async function upgrade(machine: Machine, version: string) {
	const commands = commandsOf("docs/operate.md", "## Upgrade").replace("origin/main", version);
	await machine.run(commands, { network: "outside" });
	await untilServed(machine, "/v0.9/doc/en/manual");
	assert.match(await machine.run("systemctl show -p NRestarts fragments"), "NRestarts=0");
}

async function assertUpgraded(machine: Machine, before: Answers) {
	await untilReady(machine);
	const log = (await logOfStart(machine)).split("\n");
	const faults = log.filter((line) => !/all layers are read again, and nothing is lost|"harvest/.test(line));
	assert.not.match(faults.join("\n"), /not whole|damaged|error|fail/i);
	assert.equal(withoutChanges(await readAll(machine)), withoutChanges(before));
	const verify = "npx fragments verify http://127.0.0.1:8080 --dist /var/lib/fragments/dist --wait 40";
	// It may have chosen paths of the earlier catalogue, which is replaced meanwhile.
	await machine.run(`cd /opt/fragments; for _ in 1 2 3; do ${verify} && exit; done; exit 1`);
	const path = "/v0.9/doc/fr/manual";
	await machine.run(`curl -sf http://127.0.0.1:8080${path} | cmp - /var/lib/fragments/dist${path}`);
}

/** By its own page; writes to it in each way. */
async function installEarlier(machine: Machine) {
	const packages = `cd /opt/fragments && git checkout -q ${earlier} && npm ci --omit=dev`;
	await machine.run(packages, { network: "outside" });
	const lines = commandsOf("docs/hosting.md", "**systemd**", earlier).split("\n");
	const first = lines.findIndex((line) => line.startsWith("install -m 0600"));
	const last = lines.findIndex((line) => line.includes("systemctl enable --now fragments"));
	await machine.run(`cd /opt/fragments; ${lines.slice(first, last + 1).join("\n")}`);
	await untilServed(machine, "/v0.9/doc/en/airports");
	// As root, the command of an earlier version takes the senders file from the service.
	const asService = "runuser -u fragments -- env HOME=/tmp";
	const npm = `cd /opt/fragments; export DATA_DIR=/var/lib/fragments; ${asService} npm run -s`;
	for (const [key, file] of Object.entries(written))
		await machine.run(`${npm} put -- ${key} ${files}/${file}.json`);
	await machine.run(`${npm} remove -- airports; ${npm} sender -- add energy`);
	const clone = "git clone -q /var/lib/fragments/repository.git /tmp/layers; cd /tmp/layers";
	const push = pushOf("layers/ma/manual.json", "layers/pu/pushed.json");
	await machine.run("sudo -u fragments bash -e -s", { input: `${clone}; ${push}` });
	await untilServed(machine, "/v0.9/doc/en/pushed");
}

let before: Answers = {};

await scenes("Upgrade", {
	"Debian, Node and the project are installed by the page": async (machine) => {
		await install(machine);
		await machine.run("git clone -q /checkout.git /checkout");
	},
	"0.1.0 is installed by its own page, and gets layers, a sender, a removal and a push": async (machine) => {
		await installEarlier(machine);
		before = await readAll(machine);
	},
	"after the upgrade every layer is served as before": async (machine) => {
		await upgrade(machine, "origin/main");
		await assertUpgraded(machine, before);
		const gone = "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/v0.9/doc/en/airports";
		assert.is(await machine.run(gone), "404");
		const put = `npx fragments put newer ${files}/manual.json --sender energy`;
		await machine.run(`cd /opt/fragments; export DATA_DIR=/var/lib/fragments; ${put}`);
	},
	"after the way back 0.1.0 serves every layer as it did, and what was written since": async (machine) => {
		await upgrade(machine, earlier);
		const { "/v0.9/doc/en/newer": en, "/v0.9/doc/fr/newer": fr, ...others } = await readAll(machine);
		assert.equal(others, before);
		assert.ok(en && fr);
		const put = `npm run -s put -- wms-all ${files}/manual.json`;
		await machine.run(`cd /opt/fragments; export DATA_DIR=/var/lib/fragments; ${put}`);
	},
});
