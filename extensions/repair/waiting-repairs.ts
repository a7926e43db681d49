import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { readAt, servedRef } from "../../api/service/repository.ts";
import { parseDescription } from "../../registry/description.ts";
import { parseRegistration } from "../../registry/registration.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { descriptionPath, folderOf, langs, layerPath } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import { proofsFile, proposedFolder } from "../../site/data/proofs.ts";
import { type OpenRepair as Open, readOpen } from "../../store/git/review-branches.ts";
import { agreementOf } from "../harvest/agreement.ts";
import { placeOf } from "../harvest/finding.ts";
import { traitText } from "./proposal.ts";
import type { OpenRepair, RepairOfLayer } from "./repair-page.ts";

export interface ReadRepairs {
	list: () => Promise<OpenRepair[]>;
	of: (smallkey: string) => Promise<RepairOfLayer | null>;
}

/** A proposal may have hundreds of layers. */
const maxCached = 200;

async function readLayer(repository: string, commit: string, smallkey: string) {
	const [layer, service] = [
		await readAt(repository, commit, layerPath(smallkey)),
		await readAt(repository, commit, descriptionPath(smallkey)),
	];
	const { registration = null } = layer ? parseRegistration(layer, "stored") : {};
	return { registration, description: service && parseDescription(service.toString("utf8")) };
}

/** What is registered, compared with what is proposed, for one layer. */
async function evidenceOf(repository: string, open: Open, smallkey: string): Promise<WaitingRepair> {
	const { branch, commit, sure, choices } = open;
	const before = await readLayer(repository, `${commit}^`, smallkey);
	const after = await readLayer(repository, commit, smallkey);
	const repair: WaitingRepair = { branch, commit, sure, from: {}, to: {}, choices, rows: [] };
	const { registration, description } = before;
	if (!registration || !after.registration) return repair;
	let shown = "";
	for (const lang of langs) {
		const [from, to] = [placeOf(registration, lang), placeOf(after.registration, lang)];
		if (sure === "choose") repair.from[lang] = from;
		if (from === to) continue;
		Object.assign(repair.from, { [lang]: from });
		Object.assign(repair.to, { [lang]: to });
		const [earlier, later] = [description?.[lang], after.description?.[lang]];
		if (!earlier || !later) continue;
		// Both languages of one place have one evidence.
		if (shown === `${from}\n${to}`) for (const row of repair.rows) row.langs.push(lang);
		else
			for (const { trait, ...row } of agreementOf(earlier, later).rows)
				repair.rows.push({ langs: [lang], code: trait, text: traitText(trait), ...row });
		shown = `${from}\n${to}`;
	}
	return repair;
}

/** A data URI; null if no picture was drawn since the repair was proposed. */
async function pictureOf(pictures: string, smallkey: string, { timeMs }: Open): Promise<string | null> {
	const folder = join(pictures, proposedFolder);
	const proofs = tryJson(await readFile(join(folder, proofsFile), "utf8").catch(() => "")) as {
		layers?: Record<string, { picture?: string; since?: string }>;
	} | null;
	const proof = proofs?.layers?.[smallkey];
	const file = join(folder, folderOf(smallkey), `${smallkey}.webp`);
	const drawnMs = await stat(file).then(
		({ mtimeMs }) => mtimeMs,
		() => 0,
	);
	if (!proof?.picture || proof.since !== undefined || drawnMs < timeMs) return null;
	return `data:image/webp;base64,${(await readFile(file)).toString("base64")}`;
}

/**
 * Requests during a list of git share the next list. The evidence of a proposal is read once.
 * @param pictures the folder of pictures of layers; null: none is read
 */
export function createReadRepairs(repository: string, pictures: string | null): ReadRepairs {
	const oneByOne = pLimit(1);
	let next: Promise<Open[]> | null = null;
	const cached = new LRUCache<string, Promise<WaitingRepair>>({ max: maxCached });

	function list(): Promise<Open[]> {
		next ??= oneByOne(() => {
			next = null;
			return readOpen(repository, servedRef);
		});
		return next;
	}

	return {
		list,
		async of(smallkey) {
			const open = (await list()).find(({ smallkeys }) => smallkeys.includes(smallkey));
			if (!open) return null;
			const name = `${open.commit} ${smallkey}`;
			const evidence = cached.get(name) ?? oneByOne(() => evidenceOf(repository, open, smallkey));
			cached.set(name, evidence);
			evidence.catch(() => cached.delete(name));
			return {
				repair: await evidence,
				smallkeys: open.smallkeys,
				picture: pictures === null ? null : await pictureOf(pictures, smallkey, open),
			};
		},
	};
}
