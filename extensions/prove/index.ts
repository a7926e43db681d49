import type { Extension } from "../../api/service/extensions.ts";
import { readProve } from "./browser.ts";

export const prove: Extension = {
	name: "prove",
	commands: [
		[
			"prove",
			"operate",
			"draw layers in a browser, and keep for each whether it can be seen, with a picture",
			async () => (await import("./commands/prove.ts")).run,
		],
	],
	settings: readProve,
};
