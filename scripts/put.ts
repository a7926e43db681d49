// npx fragment-publisher put, remove and sign
import { readFile } from "node:fs/promises";
import { readConfiguration, withoutStore } from "../api/service/settings.ts";
import { sendRequest } from "./send/exchange.ts";
import { removeMany } from "./send/many.ts";
import { readKeys } from "./send/others.ts";
import { printDraft, printPreview } from "./send/preview-batch.ts";
import { explain, ifMatchOption, requestLine, requestOptions, signRequest } from "./send/request.ts";
import { printStatus } from "./send/status.ts";
import { createRun, exitCodes, parseCount } from "./terminal/command-line.ts";

const defaultWaitSeconds = 120;

const put = createRun("put", async ({ read, environment, io }) => {
	const [{ dryRun, wait, ...options }, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("<file>", "the registration")
			.option("--dry-run", "only check it, and show what viewers would read; nothing is signed or sent")
			.option(
				"--wait [seconds]",
				"then wait until its services were asked, and print how the layer is (120)",
				parseCount,
			)
			.option(...ifMatchOption),
	);
	const body = await readFile(file);
	const request = { ...options, method: "PUT", smallkey, body };
	const code = dryRun
		? printPreview({ smallkey, file, body }, readConfiguration(withoutStore(environment)), io)
		: await sendRequest(request, environment, io);
	if (code === exitCodes.done && wait && !dryRun)
		return printStatus(request, io, wait === true ? defaultWaitSeconds : wait);
	if (code === exitCodes.wrong) await printDraft({ smallkey, body }, environment, io);
	return code;
});

const remove = createRun("remove", async ({ read, environment, io }) => {
	const [{ file, ...options }, keys] = await read((line) =>
		requestOptions(line.argument("[smallkey...]", "the layers"))
			.option("--file <file>", "a file of smallkeys with spaces, commas or lines between them")
			.option(...ifMatchOption)
			.option("--json", "print the result as JSON", false),
	);
	const smallkeys = [...new Set([...keys, ...(file === undefined ? [] : await readKeys(file, io.warn))])];
	const [smallkey] = smallkeys;
	if (smallkey === undefined) throw new Error("smallkey: is needed, or --file with smallkeys");
	const isMany = smallkeys.length > 1 || file !== undefined || options.json;
	if (isMany && options.ifMatch !== undefined)
		throw new Error("--if-match: with one smallkey, and without --file and --json");
	if (isMany) return removeMany(smallkeys, options, environment, io);
	const request = { ...options, method: "DELETE", smallkey, body: new Uint8Array(0) };
	return sendRequest(request, environment, io);
});

const sign = createRun("sign", async ({ read, environment, io }) => {
	const [{ explain: isExplained, ...options }, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("[file]", "the registration; without one a removal is signed")
			.option("--explain", "show the signed text with its parts, and what is sent, for a person"),
	);
	const body = file === undefined ? new Uint8Array(0) : await readFile(file);
	const method = file === undefined ? "DELETE" : "PUT";
	const signed = await signRequest({ ...options, method, smallkey, body }, environment, io);
	const headers = Object.entries(signed.headers).map(([name, text]) => `${name}: ${text}`);
	io.print((isExplained ? explain(signed) : headers).join("\n"));
});

export const runs = { put, remove, sign };
