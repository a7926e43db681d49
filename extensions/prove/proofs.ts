import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Browser } from "playwright-core";
import { progress } from "../../publish/build.ts";
import { placeFile } from "../../publish/place-file.ts";
import { isBlockedOn } from "../../registry/addresses.ts";
import { causeOf } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { folderOf, type Lang, langs } from "../../registry/smallkey.ts";
import { type Proofs, pictureName, proofsFile, proofsVersion, readProofs } from "../../site/data/proofs.ts";
import { placeOf, quote } from "../harvest/finding.ts";
import { type Drawn, type DrawOptions, drawLayer } from "./draw.ts";

/**
 * The proofs that a folder has. `store` writes them, and then removes the pictures that they no longer name: a killed run
 * leaves no proof whose picture is missing.
 */
async function openProofs(folder: string) {
	const proofs = await readProofs(folder);
	const picturesOf = () => new Set([...proofs.values()].flatMap(({ picture }) => picture ?? []));
	let stored = picturesOf();
	const store = () => {
		const lines = [...proofs]
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([smallkey, proof]) => `${JSON.stringify(smallkey)}: ${JSON.stringify(proof)}`);
		const text = `{"version":${proofsVersion},"layers":{\n${lines.join(",\n")}\n}}\n`;
		placeFile(folder, proofsFile, Buffer.from(text));
		const pictures = picturesOf();
		for (const name of stored) if (!pictures.has(name)) placeFile(folder, name, null);
		stored = pictures;
	};
	return { proofs, store };
}

export interface ProveRun extends Omit<DrawOptions, "browser"> {
	folder: string;
	/** For texts that link to pictures. Otherwise the name has a hash. */
	hasFixedNames?: boolean;
	layers: readonly CheckedLayer[];
	/** The proofs of all other smallkeys are removed. */
	registered: ReadonlySet<string>;
	/** Also what was drawn today. */
	isAgain: boolean;
	/** Its pages must be able to draw the layers; empty if unknown; null: it does not matter. */
	publicUrl: string | null;
	day: string;
	signal: AbortSignal;
	/** Starts one for the next layers. */
	browser: () => Promise<Browser>;
	/** Absent: on the catalogue's map in the browser. */
	draw?: typeof drawLayer;
}

const layersAtOnce = 3;

const layersPerBrowser = 50;

type DrawnLangs = Partial<Record<Lang, Drawn>>;

/**
 * The layers of one host are drawn one after the other. After an interruption, the next run of the same day
 * draws the remaining layers.
 */
export async function runProofs(options: ProveRun): Promise<Proofs> {
	const { layers, folder, registered, isAgain, day } = options;
	const { proofs, store } = await openProofs(folder);
	for (const smallkey of proofs.keys()) if (!registered.has(smallkey)) proofs.delete(smallkey);
	store();
	const left = layers.filter(({ smallkey }) => isAgain || proofs.get(smallkey)?.day !== day);
	const bar = progress(left.length, "drawing layers");
	try {
		await drawAll({ ...options, proofs, store, tick: bar.tick }, left);
	} finally {
		bar.stop();
		store();
	}
	return proofs;
}

type Drawing = ProveRun & Awaited<ReturnType<typeof openProofs>> & { tick: () => void };

async function drawAll(drawing: Drawing, layers: readonly CheckedLayer[]): Promise<void> {
	const { signal } = drawing;
	const suspects: CheckedLayer[] = [];
	let left = layers;
	while (left.length > 0 && !signal.aborted) {
		const { failed, waiting } = await drawSome(drawing, left.slice(0, layersPerBrowser));
		suspects.push(...failed.keys());
		left = [...waiting, ...left.slice(layersPerBrowser)];
	}
	// One layer can end the browser of others. Alone in a browser, only the layer itself fails.
	for (const layer of suspects) {
		if (signal.aborted) break;
		const { failed } = await drawSome(drawing, [layer]);
		for (const reason of failed.values()) {
			const cause = causeOf("browser-ended", quote(String(reason)));
			await record(drawing, layer, { en: { cause, share: 0, ms: 0, picture: null } });
		}
	}
}

/** Ends when one fails. @returns those that failed, with the reasons, and those that were not begun */
async function drawSome(drawing: Drawing, layers: readonly CheckedLayer[]) {
	const failed = new Map<CheckedLayer, unknown>();
	const waiting: CheckedLayer[] = [];
	const browser = await drawing.browser();
	const inTurn = createTurns();
	const draw = async (layer: CheckedLayer) => {
		if (drawing.signal.aborted) return;
		if (failed.size > 0) return void waiting.push(layer);
		const drawn = await drawLangs({ ...drawing, browser }, layer).catch((reason: unknown) => {
			failed.set(layer, reason);
			return null;
		});
		if (drawn) await record(drawing, layer, drawn);
	};
	try {
		await Promise.all(layers.map((layer) => inTurn(layer, () => draw(layer))));
	} finally {
		await browser.close();
		// A killed run loses only the layers of its last browser.
		drawing.store();
	}
	return { failed, waiting };
}

async function record(
	{ folder, hasFixedNames = false, day, proofs, tick }: Drawing,
	{ smallkey }: CheckedLayer,
	drawn: DrawnLangs,
): Promise<void> {
	const before = proofs.get(smallkey);
	const all = Object.entries(drawn);
	const bytes = all.map(([, { picture }]) => picture).find((image) => image !== null);
	const hash = bytes && createHash("sha256").update(bytes).digest("hex").slice(0, 12);
	const name = pictureName(smallkey, hasFixedNames ? undefined : hash);
	if (bytes) {
		await mkdir(join(folder, folderOf(smallkey)), { recursive: true });
		placeFile(folder, name, Buffer.from(bytes));
	}
	const picture = bytes ? name : before?.picture;
	const isDrawn = all.every(([, { cause }]) => cause === undefined);
	proofs.set(smallkey, {
		day,
		...(!isDrawn && { since: before?.since ?? day }),
		langs: Object.fromEntries(all.map(([lang, { picture: _, ...rest }]) => [lang, rest])),
		...(picture !== undefined && { picture }),
	});
	tick();
}

/** The returned function waits until no other layer of the same hosts, in either language, is being drawn. */
function createTurns() {
	const withSlot = pLimit(layersAtOnce);
	const hosts = new Map<string, ReturnType<typeof pLimit>>();
	return ({ registration }: CheckedLayer, work: () => Promise<void>): Promise<void> => {
		const layerHosts = new Set(langs.map((lang) => new URL(registration[lang].service_url).host));
		// All layers take their hosts in the same order, so that no two of them wait for each other.
		const turn = [...layerHosts].sort().reduce(
			(inner, host) => {
				const oneByOne = hosts.get(host) ?? pLimit(1);
				hosts.set(host, oneByOne);
				return () => oneByOne(inner);
			},
			() => withSlot(work),
		);
		return turn();
	};
}

/** In English, and in French if that is another service. */
async function drawLangs(
	options: DrawOptions & Pick<ProveRun, "publicUrl" | "draw">,
	{ smallkey, registration }: CheckedLayer,
) {
	const { publicUrl, draw = drawLayer } = options;
	const isSame = placeOf(registration, "en") === placeOf(registration, "fr");
	const drawIn = async (lang: Lang): Promise<Drawn> => {
		const drawn = await draw(options, smallkey, lang);
		// The page of the proof is http itself.
		const isBlocked = publicUrl !== null && isBlockedOn(publicUrl, registration[lang].service_url);
		return isBlocked && !drawn.cause ? { ...drawn, cause: causeOf("not-secure") } : drawn;
	};
	return { en: await drawIn("en"), ...(!isSame && { fr: await drawIn("fr") }) };
}

/** The longest failing first. */
export function notDrawnIn(proofs: Proofs) {
	const notDrawn = [...proofs].flatMap(
		([
			smallkey,
			{
				since,
				langs: { en, fr },
			},
		]) => (since === undefined ? [] : { smallkey, since, cause: en?.cause ?? fr?.cause }),
	);
	return notDrawn.sort((a, b) => (a.since + a.smallkey < b.since + b.smallkey ? -1 : 1));
}
