import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Browser } from "playwright-core";
import { placeFile } from "../../publish/place-file.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { folderOf } from "../../registry/smallkey.ts";
import { causeOf } from "../../site/data/health.ts";
import { type Proofs, proofsFile, proofsVersion, readProofs } from "../../site/data/proofs.ts";
import { quote } from "../../site/service/decode.ts";
import { hostsOf, placeOf } from "../harvest/service.ts";
import type { DrawOptions, DrawResult, drawLayer } from "./draw.ts";

/** The proofs of a folder. `store` writes them before it removes old pictures: a killed run leaves no proof without its picture. */
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
	layers: readonly CheckedLayer[];
	/** The proofs of all other smallkeys are removed. */
	registered: ReadonlySet<string>;
	/** Draws also what was drawn today. */
	isAgain: boolean;
	day: string;
	signal: AbortSignal;
	startBrowser: () => Promise<Browser>;
	draw: typeof drawLayer;
}

const layersAtOnce = 3;
const layersPerBrowser = 50;

/** The next run of a day draws what an interrupted one did not. */
export async function runProofs(options: ProveRun): Promise<Proofs> {
	const { layers, folder, registered, isAgain, day } = options;
	const { proofs, store } = await openProofs(folder);
	for (const smallkey of proofs.keys()) if (!registered.has(smallkey)) proofs.delete(smallkey);
	store();
	const left = layers.filter(({ smallkey }) => isAgain || proofs.get(smallkey)?.day !== day);
	await drawAll({ ...options, proofs, store }, left).finally(store);
	return proofs;
}

type Drawing = ProveRun & Awaited<ReturnType<typeof openProofs>>;

async function drawAll(drawing: Drawing, layers: readonly CheckedLayer[]) {
	const { signal } = drawing;
	const suspects: CheckedLayer[] = [];
	let left = layers;
	while (left.length > 0 && !signal.aborted) {
		const { failed, waiting } = await drawInBrowser(drawing, left.slice(0, layersPerBrowser));
		suspects.push(...failed.keys());
		left = [...waiting, ...left.slice(layersPerBrowser)];
	}
	// One layer can end the browser of others. Alone in a browser, only the layer itself fails.
	for (const layer of suspects) {
		if (signal.aborted) break;
		const { failed } = await drawInBrowser(drawing, [layer]);
		for (const reason of failed.values()) {
			const cause = causeOf("browser-ended", quote(String(reason)));
			await recordProof(drawing, layer, [{ cause, picture: null }]);
		}
	}
}

/** Ends when a layer fails. @returns failed layers with the reasons, and waiting ones that were not begun */
async function drawInBrowser(drawing: Drawing, layers: readonly CheckedLayer[]) {
	const failed = new Map<CheckedLayer, unknown>();
	const waiting: CheckedLayer[] = [];
	const browser = await drawing.startBrowser();
	const inTurn = createTurns();
	const draw = async (layer: CheckedLayer) => {
		if (drawing.signal.aborted) return;
		if (failed.size > 0) return void waiting.push(layer);
		const drawn = await drawLangs({ ...drawing, browser }, layer).catch((reason: unknown) => {
			failed.set(layer, reason);
			return null;
		});
		if (drawn) await recordProof(drawing, layer, drawn);
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

async function recordProof(
	{ folder, day, proofs }: Drawing,
	{ smallkey }: CheckedLayer,
	drawn: readonly DrawResult[],
) {
	const before = proofs.get(smallkey);
	let picture = before?.picture;
	const bytes = drawn.find((result) => result.picture)?.picture;
	if (bytes) {
		const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
		picture = `${folderOf(smallkey)}/${smallkey}.${hash}.webp`;
		await mkdir(join(folder, folderOf(smallkey)), { recursive: true });
		placeFile(folder, picture, bytes);
	}
	const cause = drawn.find((result) => result.cause)?.cause;
	proofs.set(smallkey, {
		day,
		...(cause && { since: before?.since ?? day, cause }),
		...(picture && { picture }),
	});
}

/** The returned function waits until no other layer of the same hosts is being drawn. */
function createTurns() {
	const withSlot = pLimit(layersAtOnce);
	const hosts = new Map<string, ReturnType<typeof pLimit>>();
	return ({ registration }: CheckedLayer, work: () => Promise<void>): Promise<void> => {
		// All layers take their hosts in the same order: no two wait for each other.
		let turn = () => withSlot(work);
		for (const host of hostsOf(registration).sort()) {
			const oneByOne = hosts.get(host) ?? pLimit(1);
			hosts.set(host, oneByOne);
			const inner = turn;
			turn = () => oneByOne(inner);
		}
		return turn();
	};
}

/** French is drawn only if it has another service. */
async function drawLangs(
	options: DrawOptions & Pick<ProveRun, "draw">,
	{ smallkey, registration }: CheckedLayer,
): Promise<DrawResult[]> {
	const { draw } = options;
	const english = await draw(options, smallkey, "en");
	const isSame = placeOf(registration, "en") === placeOf(registration, "fr");
	return isSame ? [english] : [english, await draw(options, smallkey, "fr")];
}
