import { noteRow, skip, suite } from "../helpers/suite.ts";
import { whyNot } from "./base.ts";
import { Machine } from "./machine.ts";
import { commandsOf } from "./page.ts";

/** Where scenes play. */
interface Stage {
	/** The last lines of its log. */
	journal(): Promise<string>;
	end(): Promise<void>;
}

/** A scene: what it does on its stage. It may return a figure, which is printed. */
export type Scene<T = Machine> = (stage: T) => Promise<unknown>;

/** Scenes on one machine, in their order. */
export function scenes(section: string, list: Readonly<Record<string, Scene>>): Promise<void> {
	return scenesOn(Machine.boot, section, list);
}

/**
 * Scenes on one stage, in their order. The error of a failed one has the end of the log. Without the tools all are skipped,
 * with one line.
 */
export async function scenesOn<T extends Stage>(
	open: () => Promise<T>,
	section: string,
	list: Readonly<Record<string, Scene<T>>>,
): Promise<void> {
	const reason = await whyNot();
	if (reason !== null) return skip(`${section}: ${reason}`);
	const test = suite(section);
	let opening: Promise<T> | null = null;
	test.after(async () => (await opening?.catch(() => null))?.end());
	for (const [name, scene] of Object.entries(list)) {
		test(name, async () => {
			opening ??= open();
			const stage = await opening;
			try {
				const figure = await scene(stage);
				if (typeof figure === "string") noteRow({ figure: `${name}: ${figure}` });
			} catch (error) {
				const { message, details = "" } = error as Error & { details?: string };
				throw new Error(`${message}\n${details}\nThe journal:\n${await stage.journal()}`);
			}
		});
	}
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

/** What the service has logged since its last start. */
export function logOfStart(machine: Machine): Promise<string> {
	const id = "$(systemctl show -p InvocationID --value fragments)";
	return machine.run(`journalctl --no-pager -o cat _SYSTEMD_INVOCATION_ID=${id}`);
}
