import type { Extension } from "../../api/service/extensions.ts";
import { readProve } from "./browser.ts";

export const prove: Extension = {
	name: "prove",
	commands: [
		{
			name: "prove",
			purpose: "operate",
			summary: "draw layers in a browser, and keep for each whether it can be seen, with a picture",
			load: async () => (await import("./commands/prove.ts")).run,
		},
	],
	settings: readProve,
};
