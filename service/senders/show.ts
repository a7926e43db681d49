import { readFile } from "node:fs/promises";
import { parseSenders, type Sender } from "../../api/senders.ts";
import { sendersPath } from "../senders-file.ts";
import { unknownSender } from "./change.ts";

async function readAll(dataDir: string): Promise<Sender[]> {
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8").catch((error: Error) => {
		throw new Error(`${place}: cannot be read; npm start or npx fragments sender add creates it`, {
			cause: error,
		});
	});
	return [...parseSenders(text, place).values()];
}

async function readOne(dataDir: string, id: string): Promise<Sender> {
	const sender = (await readAll(dataDir)).find((one) => one.id === id);
	if (!sender) throw unknownSender(dataDir, id);
	return sender;
}

function layersOf({ smallkeys }: Sender): string {
	return smallkeys === null ? "all layers" : smallkeys.join(" ") || "no layer";
}

/** A line for each sender, without its secret. */
export async function listSenders(dataDir: string): Promise<string[]> {
	const senders = await readAll(dataDir);
	const width = Math.max(0, ...senders.map(({ id }) => id.length)) + 2;
	return senders.map((sender) => {
		const { id, review, previous, contact } = sender;
		const parts = [layersOf(sender), review && "with review", previous && "two secrets", contact];
		return `${id.padEnd(width)}${parts.filter(Boolean).join(", ")}`;
	});
}

/** The data of a sender in lines, without its secret. */
export async function showSender(dataDir: string, id: string): Promise<string[]> {
	const sender = await readOne(dataDir, id);
	const { review, previous, name, contact } = sender;
	const until = previous?.until?.toISOString() ?? "it is removed from the file";
	return [
		`id         ${id}`,
		`layers     ${layersOf(sender)}`,
		`review     ${review ? "its changes wait for a reviewer" : "no"}`,
		`secret     in ${sendersPath(dataDir)}${previous ? `; the previous one is valid until ${until}` : ""}`,
		...(name ? [`name       ${typeof name === "string" ? name : `${name.en} · ${name.fr}`}`] : []),
		...(contact ? [`contact    ${contact}`] : []),
	];
}

/** The secret of a sender. @throws {WrongError} where there is no such sender */
export async function secretOf(dataDir: string, id: string): Promise<string> {
	return (await readOne(dataDir, id)).secret;
}
