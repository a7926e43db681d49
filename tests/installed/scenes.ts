import { suite } from "uvu";
import { whyNot } from "./base.ts";
import { Machine } from "./machine.ts";
import { commandsOf } from "./page.ts";

/** A scene: what it does on the machine. It may return a figure, which is printed. */
type Scene = (machine: Machine) => Promise<unknown>;

/**
 * Scenes on one machine, in their order. The error of a failed one has the end of the journal. Without the tools all are skipped, with one line.
 */
export async function scenes(section: string, list: Readonly<Record<string, Scene>>): Promise<void> {
	const reason = await whyNot();
	const test = suite(section);
	let machine: Machine | null = null;
	test.after(() => machine?.end());
	for (const [name, scene] of Object.entries(list)) {
		const add = reason === null ? test : test.skip;
		add(name, async () => {
			machine ??= await Machine.boot();
			try {
				const figure = await scene(machine);
				if (typeof figure === "string") console.log(`${name}: ${figure}`);
			} catch (error) {
				throw new Error(`${(error as Error).message}\nThe journal:\n${await machine.journal()}`);
			}
		});
	}
	if (reason !== null) console.log(`skipped: ${section}: ${reason}`);
	test.run();
}

/** Installs the project by the first section of docs/one-machine.md. */
export async function install(machine: Machine): Promise<void> {
	await machine.run(commandsOf("docs/one-machine.md", "## 1. Node, git and the project"), {
		network: "outside",
	});
}

/** Runs the commands of a section in the checkout. */
export function follow(machine: Machine, page: string, heading: string): Promise<string> {
	return machine.run(`cd /opt/fragments\n${commandsOf(page, heading)}`);
}

/** Waits until the service is ready. */
export async function untilReady(machine: Machine): Promise<void> {
	await machine.run(
		"curl -sf -o /dev/null --retry 120 --retry-delay 1 --retry-all-errors http://127.0.0.1:8080/readyz",
	);
}
