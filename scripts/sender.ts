import { InvalidArgumentError } from "commander";
import type { Environment, Io } from "../api/configuration.ts";
import type { Sender } from "../api/senders.ts";
import {
	addSender,
	changeSender,
	randomSecret,
	readAllSenders,
	readSender,
	type SenderFields,
	sendersPath,
} from "../api/service/senders-file.ts";
import { parseSpan, readConfiguration } from "../api/service/settings.ts";
import { createRun, parseSenderId } from "./terminal/command-line.ts";

const help = `
The senders are in the file senders.json of DATA_DIR, which a file fragments.env in this folder may name. A running
service applies each change within a second, and says so in its log. A service with the setting SENDERS reads that instead,
once at its start.`;

function parseKeep(text: string): number {
	const ms = parseSpan(text);
	if (ms === null) throw new InvalidArgumentError("It must be a time such as 7d, 12h or 30m.");
	return ms;
}

function parseGlob(text: string, before: string[] = []): string[] {
	if (/^[A-Za-z0-9_+=*?-]{1,64}$/.test(text)) return [...before, text];
	throw new InvalidArgumentError("It must be a smallkey, in which * is any run of characters and ? is one.");
}

interface RightsOptions {
	smallkeys?: string[];
	allLayers?: true;
	review?: boolean;
	contact?: string;
	name?: string;
}

function fieldsOf({ smallkeys, allLayers, review, ...about }: RightsOptions): SenderFields {
	if (smallkeys && allLayers) throw new Error("--smallkeys, --all-layers: only one of them");
	const fields: SenderFields = {};
	// An undefined member leaves the file: all layers, and no review.
	if (smallkeys || allLayers) fields.smallkeys = smallkeys;
	if (review !== undefined) fields.review = review || undefined;
	return { ...fields, ...about };
}

class SendersFile {
	readonly #dataDir: string;
	readonly #place: string;

	constructor(
		environment: Environment,
		readonly io: Io,
	) {
		this.#dataDir = readConfiguration({ DATA_DIR: environment.DATA_DIR }).dataDir;
		this.#place = sendersPath(this.#dataDir);
	}

	async add(id: string, options: RightsOptions): Promise<void> {
		const fields = fieldsOf(options);
		if (!("smallkeys" in fields))
			throw new Error(
				`${id}: which layers may it change? --smallkeys GLOB… names some, --all-layers all; nothing was added`,
			);
		await addSender(this.#dataDir, id, fields);
		const call = `npx fragment-publisher sender show ${id} --secret`;
		this.io.print(`${id} is in ${this.#place}; ${call} prints its secret`);
	}

	async change(id: string, options: RightsOptions): Promise<void> {
		const fields = fieldsOf(options);
		await changeSender(this.#dataDir, id, (before) => ({ ...before, ...fields }));
		await this.show(id);
	}

	async rotate(id: string, keepMs: number | undefined): Promise<void> {
		const until = keepMs === undefined ? undefined : new Date(this.io.now().getTime() + keepMs).toISOString();
		await changeSender(this.#dataDir, id, (before) => {
			const { key, previous_key: _key, previous_key_until: _until, ...rest } = before;
			return { key: randomSecret(), previous_key: until && key, previous_key_until: until, ...rest };
		});
		const state = until ? `valid until ${until}` : "invalid";
		this.io.print(`${id} has a new secret in ${this.#place}, and the previous one is ${state}`);
	}

	async remove(id: string): Promise<void> {
		await changeSender(this.#dataDir, id, () => null);
		this.io.print(`${id} is no longer in ${this.#place}`);
		if ((await readAllSenders(this.#dataDir)).size === 0)
			this.io.warn("warning: it was the last sender: no one can publish");
	}

	async list(): Promise<void> {
		for (const sender of (await readAllSenders(this.#dataDir)).values()) this.io.print(senderLine(sender));
	}

	async show(id: string, isSecretOnly = false): Promise<void> {
		const sender = await readSender(this.#dataDir, id);
		this.io.print(isSecretOnly ? sender.secret : senderLine(sender));
	}
}

export const sender = createRun("sender", async ({ read, environment, io }) => {
	const file = new SendersFile(environment, io);
	await read((line) => {
		line.addHelpText("after", help);
		const verb = (name: string, description: string) =>
			line.command(name).description(description).argument("<id>", "who signs", parseSenderId);
		const verbWithRights = (name: string, description: string) =>
			verb(name, description)
				.option(
					"--smallkeys <globs...>",
					"the layers that it may change, such as energy-* or 23ax5t",
					parseGlob,
				)
				.option("--all-layers", "it may change all")
				.option("--review", "its changes wait for a reviewer")
				.option("--contact <mail>", "where the publisher is reached")
				.option("--name <name>", "its name for readers");

		verbWithRights("add", "add a sender with a random secret").action((id, options) => file.add(id, options));
		verbWithRights("change", "change what a sender may do, or what is known of it")
			.option("--no-review", "its changes do not wait")
			.action((id, options) => file.change(id, options));
		verb("rotate", "give a sender a new random secret")
			.option("--keep <time>", "how long the previous secret stays valid: 7d, 12h, 30m", parseKeep)
			.action((id, { keep }) => file.rotate(id, keep));
		verb("remove", "remove a sender; what it has published stays").action((id) => file.remove(id));
		line
			.command("list")
			.description("list all senders")
			.action(() => file.list());
		verb("show", "show one sender")
			.option("--secret", "print its secret instead, and nothing else")
			.action((id, { secret }) => file.show(id, secret));
		return line;
	});
	if (environment.SENDERS)
		io.warn("SENDERS is set: a service with this setting does not read the senders file");
});

function senderLine({ id, smallkeys, review, previous, name, contact }: Sender): string {
	const until = previous && (previous.until?.toISOString() ?? "it is removed from the file");
	const parts = [
		smallkeys === null ? "all layers" : smallkeys.join(" ") || "no layer",
		review && "with review",
		until && `previous secret valid until ${until}`,
		typeof name === "string" ? name : name && `${name.en} · ${name.fr}`,
		contact,
	];
	return `${id}  ${parts.filter(Boolean).join(", ")}`;
}
