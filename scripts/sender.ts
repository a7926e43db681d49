// npm run sender -- add <id>: a sender with a random secret, in the senders file of DATA_DIR
import { readFile } from "node:fs/promises";
import { isSenderId, parseSenders } from "../api/senders.ts";
import {
	randomSecret,
	readConfiguration,
	readSenders,
	sendersPath,
	writeSenders,
} from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = "npm run sender -- add <id>";

await runCommand(async () => {
	const [verb, id, ...rest] = process.argv.slice(2);
	if (verb !== "add" || id === undefined || rest.length > 0) throw new Error(`usage: ${usage}`);
	if (!isSenderId(id)) throw new Error(`${JSON.stringify(id)}: an id must be 1 to 64 of A-Z a-z 0-9 . _ -`);
	const { dataDir } = readConfiguration(process.env);
	await readSenders({}, dataDir);
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8");
	if (parseSenders(text, place).has(id)) throw new Error(`${place}: already has a sender ${id}`);
	const entries = [...Object.entries(JSON.parse(text)), [id, randomSecret()]];
	await writeSenders(dataDir, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
	console.log(`${id} is in ${place} with a random secret; a running service knows it after a restart`);
	return 0;
});
