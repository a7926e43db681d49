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

/** A patch, as `git diff` prints it, that adds a file of one line. */
export const patchOf = (path: string, line: string) =>
	`diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
