import * as assert from "uvu/assert";
import { pushOfLargeDelta } from "./large-delta.ts";
import { commandsOf } from "./page.ts";
import { follow, install, pushOf, scenes, untilReady, untilServed } from "./scenes.ts";

const page = "docs/one-machine.md";
const fragment = "/v0.9/doc/en/my-layer";

const example = "layers/my/my-layer.json";
const everyKey = ["my-layer", "pushed", "overssh"];

await scenes("One machine", {
	"Debian, Node and the project are installed by the page": async (machine) => {
		await install(machine);
		const programs = "echo Node $(node --version), $(git --version), $(nginx -v 2>&1 | cut -d' ' -f3)";
		return (await machine.run(`echo -n "Debian $(cat /etc/debian_version), "; ${programs}`)).trim();
	},
	"systemd-analyze verify is silent for every unit": async (machine) => {
		const units = "/tmp/units/fragments*.service /tmp/units/fragments*.timer";
		await machine.run("mkdir /tmp/units && cp /opt/fragments/deploy/fragments*.{service,timer} /tmp/units");
		assert.is(await machine.run(`systemd-analyze verify ${units}`), "");
	},
	"fragments.service starts, and is ready without a restart": async (machine) => {
		await follow(machine, page, "## 2. The service, under systemd");
		await untilReady(machine);
		const state = await machine.run("systemctl show -p ActiveState,NRestarts fragments");
		assert.equal(state.trim().split("\n").sort(), ["ActiveState=active", "NRestarts=0"]);
	},
	"a layer is registered by the command that the journal has": async (machine) => {
		const journal = await machine.run("journalctl -u fragments -o cat");
		const [, command = ""] = /^ +((?:DATA_DIR=\S+ )?npx fragment-publisher put .*)$/m.exec(journal) ?? [];
		assert.ok(command, journal);
		await machine.run(`cd /opt/fragments && ${command}`);
	},
	"nginx -t is content, and nginx answers for the service": async (machine) => {
		await follow(machine, page, "## 3. nginx in front");
	},
	"nginx serves fragments from files, and docs from the service; verify finds no difference": async (
		machine,
	) => {
		await machine.run(`test -f /var/lib/fragments/dist${fragment}`);
		for (const path of [fragment, "/v0.9/docs/en/my-layer,none"]) {
			const [behind, front] = await Promise.all(
				["127.0.0.1:8080", "127.0.0.1"].map((host) => machine.run(`curl -sf http://${host}${path}`)),
			);
			assert.is(front, behind);
		}
		await machine.run(
			"cd /opt/fragments && npx fragment-publisher verify http://127.0.0.1 --dist /var/lib/fragments/dist",
		);
	},
	"a push as the user of the service is served": async (machine) => {
		await machine.run(commandsOf(page, "**On the same machine**").split("\n")[0] as string);
		const push = `cd /tmp/layers; ${pushOf(example, "layers/pu/pushed.json")}`;
		await machine.run("sudo -u fragments bash -e -s", { input: push });
		await untilServed(machine, "/v0.9/doc/en/pushed", 80);
	},
	"a push of another user over ssh is served": async (machine) => {
		await machine.run(
			"useradd -m ada; sudo -u ada ssh-keygen -q -t ed25519 -N '' -f /home/ada/.ssh/id_ed25519",
		);
		const key = (await machine.run("cut -d' ' -f2 /home/ada/.ssh/id_ed25519.pub")).trim();
		const lines = commandsOf(page, "**Over ssh**").replace("AAAA…", key).split("\n");
		await machine.run(`systemctl start ssh\n${lines.slice(0, 3).join("\n")}`);
		const ssh = "GIT_SSH_COMMAND='ssh -o StrictHostKeyChecking=no -o LogLevel=ERROR'";
		const push = pushOf(example, "layers/ov/overssh.json");
		const script = `set -e; cd; export ${ssh}; ${lines[3]}; cd layers; ${push}`;
		await machine.run("sudo -u ada -H bash --norc -s", { input: script });
		await untilServed(machine, "/v0.9/doc/en/overssh", 80);
	},
	"a push of a kilobyte that unpacks to 3 GB ends for lack of memory, and nothing is stored": async (
		machine,
	) => {
		// Not by sudo, which may print that it cannot resolve the machine's name.
		const stored =
			"cd /var/lib/fragments/repository.git; runuser -u fragments -- git for-each-ref; find objects | sort";
		const before = await machine.run(stored);
		await machine.run("base64 -d > /tmp/large", { input: pushOfLargeDelta(3).toString("base64") });
		const receive = "git-receive-pack '/var/lib/fragments/repository.git'";
		for (const push of [
			`sudo -u ada -H ssh -o LogLevel=ERROR fragments@127.0.0.1 "${receive}"`,
			`sudo -u fragments ${receive}`,
		])
			assert.match(await machine.run(`(${push} < /tmp/large || true) | tr -d '\\0'`), "Out of memory");
		assert.is(await machine.run(stored), before);
	},
	"after kill -9 the service starts again with every layer, and nginx serves meanwhile": async (machine) => {
		await machine.run(`systemctl kill -s KILL fragments; curl -sf http://127.0.0.1${fragment}`);
		await untilReady(machine);
		for (const key of everyKey) await machine.run(`curl -sf http://127.0.0.1:8080/v0.9/doc/en/${key}`);
		assert.match(await machine.run("systemctl show -p NRestarts fragments"), "NRestarts=1");
	},
	"a backup is restored into an empty folder, and served": async (machine) => {
		const commands = commandsOf("docs/operate.md", "## Backup and restore");
		const at = commands.indexOf("git clone");
		const [backup, restore] = [commands.slice(0, at), commands.slice(at)];
		const variables = "export DATA_DIR=/var/lib/fragments BACKUP=/var/backups/fragments; mkdir -p $BACKUP";
		await machine.run(`cd /opt/fragments; ${variables}\n${backup}`);
		const empty = "rm -rf $DATA_DIR; install -d -o fragments -g fragments -m 0711 $DATA_DIR";
		const safe = ["$BACKUP", "$DATA_DIR"].map(
			(folder) => `git config --global --add safe.directory "${folder}/repository.git"`,
		);
		const start = "chown -R fragments:fragments $DATA_DIR; systemctl start fragments";
		const script = [variables, "systemctl stop fragments", empty, ...safe, restore, start];
		await machine.run(`cd /opt/fragments\n${script.join("\n")}`);
		await untilReady(machine);
		for (const key of everyKey) await machine.run(`curl -sf http://127.0.0.1/v0.9/doc/en/${key}`);
	},
	"the timer builds each new commit": async (machine) => {
		// Without GitHub: another repository in its place.
		const commands = commandsOf(page, "## With the layers on GitHub");
		const source = "file:///var/lib/fragments/repository.git";
		await machine.run(`cd /opt/fragments\n${commands.replace("https://github.com/maps/layers", source)}`);
		await machine.run("cd /opt/fragments && npx fragment-publisher put rebuilt docs/example-layer.json");
		const built = "/opt/fragments/dist/v0.9/doc/en/rebuilt";
		await machine.run(
			`until test -s ${built}.br; do sleep 1; done; curl -sf http://127.0.0.1/v0.9/doc/en/rebuilt | cmp - ${built}`,
		);
		await machine.run("systemctl stop fragments-follow.timer");
		assert.match(await machine.run("systemctl show -p Result fragments-follow"), "Result=success");
	},
	"the journal has no secret": async (machine) => {
		const senders = JSON.parse(await machine.run("cat /var/lib/fragments/senders.json"));
		const journal = await machine.run("journalctl --no-pager -o cat");
		for (const sender of Object.values(senders)) {
			const { key } = typeof sender === "string" ? { key: sender } : (sender as { key: string });
			assert.not.ok(journal.includes(key));
		}
	},
	"systemctl stop ends the service cleanly": async (machine) => {
		await machine.run("systemctl stop fragments");
		assert.match(await machine.run("systemctl show -p Result fragments"), "Result=success");
		assert.not.match(await machine.run("journalctl -u fragments -o cat"), /timed out\. Killing/);
	},
});
