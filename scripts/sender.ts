import type { Command } from "@commander-js/extra-typings";
import { type Io, parseSpan, WrongError } from "../api/configuration.ts";
import type { Sender, Senders } from "../api/senders.ts";
import {
	changeSender,
	findSenders,
	randomSecret,
	type SenderFields,
	sendersPath,
} from "../api/service/senders-file.ts";
import { readConfiguration } from "../api/service/settings.ts";
import { createRun, matching, parser, parseSenderId } from "./terminal/command-line.ts";

const help = `
The senders are in the file senders.json of DATA_DIR, which a file fragments.env in this folder may name. A running
service applies each change within a second, and says so in its log. A service with the setting SENDERS reads that instead,
once at its start.`;

const parseKeep = parser(parseSpan, "a time such as 7d, 12h or 30m.");

const parseGlob = matching(
	(text) => /^[A-Za-z0-9_+=*?-]{1,64}$/.test(text),
	"a smallkey, in which * is any run of characters and ? is one.",
);

export const sender = createRun(async ({ read, environment, io }) => {
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	await read((line) => {
		line.addHelpText("after", help);
		declareWithRights(line, "add", "add a sender with a random secret").action((id, rights) =>
			add(dataDir, io, id, fieldsOf(rights)),
		);
		declareWithRights(line, "change", "change what a sender may do, or what is known of it").action(
			async (id, rights) => {
				const fields = fieldsOf(rights);
				const change = (before: SenderFields | null) => ({ ...entryOf(before, id, dataDir), ...fields });
				const senders = await changeSender(dataDir, id, change);
				io.print(senderLine(entryOf(senders.get(id), id, dataDir)));
			},
		);
		declare(line, "rotate", "give a sender a new random secret")
			.option("--keep <time>", "how long the previous secret stays valid: 7d, 12h, 30m", parseKeep)
			.action((id, { keep }) => rotate(dataDir, io, id, keep));
		declare(line, "remove", "remove a sender; what it has published stays").action(async (id) => {
			const senders = await changeSender(dataDir, id, (before) => entryOf(before, id, dataDir) && null);
			io.print(`${id} is no longer in ${sendersPath(dataDir)}`);
			if (senders.size === 0) io.warn("warning: it was the last sender: no one can publish");
		});
		line
			.command("list")
			.description("list all senders")
			.action(async () => {
				for (const entry of (await readSenders(dataDir)).values()) io.print(senderLine(entry));
			});
		declare(line, "show", "show one sender")
			.option("--secret", "print its secret instead, and nothing else")
			.action(async (id, { secret }) => {
				const entry = entryOf((await readSenders(dataDir)).get(id), id, dataDir);
				io.print(secret ? entry.secret : senderLine(entry));
			});
		return line;
	});
	if (environment.SENDERS)
		io.warn("SENDERS is set: a service with this setting does not read the senders file");
});

async function readSenders(dataDir: string): Promise<Senders> {
	const source = await findSenders({}, dataDir);
	if (source) return source.senders;
	const place = sendersPath(dataDir);
	throw new Error(`${place}: is missing; npm start or npx fragment-publisher sender add creates it`);
}

function entryOf<T>(entry: T | null | undefined, id: string, dataDir: string): T {
	if (entry) return entry;
	const how = "npx fragment-publisher sender list names them";
	throw new WrongError(`${sendersPath(dataDir)}: has no sender ${id}; ${how}`);
}

function declare(line: Command, name: string, description: string) {
	return line.command(name).description(description).argument("<id>", "who signs", parseSenderId);
}

function declareWithRights(line: Command, name: string, description: string) {
	return declare(line, name, description)
		.option(
			"--smallkeys <globs...>",
			"the layers that it may change, such as energy-* or 23ax5t",
			(text, before: string[] = []) => [...before, parseGlob(text)],
		)
		.option("--all-layers", "it may change all")
		.option("--review", "its changes wait for a reviewer")
		.option("--no-review", "its changes do not wait")
		.option("--contact <mail>", "where the publisher is reached")
		.option("--name <name>", "its name for readers");
}

type Rights = ReturnType<ReturnType<typeof declareWithRights>["opts"]>;

function fieldsOf({ smallkeys, allLayers, review, ...about }: Rights): SenderFields {
	if (smallkeys && allLayers) throw new Error("--smallkeys, --all-layers: only one of them");
	// An undefined member leaves the file.
	return {
		...((smallkeys || allLayers) && { smallkeys }),
		...(review !== undefined && { review: review || undefined }),
		...about,
	};
}

async function add(dataDir: string, io: Io, id: string, fields: SenderFields): Promise<void> {
	if (!("smallkeys" in fields))
		throw new Error(
			`${id}: which layers may it change? --smallkeys GLOB… names some, --all-layers all; nothing was added`,
		);
	const place = sendersPath(dataDir);
	const how = `npx fragment-publisher sender change ${id} changes it`;
	await changeSender(dataDir, id, (before) => {
		if (before) throw new WrongError(`${place}: already has a sender ${id}; ${how}`);
		return { key: randomSecret(), ...fields };
	});
	io.print(`${id} is in ${place}; npx fragment-publisher sender show ${id} --secret prints its secret`);
}

async function rotate(dataDir: string, io: Io, id: string, keepMs?: number): Promise<void> {
	const until = keepMs && new Date(io.now().getTime() + keepMs).toISOString();
	await changeSender(dataDir, id, (before) => {
		const { key, ...rest } = entryOf(before, id, dataDir);
		return { key: randomSecret(), ...rest, previous_key: until && key, previous_key_until: until };
	});
	const state = until ? `valid until ${until}` : "invalid";
	io.print(
		`${id} has a new secret in ${sendersPath(dataDir)}; the previous one is ${state}. npx fragment-publisher sender show ${id} --secret prints it`,
	);
}

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
