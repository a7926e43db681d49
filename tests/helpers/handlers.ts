import * as assert from "uvu/assert";
import { answer, answerFailure, routeOf } from "../../api/app.ts";
import { readServing, Variables } from "../../api/configuration.ts";
import type { Context } from "../../api/context.ts";
import type { Client } from "../../api/limits.ts";
import { clientOf } from "../../api/node/client.ts";
import { coreWrites, type WriteRoute } from "../../api/register.ts";
import { type Reply, refuse, tooLarge } from "../../api/reply.ts";
import { parseSenders } from "../../api/senders.ts";
import { answerWrite, type Write as HandledWrite, writeHeaders } from "../../api/write.ts";
import { olderWrites } from "../../extensions/import/older-writes.ts";
import { drawingRank } from "../../registry/description.ts";
import { judgeStored } from "../../registry/judge.ts";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import {
	type Fragment,
	layerFacts,
	type ReadFragment,
	type TargetName,
} from "../../registry/targets/facts.ts";
import { renderAt, targetNames, targetPath, targets } from "../../registry/targets/table.ts";
import { etagOf } from "../../store/hashes.ts";
import { memoryStore } from "../../store/memory.ts";
import type { Edit } from "../../store/store.ts";
import { featureAt } from "../viewer/viewer.ts";
import { assertFrench } from "./french.ts";
import { signedHeaders } from "./signed.ts";

export const noon = Date.UTC(2026, 2, 4, 12, 0, 0);

export const secrets = { jstest: "test_-k", narrow: "narrow secret", careful: "careful secret" };

export const senders = {
	jstest: { key: secrets.jstest, name: "Office of Maps · Bureau des cartes" },
	narrow: { key: secrets.narrow, smallkeys: ["ab*", "x?"] },
	careful: { key: secrets.careful, review: true },
};

export const manual =
	'{"version":"1.0.0","payload_type":"wms","en":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"},"fr":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"}}';

export function everyPath(smallkey: string) {
	return targetNames.flatMap((name) => langs.map((lang) => `/${targetPath(name, lang, smallkey)}`));
}

export function wms(layer: string) {
	return manual.replaceAll("limits", layer);
}

export const feature = JSON.stringify(featureAt("https://host.example/MapServer/1"));

export const version2 = (service_type: string, en: object, fr: object) =>
	JSON.stringify({
		version: "2.0",
		en: { service_type, service_url: "https://host.example/en/MapServer", ...en },
		fr: { service_type, service_url: "https://host.example/fr/MapServer", ...fr },
	});

export const tiles = version2("esriTile", { service_name: "Tiles" }, { service_name: "Tuiles" });

/** 16 kB, and over 64 KiB as it is stored. */
export const largeWhenStored = version2(
	"esriMapServer",
	{ scrape_only: Array(8_000).fill(7) },
	{ scrape_only: [7] },
);

export function clientAt(address: string): Client {
	return clientOf({ socket: { remoteAddress: address }, headers: {} } as never, () => false).shares;
}

export interface Write {
	method?: string;
	target: string;
	body?: string | Uint8Array;
	sender?: string;
	secret?: string;
	timestamp?: string;
	/** Beside the signed ones; null leaves one out. */
	headers?: Record<string, string | null>;
}

export const writes = [...coreWrites, ...olderWrites(null)];

export abstract class Requests {
	now = noon;
	abstract context: Context;
	abstract readonly file: ReadFragment;

	async write({ method = "PUT", target, ...write }: Write) {
		const route = routeOf(method, target, this.context.settings, this.context);
		if (route.kind === "refused") return writtenOf(route.reply);
		if (route.kind !== "write") throw new Error(`${method} ${target} is no write`);
		const signed = await signedWrite({ method, target, ...write }, this.now);
		return writtenOf(await handleWrite({ ...signed, route: route.write }, this.context));
	}

	put(smallkey: string, body = manual) {
		return this.write({ target: `/register/${smallkey}`, body });
	}

	delete(smallkey: string) {
		return this.write({ method: "DELETE", target: `/register/${smallkey}` });
	}

	async get(target: string, ifNoneMatch: string | null = null, method = "GET"): Promise<Reply> {
		const route = routeOf(method, target, this.context.settings);
		const notAsked = () => {
			throw new Error(`${method} ${target} is a page or a write`);
		};
		return answer(route, this.context.settings.basePath, {
			context: this.context,
			file: this.file,
			ifNoneMatch,
			write: notAsked,
			client: () => [],
			question: notAsked,
		});
	}
}

export function partsOf(path: string): [target: TargetName, lang: Lang, smallkey: string] {
	const [smallkey = "", lang = "", ...folders] = path.split("/").reverse();
	const doc = folders.reverse().join("/");
	const target = targets.find((candidate) => candidate.doc === doc);
	return [target?.name ?? "", lang as Lang, smallkey];
}

export class Handlers extends Requests {
	readonly store: ReturnType<typeof memoryStore>;
	context: Context;
	readonly reported: unknown[] = [];

	/** @param files path → text */
	constructor(files: Readonly<Record<string, string>> = {}, variables: Record<string, string> = {}) {
		super();
		this.store = memoryStore(files);
		const docsKeys = { fallback: 1_000, max: 1_000 };
		const serving = readServing(new Variables({ SITE: "off", ...variables }), docsKeys);
		this.context = {
			store: this.store,
			settings: { ...serving, senders: parseSenders(JSON.stringify(senders), "") },
			now: () => new Date(this.now),
			log: { error: (error) => this.reported.push(error) },
			readiness: () => null,
			writes,
		};
	}

	readonly file = (folder: string, smallkey: string): Fragment | null => {
		const [target, lang] = partsOf(`${folder}/${smallkey}`);
		const files = [layerPath(smallkey), descriptionPath(smallkey)].flatMap((path) => {
			const text = this.store.files.get(path);
			return text === undefined ? [] : [{ path, kind: "file" as const, bytes: Buffer.from(text) }];
		});
		const layer = judgeStored(files).layers.get(smallkey);
		if (!layer) return null;
		const { registration, description } = layer;
		const facts = layerFacts(lang, smallkey, registration, description, this.context.settings);
		const json = renderAt(target, facts);
		if (!json) return null;
		const body = Buffer.from(json);
		return { body, etag: etagOf(body), rank: drawingRank(description) };
	};

	async commit(...edits: Edit[]) {
		const meta = { smallkey: null, author: "test", time: this.now, subject: "test" };
		await this.store.change(async () => edits, { ...meta, request: null, review: false });
	}

	stored(smallkey: string): unknown {
		return JSON.parse(this.store.files.get(layerPath(smallkey)) ?? "null");
	}

	/** A refusal leaves it as it was. */
	async state(): Promise<string> {
		return JSON.stringify([this.store.commits, [...this.store.files]]);
	}

	async expect(status: number, write: Write) {
		const before = await this.state();
		const answer = await this.write(write);
		const name = JSON.stringify(write).slice(0, 200);
		assert.is(answer.status, status, `${name}: ${await answer.clone().text()}`);
		if (status >= 400) assert.is(await this.state(), before, name);
		return answer;
	}

	async refuses(status: number, write: Write, text: RegExp | string) {
		const { errors } = (await (await this.expect(status, write)).json()) as { errors: string[] };
		const matches = (error: string) => (typeof text === "string" ? error === text : text.test(error));
		assert.ok(errors.some(matches), `${JSON.stringify(write).slice(0, 200)}: ${errors}`);
		assert.not.match(errors.join(), /\bat .*\.ts/);
		assert.equal(this.reported, []);
	}
}

function writtenOf(reply: Reply) {
	assertFrench(new TextDecoder().decode(reply.bodyIn?.("fr")));
	return responseOf(reply);
}

export function handleWrite(write: HandledWrite, context: Context): Promise<Reply> {
	const fail = (error: unknown) => answerFailure(error, "write", context.log);
	return answerWrite(write, context).catch(fail);
}

export async function signedWrite(write: Write, now: number): Promise<HandledWrite> {
	const { method = "PUT", target, sender = "jstest", body = "" } = write;
	const secret = write.secret ?? secrets[sender as keyof typeof secrets] ?? "no such sender";
	const { timestamp = new Date(now).toISOString() } = write;
	const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
	const signed = await signedHeaders(target, bytes, { sender, secret, timestamp });
	const headers: Record<string, string | null> = { ...signed, ...write.headers };
	const texts = new Map(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
	return {
		route: coreWrites.find((route) => route.method === method) as WriteRoute,
		method,
		target,
		address: null,
		...writeHeaders((name) => texts.get(name)),
		body: bytes.length > maxRegistrationBytes ? refuse(tooLarge) : bytes,
	};
}

export function textOf(reply: Reply) {
	return new TextDecoder().decode(reply.body);
}

export function responseOf(reply: Reply): Response {
	const bytes = reply.body as Uint8Array<ArrayBuffer>;
	return new Response(bytes.length > 0 ? bytes : null, { status: reply.status, headers: reply.headers });
}
