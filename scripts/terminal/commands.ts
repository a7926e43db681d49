import type { Command, Purpose } from "../../api/service/extensions.ts";

/** The headings of `npx fragment-publisher --help`, in order. */
export const purposes: readonly Purpose[] = ["publish", "review", "host", "operate", "move", "develop"];

const put = () => import("../put.ts");

/** The commands of the core. Each module is loaded when its command is called. */
export const coreCommands: readonly Command[] = [
	{
		name: "put",
		purpose: "publish",
		summary: "register a layer, or change it, by a signed PUT",
		load: async () => (await put()).runs.put,
	},
	{
		name: "register",
		purpose: "publish",
		summary: "send a folder of registrations to a service, or store it in one commit",
		load: async () => (await import("../register.ts")).run,
	},
	{
		name: "remove",
		purpose: "publish",
		summary: "remove layers, each by a signed DELETE",
		load: async () => (await put()).runs.remove,
	},
	{
		name: "sign",
		purpose: "publish",
		summary: "print the three headers that sign a request, for curl",
		load: async () => (await put()).runs.sign,
	},
	{
		name: "validate",
		purpose: "publish",
		summary: "check registrations without writing anything",
		load: async () => (await import("../validate.ts")).run,
	},
	{
		name: "build",
		purpose: "host",
		summary: "render every fragment as a static file",
		load: async () => (await import("../build.ts")).run,
	},
	{
		name: "serve",
		purpose: "operate",
		summary: "serve on this machine",
		load: async () => (await import("../serve.ts")).run,
	},
	{
		name: "sender",
		purpose: "operate",
		summary: "add, change and remove senders, who may publish",
		load: async () => (await import("../sender.ts")).run,
	},
	{
		name: "schemas",
		purpose: "develop",
		summary: "write the JSON Schemas and the OpenAPI document",
		load: async () => (await import("../schemas.ts")).run,
	},
];

/** All commands of the core and of extensions. */
export function commandsOf(extensions: readonly { commands?: readonly Command[] }[]): readonly Command[] {
	return [...coreCommands, ...extensions.flatMap(({ commands = [] }) => commands)];
}
