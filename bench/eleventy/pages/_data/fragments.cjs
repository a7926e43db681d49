// Every fragment to render: a language and a registration. LAYERS is the folder of layers.
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

module.exports = () => {
	const { parseRegistration } = require(process.env.RENDERER);
	const folders = readdirSync(process.env.LAYERS).map((name) => join(process.env.LAYERS, name));
	const files = folders.flatMap((folder) => readdirSync(folder).map((name) => [folder, name]));
	const layers = files.map(([folder, name]) => ({
		smallkey: name.slice(0, -".json".length),
		registration: parseRegistration(readFileSync(join(folder, name)), "stored").registration,
	}));
	return ["en", "fr"].flatMap((lang) => layers.map((layer) => ({ lang, ...layer })));
};
