import { parseSpan } from "../api/configuration.ts";
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
	const place = sendersPath(dataDir);
	const show = async (id: string, isSecretOnly = false) => {
		const entry = await readSender(dataDir, id);
		io.print(isSecretOnly ? entry.secret : senderLine(entry));
	};

	await read((line) => {
		line.addHelpText("after", help);
		const verb = (name: string, description: string) =>
			line.command(name).description(description).argument("<id>", "who signs", parseSenderId);
		const verbWithRights = (
			name: string,
			description: string,
			apply: (id: string, fields: SenderFields) => Promise<void>,
		) =>
			verb(name, description)
				.option(
					"--smallkeys <globs...>",
					"the layers that it may change, such as energy-* or 23ax5t",
					(text, before: string[] = []) => [...before, parseGlob(text)],
				)
				.option("--all-layers", "it may change all")
				.option("--review", "its changes wait for a reviewer")
				.option("--no-review", "its changes do not wait")
				.option("--contact <mail>", "where the publisher is reached")
				.option("--name <name>", "its name for readers")
				.action((id, { smallkeys, allLayers, review, ...about }) => {
					if (smallkeys && allLayers) throw new Error("--smallkeys, --all-layers: only one of them");
					// An undefined member leaves the file.
					return apply(id, {
						...((smallkeys || allLayers) && { smallkeys }),
						...(review !== undefined && { review: review || undefined }),
						...about,
					});
				});

		verbWithRights("add", "add a sender with a random secret", async (id, fields) => {
			if (!("smallkeys" in fields))
				throw new Error(
					`${id}: which layers may it change? --smallkeys GLOB… names some, --all-layers all; nothing was added`,
				);
			await addSender(dataDir, id, fields);
			io.print(`${id} is in ${place}; npx fragment-publisher sender show ${id} --secret prints its secret`);
		});
		verbWithRights("change", "change what a sender may do, or what is known of it", async (id, fields) => {
			await changeSender(dataDir, id, (before) => ({ ...before, ...fields }));
			await show(id);
		});
		verb("rotate", "give a sender a new random secret")
			.option("--keep <time>", "how long the previous secret stays valid: 7d, 12h, 30m", parseKeep)
			.action(async (id, { keep }) => {
				const until = keep && new Date(io.now().getTime() + keep).toISOString();
				await changeSender(dataDir, id, (before) => {
					const { key, previous_key: _key, previous_key_until: _until, ...rest } = before;
					return { key: randomSecret(), previous_key: until && key, previous_key_until: until, ...rest };
				});
				const state = until ? `valid until ${until}` : "invalid";
				io.print(
					`${id} has a new secret in ${place}, and the previous one is ${state}; sender show ${id} --secret prints it`,
				);
			});
		verb("remove", "remove a sender; what it has published stays").action(async (id) => {
			await changeSender(dataDir, id, () => null);
			io.print(`${id} is no longer in ${place}`);
			if ((await readAllSenders(dataDir)).size === 0)
				io.warn("warning: it was the last sender: no one can publish");
		});
		line
			.command("list")
			.description("list all senders")
			.action(async () => {
				for (const entry of (await readAllSenders(dataDir)).values()) io.print(senderLine(entry));
			});
		verb("show", "show one sender")
			.option("--secret", "print its secret instead, and nothing else")
			.action((id, { secret }) => show(id, secret));
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
