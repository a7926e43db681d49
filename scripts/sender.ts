// npx fragments sender: manages the senders, who may publish, in the senders file of DATA_DIR
import { InvalidArgumentError } from "commander";
import { isSenderId } from "../api/senders.ts";
import { isFolderLocked } from "../service/lock.ts";
import {
	addSender,
	changeSender,
	removeSender,
	rotateSender,
	type SenderChange,
} from "../service/senders/change.ts";
import { listSenders, secretOf, showSender } from "../service/senders/show.ts";
import { sendersPath } from "../service/senders-file.ts";
import { type Environment, parseSpan, readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printLine } from "../terminal/io.ts";

/** The options of `add` and `change`. */
interface SenderOptions {
	smallkeys?: string[] | undefined;
	allLayers?: true | undefined;
	review?: boolean | undefined;
	contact?: string | undefined;
	name?: string | undefined;
}

const help = `
The senders are in the file senders.json of DATA_DIR, which a file fragments.env in this folder may name. A running service takes each change within a second, and says so in
its log. A service that was given SENDERS reads that instead, and once.`;

function parseId(text: string): string {
	if (isSenderId(text)) return text;
	throw new InvalidArgumentError("It must be 1 to 64 of A-Z a-z 0-9 . _ -");
}

function parseKeep(text: string): number {
	const ms = parseSpan(text);
	if (ms === null) throw new InvalidArgumentError("It must be a time such as 7d, 12h or 30m.");
	return ms;
}

function changeOf({ smallkeys, allLayers, review, contact, name }: SenderOptions): SenderChange {
	if (smallkeys && allLayers) throw new Error("--smallkeys, --all-layers: only one of them");
	return { smallkeys: allLayers ? "all" : smallkeys, review, contact, name };
}

/** A new sender gets all layers only explicitly, never by omission. */
async function askForLayers(id: string, io: Io): Promise<"all"> {
	const answer = await io.ask(`May ${id} change all layers? Otherwise say --smallkeys. [y/N] `);
	if (answer !== null && /^y(?:es)?$/i.test(answer)) return "all";
	throw new Error(
		`${id}: which layers may it change? --smallkeys GLOB… names some, --all-layers all; nothing was added`,
	);
}

/** Which service takes a change of the senders. */
async function serviceOf(dataDir: string, { SENDERS }: Environment): Promise<string> {
	if (SENDERS) return "SENDERS is set: a service with this setting does not read the file";
	return (await isFolderLocked(dataDir))
		? `the service that runs in ${dataDir} takes it within a second`
		: `no service runs in ${dataDir} now`;
}

/** The command line, with what each of its verbs does. */
function createSenderLine(environment: Environment, io: Io) {
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	const place = sendersPath(dataDir);
	const line = createCommandLine("sender", io).addHelpText("after", help);
	const printService = async () => printLine(io, await serviceOf(dataDir, environment));

	line
		.command("add")
		.description("add a sender with a random secret")
		.argument("<id>", "who signs", parseId)
		.option("--smallkeys <globs...>", "the layers that it may change, such as energy-* or 23ax5t")
		.option("--all-layers", "it may change all")
		.option("--review", "its changes wait for a reviewer")
		.option("--contact <mail>", "where the publisher is reached")
		.option("--name <name>", "its name for readers")
		.action(async (id, options) => {
			const change = changeOf(options);
			change.smallkeys ??= await askForLayers(id, io);
			await addSender(dataDir, id, change);
			printLine(io, `${id} is in ${place}; npx fragments sender show ${id} --secret prints its secret`);
			await printService();
		});

	line
		.command("change")
		.description("change what a sender may do, or what is known of it")
		.argument("<id>", "who signs", parseId)
		.option("--smallkeys <globs...>", "the layers that it may change")
		.option("--all-layers", "it may change all")
		.option("--review", "its changes wait for a reviewer")
		.option("--no-review", "they do not")
		.option("--contact <mail>", "where the publisher is reached")
		.option("--name <name>", "its name for readers")
		.action(async (id, options) => {
			await changeSender(dataDir, id, changeOf(options));
			for (const text of await showSender(dataDir, id)) printLine(io, text);
			await printService();
		});

	line
		.command("rotate")
		.description("give a sender a new random secret")
		.argument("<id>", "who signs", parseId)
		.option("--keep <time>", "how long the previous secret stays valid: 7d, 12h, 30m", parseKeep)
		.action(async (id, { keep }) => {
			const until = keep === undefined ? null : new Date(io.now().getTime() + keep);
			await rotateSender(dataDir, id, until);
			const before = until
				? `the previous one is valid until ${until.toISOString()}`
				: "the previous one is invalid";
			printLine(io, `${id} has a new secret in ${place}, and ${before}`);
			await printService();
		});

	line
		.command("remove")
		.description("take a sender away; what it has published stays")
		.argument("<id>", "who signs", parseId)
		.action(async (id) => {
			await removeSender(dataDir, id);
			printLine(io, `${id} is no longer in ${place}`);
			await printService();
		});

	line
		.command("list")
		.description("list all senders")
		.action(async () => {
			for (const text of await listSenders(dataDir)) printLine(io, text);
		});

	line
		.command("show")
		.description("show one sender")
		.argument("<id>", "who signs", parseId)
		.option("--secret", "print its secret instead, and nothing else")
		.action(async (id, { secret }) => {
			if (secret) return printLine(io, await secretOf(dataDir, id));
			for (const text of await showSender(dataDir, id)) printLine(io, text);
		});

	return line;
}

export const run = createRun(async (argv, environment, io) => {
	await createSenderLine(environment, io).parseAsync(argv, { from: "user" });
	return exitCodes.done;
});
