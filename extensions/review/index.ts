import type { Command, Extension } from "../../api/service/extensions.ts";

const commands: readonly Command[] = [
	{
		name: "review",
		purpose: "review",
		summary:
			"show what a change does for viewers and what is wrong with it; list, accept and decline the changes that wait on this machine",
		load: async () => (await import("./commands/review.ts")).run,
	},
	{
		name: "approvals",
		purpose: "review",
		summary: "set the checks of pull requests, post what review found, and say who can still approve",
		load: async () => (await import("./commands/approvals.ts")).run,
	},
	{
		name: "setup-github",
		purpose: "host",
		summary:
			"print each setting of a repository on GitHub that differs from what production needs, with the line that sets it",
		load: async () => (await import("./commands/setup-github.ts")).run,
	},
	{
		name: "status",
		purpose: "operate",
		summary:
			"show the status of the whole catalogue: sick layers, missing harvests, waiting reviews, disk space",
		load: async () => (await import("./status.ts")).run,
	},
	{
		name: "audit",
		purpose: "operate",
		summary: "show who changed a layer, when and how",
		load: async () => (await import("./commands/audit.ts")).run,
	},
];

export const review: Extension = {
	name: "review",
	commands,
	start: async (service) => (await import("./status.ts")).startReviews(service),
};
