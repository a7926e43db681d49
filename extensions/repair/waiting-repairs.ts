import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { readAt, servedRef } from "../../api/service/repository.ts";
import { parseDescription } from "../../registry/description.ts";
import { parseRegistration } from "../../registry/registration.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { descriptionPath, langs, layerPath } from "../../registry/smallkey.ts";
import { agreementOf } from "../harvest/agreement.ts";
import { placeOf } from "../harvest/finding.ts";
import { repairTexts } from "./proposal.ts";
import { type OpenRepair, readOpen } from "./proposal-branches.ts";

const maxCached = 200;

async function readLayer(repository: string, commit: string, smallkey: string) {
	const layer = await readAt(repository, commit, layerPath(smallkey));
	const description = await readAt(repository, commit, descriptionPath(smallkey));
	const { registration = null } = layer ? parseRegistration(layer, "stored") : {};
	return { registration, description: description && parseDescription(description.toString("utf8")) };
}

async function evidenceOf(repository: string, open: OpenRepair, smallkey: string): Promise<WaitingRepair> {
	const { branch, commit, sure } = open;
	const before = await readLayer(repository, `${commit}^`, smallkey);
	const after = await readLayer(repository, commit, smallkey);
	const repair: WaitingRepair = { branch, commit, sure, from: {}, to: {}, rows: [] };
	const { registration, description } = before;
	if (!registration || !after.registration) return repair;
	for (const lang of langs) {
		const [from, to] = [placeOf(registration, lang), placeOf(after.registration, lang)];
		if (from === to) continue;
		// Both languages of one place have one evidence.
		const isShared = repair.rows.length > 0 && repair.from.en === from && repair.to.en === to;
		repair.from[lang] = from;
		repair.to[lang] = to;
		const [earlier, later] = [description?.[lang], after.description?.[lang]];
		if (!earlier || !later) continue;
		for (const row of isShared ? repair.rows : []) row.langs.push(lang);
		for (const { trait, ...row } of isShared ? [] : agreementOf(earlier, later).rows) {
			const text = { en: repairTexts.en[trait], fr: repairTexts.fr[trait] };
			repair.rows.push({ langs: [lang], code: trait, text, ...row });
		}
	}
	return repair;
}

/** By smallkey; null if none waits. Requests during a list of git share the next list. */
export function createReadRepairs(repository: string) {
	const oneByOne = pLimit(1);
	let next: Promise<OpenRepair[]> | null = null;
	const cached = new LRUCache<string, Promise<WaitingRepair>>({ max: maxCached });

	function list(): Promise<OpenRepair[]> {
		next ??= oneByOne(() => {
			next = null;
			return readOpen(repository, servedRef);
		});
		return next;
	}

	return async (smallkey: string): Promise<WaitingRepair | null> => {
		const open = (await list()).find(({ smallkeys }) => smallkeys.includes(smallkey));
		if (!open) return null;
		const name = `${open.commit} ${smallkey}`;
		const evidence = cached.get(name) ?? oneByOne(() => evidenceOf(repository, open, smallkey));
		cached.set(name, evidence);
		evidence.catch(() => cached.delete(name));
		return evidence;
	};
}
