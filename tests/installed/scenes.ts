import { noteRow, skip, suite } from "../helpers/suite.ts";
import { whyNot } from "./base.ts";
import { Machine } from "./machine.ts";
import { commandsOf } from "./page.ts";

/** May return a figure, which is printed. */
export type Scene = (machine: Machine) => Promise<unknown>;

/** Scenes on one machine, in their order; skipped without the tools. */
export async function scenes(section: string, list: Readonly<Record<string, Scene>>) {
	const reason = await whyNot();
	if (reason !== null) return skip(`${section}: ${reason}`);
	const test = suite(section);
	let booting: Promise<Machine> | null = null;
	test.after(async () => (await booting?.catch(() => null))?.end());
	for (const [name, scene] of Object.entries(list)) {
		test(name, async () => {
			booting ??= Machine.boot();
			const machine = await booting;
			try {
				const figure = await scene(machine);
				if (typeof figure === "string") noteRow({ figure: `${name}: ${figure}` });
			} catch (error) {
				const { message, details = "" } = error as Error & { details?: string };
				throw new Error(`${message}\n${details}\nThe journal:\n${await machine.journal()}`);
			}
		});
	}
	test.run();
}

export async function install(machine: Machine) {
	const commands = commandsOf("docs/one-machine.md", "## 1. Node, git and the project");
	await machine.run(commands, { network: "outside" });
}

export function follow(machine: Machine, page: string, heading: string) {
	return machine.run(`cd /opt/fragments\n${commandsOf(page, heading)}`);
}

/** Waits for a 200 of the service, or of nginx on its port. */
export async function untilServed(machine: Machine, path: string, port = 8080) {
	const retry = "--retry 120 --retry-delay 1 --retry-all-errors";
	await machine.run(`curl -sf -o /dev/null ${retry} http://127.0.0.1:${port}${path}`);
}

export const untilReady = (machine: Machine) => untilServed(machine, "/readyz");

export function pushOf(from: string, to: string) {
	const commit = "git -c user.name=Ada -c user.email=ada@example.invalid commit -qm pushed";
	return `set -e; mkdir -p $(dirname ${to}); cp ${from} ${to}; git add layers; ${commit}; git push -q origin HEAD:main`;
}

export function logOfStart(machine: Machine) {
	const id = "$(systemctl show -p InvocationID --value fragments)";
	return machine.run(`journalctl --no-pager -o cat _SYSTEMD_INVOCATION_ID=${id}`);
}
