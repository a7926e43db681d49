import type { Repository } from "../../helpers/world.ts";

/**
 * Makes a branch `hiding` of which GitHub lists no file, while its merge writes a content that main has had and taken
 * back: it has two merge bases, with one and with the other, and the tree of one.
 */
export function hide(repository: Repository, path: string, content: string): void {
	const before = repository.git("show", `main:${path}`);
	repository.git("checkout", "-q", "-B", "hidden", "main");
	repository.commit("another content", { [path]: content });
	repository.git("checkout", "-q", "-b", "back");
	repository.commit("its reversal", { [path]: before });
	repository.git("checkout", "-q", "hidden");
	repository.commit("beside it", { "layers/be/beside.json": wmsFile("beside", nowhere) });
	repository.git("checkout", "-q", "main");
	repository.git("merge", "-q", "--no-ff", "--no-edit", "hidden", "back");
	repository.git("checkout", "-q", "-b", "hiding", "hidden");
	repository.git("merge", "-q", "--no-edit", "-s", "ours", "back");
	repository.git("checkout", "-q", "main");
}

/** An address that is never asked: it is not of the public internet. */
export const nowhere = "http://127.0.0.1:9/wms";

export function wmsFile(layer: string, url = "https://maps.example/wms", more: object = {}): string {
	const entry = { service_url: url, layer, ...more };
	return `${JSON.stringify({ version: "1.0.0", payload_type: "wms", en: entry, fr: entry }, null, 2)}\n`;
}

export function featureFile(url = "https://maps.example/MapServer/1", more: object = {}): string {
	const entry = { service_url: url, ...more };
	return `${JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry }, null, 2)}\n`;
}

export const ownersFile = JSON.stringify({
	operators: ["@maps/operators"],
	layers: { "*": ["@maps/reviewers"], "ene*": ["@maps/energy"] },
});
